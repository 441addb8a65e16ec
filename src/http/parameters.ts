/** Path, query and header parameters: text on the wire, typed values behind it. */
import { UNSTORABLE } from '../domain/faults.ts';
import { AppError } from '../errors.ts';
import type { ParameterSet, ParameterType } from '../contract/contract.ts';
import { GIVEN_TWICE } from '../contract/fault-texts.ts';
import type { Faults } from '../contract/faults.ts';
import { isStorable } from './json.ts';

export type GivenParameters = (name: string) => string | readonly string[] | undefined;

/**
 * Splits a query string; `+` is a space, as forms write it.
 * @throws AppError BAD_REQUEST when its percent-encoding is malformed.
 */
export function parseQuery(query: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  if (query === '') return values;
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decoded(pair.slice(equals + 1));
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return values;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new AppError('BAD_REQUEST');
  }
}

/**
 * Picks the declared parameters, converts them and validates them; others are ignored.
 * @param given the texts of a parameter, by its declared name.
 * @returns the values by their declared names; they hold only when no fault was added.
 */
export function readParameters(
  { parameters, validate }: ParameterSet,
  given: GivenParameters,
  faults: Faults,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const { name, type } of parameters) {
    const texts = [given(name) ?? []].flat();
    const [text] = texts;
    if (text === undefined) continue;
    if (texts.length > 1) faults.add(name, GIVEN_TWICE);
    if (!texts.every(isStorable)) faults.add(name, UNSTORABLE);
    values[name] = converted(text, type);
  }
  if (!validate(values)) faults.addErrors(validate.errors);
  return values;
}

/** What has not exactly the form of its type stays a text, which validation then refuses. */
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
