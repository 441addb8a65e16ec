/** JSON as it comes over the wire: strict UTF-8, of bounded depth, with text that can be stored. */
import { AppError, type Text } from '../errors.ts';
import { MAX_FIELDS, pathOf } from '../contract/faults.ts';
import { outermostValue, type Outermost } from './json-syntax.ts';

/** Deeper nesting serves no one and exhausts the stack of who walks it (RFC 8259, section 9). */
const MAX_DEPTH = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * @returns the value that the bytes are the JSON of.
 * @throws AppError MALFORMED_JSON when they are not JSON in UTF-8, or an object has two members of
 *   one name (RFC 8259, section 4): which of two amounts counts must not depend on the reader.
 */
export function parseJson(bytes: Buffer): unknown {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch (cause) {
    // The parser's message quotes the body, which may hold a password: it is not kept.
    throw new AppError('MALFORMED_JSON', { cause: cause instanceof Error ? cause.name : cause });
  }
  if (membersOfText(text) !== membersOf(value)) {
    throw new AppError('MALFORMED_JSON', { text: twoMembers });
  }
  return value;
}

const twoMembers: Text = {
  en: 'An object in the body has two fields of one name.',
  pt: 'Um objeto do corpo da requisição tem dois campos com o mesmo nome.',
};

/** Every string of a text that is JSON; a name is followed by a colon. */
const strings = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/** How many members the objects of a text have that is JSON. */
function membersOfText(text: string): number {
  let members = 0;
  for (const [, colon] of text.matchAll(strings)) if (colon !== undefined) members += 1;
  return members;
}

/** How many members the objects of a value have. */
function membersOf(value: unknown): number {
  let members = 0;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const inner = Object.values(next);
    if (!Array.isArray(next)) members += inner.length;
    for (const one of inner) open.push(one);
  }
  return members;
}

const OUTLINES: Readonly<Record<Outermost, unknown>> = { object: {}, array: [], scalar: null };

/**
 * Checks JSON without building its value, which takes ten times as long where each of thousands of
 * objects has another key.
 *
 * @returns an empty value of the outermost kind: an object, an array, or null for anything else.
 * @throws AppError MALFORMED_JSON when the bytes are not JSON in UTF-8.
 */
export function outlineOf(bytes: Buffer): unknown {
  let kind: Outermost | null = null;
  try {
    kind = outermostValue(utf8.decode(bytes));
  } catch {
    // Bytes that are not UTF-8.
  }
  if (kind === null) throw new AppError('MALFORMED_JSON');
  return OUTLINES[kind];
}

/**
 * Looks for text that PostgreSQL cannot store: NUL, and surrogates without their other half. Drops
 * keys named `__proto__` on the way, which would change the prototype of whatever copies them.
 *
 * @returns the paths of the first faulty texts, as many as an answer names; a faulty key is named
 *   by the object that has it.
 * @throws AppError MALFORMED_JSON when the nesting is too deep.
 */
export function findUnstorableText(value: unknown): string[] {
  const found: string[] = [];
  visit(value, [], found);
  return found;
}

/** Whether PostgreSQL can store a text. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

type Keys = (string | number)[];

function visit(value: unknown, path: Keys, found: string[]): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) found.push(pathOf(path));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (path.length >= MAX_DEPTH) throw new AppError('MALFORMED_JSON');
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && found.length < MAX_FIELDS; index += 1) {
      visitBelow(value[index], index, { path, found });
    }
    return;
  }
  for (const key of Object.keys(value)) {
    if (found.length >= MAX_FIELDS) return;
    if (key === '__proto__') {
      Reflect.deleteProperty(value, key);
      continue;
    }
    if (!isStorable(key)) found.push(pathOf(path));
    visitBelow((value as Record<string, unknown>)[key], key, { path, found });
  }
}

function visitBelow(
  value: unknown,
  key: string | number,
  { path, found }: { readonly path: Keys; readonly found: string[] },
): void {
  path.push(key);
  visit(value, path, found);
  path.pop();
}
