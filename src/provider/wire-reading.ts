/**
 * Reads the provider's objects in responses and webhooks tolerantly: names in any case and
 * spelling, and values of any type that providers use. It never throws.
 */
import { centsFromDecimal, centsFromNumber, maxAmountCents } from '../domain/money.ts';
import { stripAccents } from '../domain/text.ts';

/** The longest id that is stored. */
const maxIdLength = 255;

/** The plain names of a payment's end-to-end id. */
export const endToEndNames = ['endtoend', 'endtoendid'];

/** The plain names of the return id of a refund. */
export const returnIdNames = ['returnid', 'rtrid', 'returnidentification'];

/** The plain names of the client's request id of a send. */
export const clientRequestIdNames = ['clientrequestid', 'clientcode', 'correlationid'];

/** The longest displayed name of an event. */
const maxNameLength = 64;

/**
 * The values of an object's fields by plain name: lower case, without accents, `_`, `-` and spaces.
 * A name has a value for each of its spellings, which may contradict each other.
 */
export type Fields = ReadonlyMap<string, readonly unknown[]>;

const noFields: Fields = new Map();
const noValues: readonly unknown[] = [];

/** The bounds of the cache: more than any provider's vocabulary. */
const maxCached = 512;
const maxCachedLength = 64;

/**
 * Caches the results of a function for the first texts, because providers repeat a few names and
 * words.
 * @param read a pure function.
 */
export function memoised<T extends string | object>(
  read: (text: string) => T,
): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const found = read(text);
    if (known.size < maxCached && text.length <= maxCachedLength) {
      known.set(text, found);
    }
    return found;
  };
}

/**
 * The plain name of `endToEndId`, `EndToEndId` and `end_to_end_id` is the same, and so is that of
 * `situação` and `situacao`.
 */
export const plainName = memoised((name) => {
  const letters = name.length > maxCachedLength ? name : stripAccents(name);
  return letters.replace(/[A-Z]+/g, (upper) => upper.toLowerCase()).replace(/[_\-\s]/g, '');
});

/** Whether a value is an object, not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads the fields of an object; anything else has none. */
export function readFields(value: unknown): Fields {
  if (!isObject(value)) return noFields;
  const fields = new Map<string, unknown[]>();
  for (const name of Object.keys(value)) {
    const plain = plainName(name);
    const before = fields.get(plain);
    if (before) before.push(value[name]);
    else fields.set(plain, [value[name]]);
  }
  return fields;
}

/** Reads the objects under a name: there may be one for each spelling of it. */
export function readInner(fields: Fields, name: string): Fields[] {
  return (fields.get(name) ?? []).filter(isObject).map(readFields);
}

/**
 * Returns every value under one of the names, in the order of the names and then of the objects.
 * Null and undefined count as absent.
 */
export function findValues(names: readonly string[], objects: readonly Fields[]): unknown[] {
  const found: unknown[] = [];
  for (const name of names) {
    for (const fields of objects) addPresent(found, fields.get(name) ?? noValues);
  }
  return found;
}

function addPresent(found: unknown[], values: readonly unknown[]): void {
  for (const value of values) if (value !== undefined && value !== null) found.push(value);
}

/** As `findValues`; an empty text counts as absent, too. */
export function findFilled(names: readonly string[], objects: readonly Fields[]): unknown[] {
  return findValues(names, objects).filter((value) => value !== '');
}

/** @returns the objects of a value at any depth. */
export function objectsInside(value: unknown): Fields[] {
  const objects: Fields[] = [];
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    objects.push(readFields(next));
    for (const inner of Object.values(next)) open.push(inner);
  }
  return objects;
}

/** Reads an id: trimmed printable ASCII of 1 to 255 characters, or a whole number; else null. */
export function readId(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  if (typeof value !== 'string') return null;
  const id = value.trim();
  return id.length <= maxIdLength && /^[\x20-\x7e]+$/.test(id) ? id : null;
}

/** Reads the first value that is an id. */
export function firstId(values: readonly unknown[]): string | null {
  return firstRead(values, readId);
}

/** Reads the first value that is readable. */
export function firstRead<T>(
  values: readonly unknown[],
  read: (value: unknown) => T | null,
): T | null {
  for (const value of values) {
    const found = read(value);
    if (found !== null) return found;
  }
  return null;
}

/** Reads a CPF, a CNPJ or an account number: letters and digits, without punctuation. */
export function readCode(value: unknown): string | null {
  const code = readId(value)
    ?.replace(/[.\-/\s]/g, '')
    .toUpperCase();
  return code !== undefined && /^[0-9A-Z]{1,34}$/.test(code) ? code : null;
}

/** Reads a failure code such as `BE17`, but no sentence, which may contain personal data. */
export function readReason(value: unknown): string | null {
  const reason = typeof value === 'number' ? String(value) : value;
  return typeof reason === 'string' && /^[\w.:-]{1,64}$/.test(reason) ? reason : null;
}

/** Reads reais from a number or a decimal text, exactly; null unless it is a positive amount. */
export function readReais(value: unknown): number | null {
  if (typeof value === 'number') return withinLimits(centsFromNumber(value));
  return typeof value === 'string' ? withinLimits(centsFromDecimal(value.trim())) : null;
}

/** Reads centavos from an integer or its digits; null unless it is a positive amount. */
export function readCentavos(value: unknown): number | null {
  if (typeof value === 'number') return withinLimits(value);
  const isDigits = typeof value === 'string' && /^\d{1,15}$/.test(value);
  return isDigits ? withinLimits(Number(value)) : null;
}

function withinLimits(cents: number | null): number | null {
  const isAmount = cents !== null && Number.isSafeInteger(cents) && cents > 0;
  return isAmount && cents <= maxAmountCents ? cents : null;
}

/** Reads a name for display: printable ASCII, truncated; null when it is empty. */
export function readName(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const name = value
    .slice(0, 4 * maxNameLength)
    .replace(/[^\x20-\x7e]/g, '')
    .trim();
  return name === '' ? null : name.slice(0, maxNameLength);
}
