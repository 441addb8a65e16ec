/**
 * Tolerant reading of the objects that the provider writes, in answers and in webhooks: names in
 * any case and spelling, values in any of the types that providers use, and nothing that can throw
 * on JSON.
 */
import { centsFromDecimal, centsFromNumber, MAX_AMOUNT_CENTS } from '../domain/money.ts';

/** The longest id that is stored; a longer one is none of ours. */
const MAX_ID_LENGTH = 255;

/** The plain names that a payment's end-to-end id stands under, in answers and in events. */
export const endToEndNames = ['endtoend', 'endtoendid'];

/** The plain names that the client's request id of a send stands under. */
export const clientRequestIdNames = ['clientrequestid', 'clientcode', 'correlationid'];

/** The plain names that the status of a listed entry stands under: a statement's line, a key. */
export const entryStatusNames = ['status', 'state', 'situacao'];

/** The longest name of an event that is shown. */
const MAX_NAME_LENGTH = 64;

/** An object's fields by plain name: lower case, without `_`, `-` and spaces. */
export interface Fields extends ReadonlyMap<string, unknown> {
  /** What stands under further spellings of a name; absent where each name is spelled once. */
  readonly further?: ReadonlyMap<string, readonly unknown[]>;
}

const noFields: Fields = new Map();

/** How many texts are remembered, and how long they may be: more than any provider's vocabulary. */
const MOST_REMEMBERED = 512;
const MAX_REMEMBERED_LENGTH = 64;

/**
 * Makes a function remember what it makes of the first texts: providers say the same few names and
 * words over and over.
 * @param read a function of nothing but the text.
 */
export function remembering<T extends string | object>(
  read: (text: string) => T,
): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const found = read(text);
    if (known.size < MOST_REMEMBERED && text.length <= MAX_REMEMBERED_LENGTH) {
      known.set(text, found);
    }
    return found;
  };
}

/** How many further spellings of a name are kept: no provider has more. */
const MOST_FURTHER_SPELLINGS = 3;

/** Stands for the spellings that are not kept. It can be read as nothing, so it contradicts. */
const MORE_SPELLINGS: unknown = Object.freeze({});

/** Makes `endToEndId`, `EndToEndId` and `end_to_end_id` one name. */
const plainName = remembering((name) => name.toLowerCase().replace(/[_\-\s]/g, ''));

/** Tells an object (not an array) from everything else. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The fields of an object; of anything else, none. A map gives the first spelling of a name, and
 * `findValues` all of them: they may contradict each other.
 */
export function readFields(value: unknown): Fields {
  if (!isObject(value)) return noFields;
  const fields: Map<string, unknown> & { further?: Map<string, unknown[]> } = new Map();
  for (const [name, content] of Object.entries(value)) {
    const plain = plainName(name);
    if (!fields.has(plain)) {
      fields.set(plain, content);
      continue;
    }
    fields.further ??= new Map();
    const others = fields.further.get(plain);
    if (others) addSpelling(others, content);
    else fields.further.set(plain, [content]);
  }
  return fields;
}

function addSpelling(others: unknown[], content: unknown): void {
  if (others.length < MOST_FURTHER_SPELLINGS) others.push(content);
  else others[MOST_FURTHER_SPELLINGS] = MORE_SPELLINGS;
}

/** The fields of the object under a name; none when there is no object. */
export function readInner(fields: Fields, name: string): Fields {
  return readFields(fields.get(name));
}

/** The fields of each object that stands under one of the names. */
export function findObjects(fields: Fields, ...names: readonly string[]): Fields[] {
  return findValues(names, [fields]).filter(isObject).map(readFields);
}

/**
 * Every value that stands under one of the names, in the order of the names and then of the
 * objects. Null and undefined count as absent.
 */
export function findValues(names: readonly string[], objects: readonly Fields[]): unknown[] {
  const found: unknown[] = [];
  for (const name of names) {
    for (const fields of objects) {
      const value = fields.get(name);
      if (value !== undefined && value !== null) found.push(value);
      if (fields.further !== undefined) found.push(...furtherValues(fields, name));
    }
  }
  return found;
}

function furtherValues({ further }: Fields, name: string): readonly unknown[] {
  const others = further?.get(name) ?? [];
  return others.filter((value) => value !== undefined && value !== null);
}

/**
 * Whether one of the objects spells one of the names more than once and does not say the same each
 * time.
 * @param read what is made of a value; compared as JSON.
 */
export function isSpelledApart(
  names: readonly string[],
  objects: readonly Fields[],
  read: (value: unknown) => unknown,
): boolean {
  return objects.some(
    (fields) => fields.further !== undefined && names.some((name) => saysTwo(fields, name, read)),
  );
}

function saysTwo(fields: Fields, name: string, read: (value: unknown) => unknown): boolean {
  const values = findValues([name], [fields]).map((value) => JSON.stringify(read(value)));
  return new Set(values).size > 1;
}

/** Reads an id: trimmed printable ASCII of 1 to 255 characters, or a whole number; else null. */
export function readId(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  if (typeof value !== 'string') return null;
  const id = value.trim();
  return id.length <= MAX_ID_LENGTH && /^[\x20-\x7e]+$/.test(id) ? id : null;
}

/** The first of the values that can be read as an id. */
export function firstId(values: readonly unknown[]): string | null {
  return firstRead(values, readId);
}

/** What is read from the first of the values that can be read. */
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

/** Reads a failure code such as `BE17`. A sentence is none: it may speak of a person. */
export function readReason(value: unknown): string | null {
  const reason = typeof value === 'number' ? String(value) : value;
  return typeof reason === 'string' && /^[\w.:-]{1,64}$/.test(reason) ? reason : null;
}

/** Reads reais, as a number or as a decimal text, exactly; null when it is no positive amount. */
export function readReais(value: unknown): number | null {
  if (typeof value === 'number') return withinLimits(centsFromNumber(value));
  return typeof value === 'string' ? withinLimits(centsFromDecimal(value.trim())) : null;
}

/** Reads centavos, as a whole number or its digits; null when it is no positive amount. */
export function readCentavos(value: unknown): number | null {
  if (typeof value === 'number') return withinLimits(value);
  const isDigits = typeof value === 'string' && /^\d{1,15}$/.test(value);
  return isDigits ? withinLimits(Number(value)) : null;
}

function withinLimits(cents: number | null): number | null {
  const isAmount = cents !== null && Number.isSafeInteger(cents) && cents > 0;
  return isAmount && cents <= MAX_AMOUNT_CENTS ? cents : null;
}

/** A name to show: printable ASCII, cut; null when nothing is left of it. */
export function readName(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const name = value
    .slice(0, 4 * MAX_NAME_LENGTH)
    .replace(/[^\x20-\x7e]/g, '')
    .trim();
  return name === '' ? null : name.slice(0, MAX_NAME_LENGTH);
}
