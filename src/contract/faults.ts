/** The faults of one request, field by field, gathered until all of them are known. */
import { AppError, type FieldFaults, type Text } from '../errors.ts';
import { faultText } from './fault-texts.ts';
import type { ErrorObject } from './schemas.ts';

/** Keywords that only say that some other keyword below them failed. */
const SUMMARIES = new Set(['oneOf', 'anyOf', 'allOf', 'not', 'if', 'propertyNames', 'contains']);

/** Keywords that know what a text is for, and so tell a person more than any other beside them. */
const TELLING = new Set(['x-form', 'x-same-as']);

/** Faults that name a property below the place where they were found. */
const NAMED_PROPERTY = new Map([
  ['required', 'missingProperty'],
  ['dependentRequired', 'missingProperty'],
  ['additionalProperties', 'additionalProperty'],
  ['unevaluatedProperties', 'unevaluatedProperty'],
]);

/** An answer names so many fields at most. */
export const MAX_FIELDS = 100;

/** Of a validator's errors so many are read. */
const MAX_ERRORS = 1_000;

/** Paths of the contract's own fields are far shorter; others hold keys of the caller's. */
const MAX_PATH_LENGTH = 200;

/** The name of a body's fault that lies in no field: it is no object, or it is missing. */
export const WHOLE_BODY = 'body';

/** Gathers faults by field and turns them into one 422. */
export class Faults {
  readonly #byField = new Map<string, Text[]>();

  get found(): boolean {
    return this.#byField.size > 0;
  }

  /** The faults by the path of their field. */
  get fields(): FieldFaults {
    return Object.fromEntries(this.#byField);
  }

  /** Adds a fault, unless the field has it already. */
  add(field: string, text: Text): void {
    const texts = this.#byField.get(field);
    if (texts === undefined) {
      if (this.#byField.size < MAX_FIELDS) this.#byField.set(field, [text]);
    } else if (!texts.some((known) => known.en === text.en)) {
      texts.push(text);
    }
  }

  /** Adds what a validator found. */
  addErrors(errors: readonly ErrorObject[] | null | undefined): void {
    const some = (errors ?? []).slice(0, MAX_ERRORS);
    for (const error of withoutNoise(some)) this.add(fieldOf(error), faultText(error));
  }

  /** @throws AppError VALIDATION_FAILED when there are faults. */
  refuse(): void {
    if (this.found) throw new AppError('VALIDATION_FAILED', { fields: this.fields });
  }
}

/**
 * The path of the field that an error is about, with dots: `additional_data.0.name`. A missing
 * property is named by its own path.
 */
export function fieldOf(error: ErrorObject): string {
  const keys = error.instancePath.split('/').slice(1).map(unescaped);
  const property: unknown = error.params[NAMED_PROPERTY.get(error.keyword) ?? ''];
  if (typeof property === 'string') keys.push(property);
  return pathOf(keys);
}

/** Joins keys by dots. A path over 200 characters is cut: a key may be as long as a body. */
export function pathOf(keys: readonly (string | number)[]): string {
  if (keys.length === 0) return WHOLE_BODY;
  let path = '';
  for (const [index, key] of keys.entries()) {
    const text = String(key);
    path += (index === 0 ? '' : '.') + text.slice(0, MAX_PATH_LENGTH);
    if (path.length > MAX_PATH_LENGTH || text.length > MAX_PATH_LENGTH) {
      return `${path.slice(0, MAX_PATH_LENGTH).toWellFormed()}…`;
    }
  }
  return path;
}

/**
 * Leaves out what repeats another error in other words:
 *
 * - that no alternative matched;
 * - that the value is not null, where null is one of the alternatives;
 * - what else is wrong with a text, where the fault of its own form is told.
 */
function withoutNoise(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const formed = new Set(
    errors.filter(({ keyword }) => TELLING.has(keyword)).map(({ instancePath }) => instancePath),
  );
  const isNoise = ({ keyword, params, instancePath }: ErrorObject): boolean =>
    SUMMARIES.has(keyword) ||
    params['type'] === 'null' ||
    (formed.has(instancePath) && !TELLING.has(keyword));
  const told = new Set(errors.filter((error) => !isNoise(error)).flatMap(placesAround));
  return errors.filter((error) => !isNoise(error) || !told.has(error.instancePath));
}

/** The place of an error, and every place that it lies in. */
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
