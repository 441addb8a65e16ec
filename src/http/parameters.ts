/** Path, query and header parameters: converts texts to typed values. */
import { unstorable } from '../domain/validation-errors.ts';
import { AppError } from '../errors.ts';
import type { ParameterSet, ParameterType } from '../contract/contract.ts';
import { repeatedParameter } from '../contract/validation-messages.ts';
import type { ValidationErrors } from '../contract/validation-errors.ts';
import { isStorable } from './json.ts';

/** Returns the texts of a parameter by its declared name. */
export type ParameterSource = (name: string) => string | readonly string[] | undefined;

/**
 * Splits a query string; `+` is a space, as in HTML forms.
 *
 * @param isRead whether the operation reads a parameter, or refuses it by its name; others are
 *   ignored.
 * @throws AppError BAD_REQUEST when the percent-encoding of one that is read is malformed.
 */
export function parseQuery(
  query: string,
  isRead: (name: string) => boolean,
): ReadonlyMap<string, readonly string[]> {
  if (query === '') return noValues;
  const values = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decoded(pair.slice(equals + 1));
    if (!isRead(name ?? '')) continue;
    if (name === null || value === null) throw new AppError('BAD_REQUEST');
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return values;
}

const noValues: ReadonlyMap<string, readonly string[]> = new Map();

/** @returns null when the percent-encoding is malformed. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/**
 * Reads, converts and validates the declared parameters; others are ignored.
 * @returns the values by their declared names; they are valid only when no error was added.
 */
export function readParameters(
  { parameters, validate }: ParameterSet,
  source: ParameterSource,
  errors: ValidationErrors,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const { name, type } of parameters) {
    const found = source(name);
    const text = typeof found === 'string' ? found : found?.[0];
    if (text === undefined) continue;
    const texts = typeof found === 'string' ? [found] : (found ?? []);
    if (texts.length > 1) errors.add(name, repeatedParameter);
    else if (!texts.every(isStorable)) errors.add(name, unstorable);
    values[name] = converted(text, type);
  }
  if (!validate(values)) errors.addSchemaErrors(validate.errors);
  return values;
}

/** A text that does not have the format of its type stays a text, which validation refuses. */
function converted(text: string, type: ParameterType): unknown {
  switch (type) {
    case 'string':
      return text;
    case 'integer':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    case 'number':
      return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text);
  }
}
