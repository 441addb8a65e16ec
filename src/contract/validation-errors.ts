/** Collects the validation errors of a request by field. */
import { AppError, type FieldErrors, type Text } from '../errors.ts';
import { validationMessage } from './validation-messages.ts';
import type { ErrorObject } from './schemas.ts';

/** Keywords that only report that another keyword below them failed. */
const summaries = new Set(['oneOf', 'anyOf', 'allOf', 'not', 'if', 'propertyNames', 'contains']);

/** Keywords whose messages explain more than those of other keywords of the same field. */
const specific = new Set(['x-format', 'x-same-as', 'x-max-decimals', 'enum']);

/** Keywords whose errors name a property below the place where they were found. */
const namedProperty = new Map([
  ['required', 'missingProperty'],
  ['dependentRequired', 'missingProperty'],
  ['x-refused-schedule', 'refusedProperty'],
  ['additionalProperties', 'additionalProperty'],
  ['unevaluatedProperties', 'unevaluatedProperty'],
]);

/** The largest number of fields in a reply. A charge has up to 115, all of which may be faulty. */
export const maxFields = 200;

/** The largest number of a validator's errors that is read. */
const maxErrors = 1_000;

/** Paths of the contract's fields are far shorter; longer ones contain keys of the caller. */
const maxPathLength = 200;

/** The field name of an error of the whole body, such as a missing one. */
export const wholeBody = 'body';

/** Collects errors by field and throws them as one 422. */
export class ValidationErrors {
  /** Null without errors, as for most requests. */
  #byField: Map<string, Text[]> | null = null;

  get isEmpty(): boolean {
    return this.#byField === null;
  }

  /** Whether further fields may have errors, which are not collected. */
  get isFull(): boolean {
    return this.#byField?.size === maxFields;
  }

  /** The errors by the path of their field. */
  get fields(): FieldErrors {
    return Object.fromEntries(this.#byField ?? []);
  }

  /** Adds an error, unless the field already has it. */
  add(field: string, text: Text): void {
    this.#byField ??= new Map();
    const texts = this.#byField.get(field);
    if (texts === undefined) {
      if (this.#byField.size < maxFields) this.#byField.set(field, [text]);
    } else if (!texts.some((known) => known.en === text.en)) {
      texts.push(text);
    }
  }

  /** Adds the errors of a validator, except those of fields that have one, which explains more. */
  addSchemaErrors(errors: readonly ErrorObject[] | null | undefined): void {
    const known = new Set(this.#byField?.keys());
    const some = (errors ?? []).slice(0, maxErrors);
    for (const error of withoutNoise(some)) {
      const field = fieldPath(error);
      if (!known.has(field)) this.add(field, validationMessage(error));
    }
  }

  /** Adds the errors of fields that a check throws, except of fields that have one. */
  addThrown(check: () => void): void {
    const known = this.fields;
    try {
      check();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { fields = {} } = error;
      const more = Object.entries(fields).filter(([field]) => !Object.hasOwn(known, field));
      for (const [field, texts] of more) for (const text of texts) this.add(field, text);
    }
  }

  /** @throws AppError VALIDATION_FAILED when there are errors. */
  throwIfAny(): void {
    if (!this.isEmpty) throw new AppError('VALIDATION_FAILED', { fields: this.fields });
  }
}

/**
 * Returns the path of an error's field, with dots: `additional_data.0.name`. A missing property has
 * its own path.
 */
export function fieldPath(error: ErrorObject): string {
  const keys = error.instancePath.split('/').slice(1).map(unescaped);
  const property: unknown = error.params[namedProperty.get(error.keyword) ?? ''];
  if (typeof property === 'string') keys.push(property);
  return joinPath(keys);
}

/** Joins keys by dots. A path over 200 characters is truncated. */
export function joinPath(keys: readonly (string | number)[]): string {
  if (keys.length === 0) return wholeBody;
  let path = '';
  for (const [index, key] of keys.entries()) {
    const text = String(key);
    path += (index === 0 ? '' : '.') + text.slice(0, maxPathLength);
    if (path.length > maxPathLength || text.length > maxPathLength) {
      return `${path.slice(0, maxPathLength).toWellFormed()}…`;
    }
  }
  return path;
}

/**
 * Removes errors that repeat another one:
 *
 * - no alternative matched;
 * - the value is not null, where null is one of the alternatives;
 * - any other error of a value whose format or choices have a message of their own.
 */
function withoutNoise(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const formed = new Set(
    errors.filter(({ keyword }) => specific.has(keyword)).map(({ instancePath }) => instancePath),
  );
  const isNoise = ({ keyword, params, instancePath }: ErrorObject): boolean =>
    summaries.has(keyword) ||
    params['type'] === 'null' ||
    (formed.has(instancePath) && !specific.has(keyword));
  const reported = new Set(errors.filter((error) => !isNoise(error)).flatMap(placesAround));
  return errors.filter((error) => !isNoise(error) || !reported.has(error.instancePath));
}

/** The place of an error, and every place that contains it. */
function placesAround({ instancePath }: ErrorObject): string[] {
  const places = [''];
  for (let at = instancePath.indexOf('/', 1); at > 0; at = instancePath.indexOf('/', at + 1)) {
    places.push(instancePath.slice(0, at));
  }
  places.push(instancePath);
  return places;
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
