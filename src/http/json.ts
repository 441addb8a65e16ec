/** Parses JSON from the wire: strict UTF-8, bounded depth, text that PostgreSQL can store. */
import { AppError, type Text } from '../errors.ts';
import { maxFields, joinPath } from '../contract/validation-errors.ts';
import { repeatsMembers } from '../domain/json-members.ts';
import { outermostValue, type Outermost } from './json-syntax.ts';

/** Deeper nesting could overflow the stack of a recursive walk (RFC 8259, section 9). */
const maxDepth = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses JSON.
 * @throws AppError MALFORMED_JSON when the bytes are not JSON in UTF-8, or an object has two
 *   members with the same name (RFC 8259, section 4): which of two amounts counts would depend on
 *   the parser.
 */
export function parseJson(bytes: Buffer): unknown {
  const { value, repeats } = readJson(bytes);
  if (repeats) throw new AppError('MALFORMED_JSON', { text: duplicateNames });
  return value;
}

/** A JSON text, in which an object may have two members with the same name. */
interface ReadJson {
  readonly text: string;
  /** With the last of such members. */
  readonly value: unknown;
  /** Whether there are any. */
  readonly repeats: boolean;
}

/**
 * Parses JSON, in which an object may have two members with the same name.
 * @throws AppError MALFORMED_JSON when the bytes are not JSON in UTF-8.
 */
export function readJson(bytes: Buffer): ReadJson {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch (cause) {
    // The parser's message quotes the body, which may contain a password, so only its name is kept.
    throw new AppError('MALFORMED_JSON', { cause: cause instanceof Error ? cause.name : cause });
  }
  return { text, value, repeats: repeatsMembers(text, value) };
}

const duplicateNames: Text = {
  en: 'An object in the body has two fields with the same name.',
  pt: 'Um objeto do corpo da requisição tem dois campos com o mesmo nome.',
};

/** Whether bytes are JSON in UTF-8. */
export function isJson(bytes: Buffer): boolean {
  try {
    return outermostValue(utf8.decode(bytes)) !== null;
  } catch {
    return false;
  }
}

const outlines: Readonly<Record<Outermost, unknown>> = { object: {}, array: [], scalar: null };

/**
 * Checks JSON without building its value, which takes ten times as long when thousands of objects
 * all have different keys.
 *
 * @returns an empty value of the outermost kind: an object, an array, or null for anything else.
 * @throws AppError MALFORMED_JSON when the bytes are not JSON in UTF-8.
 */
export function parseOutline(bytes: Buffer): unknown {
  let kind: Outermost | null = null;
  try {
    kind = outermostValue(utf8.decode(bytes));
  } catch {
    // The bytes are not UTF-8.
  }
  if (kind === null) throw new AppError('MALFORMED_JSON');
  return outlines[kind];
}

/**
 * Finds text that PostgreSQL cannot store: NUL and lone surrogates. Also deletes keys named
 * `__proto__`, which would change the prototype of a copied object.
 *
 * @returns the paths of such texts, at most {@link maxFields}; a key is reported as the path of
 *   its object.
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
    if (!isStorable(value)) found.push(joinPath(path));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (path.length >= maxDepth) throw new AppError('MALFORMED_JSON');
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && found.length < maxFields; index += 1) {
      visitBelow(value[index], index, { path, found });
    }
    return;
  }
  for (const key of Object.keys(value)) {
    if (found.length >= maxFields) return;
    if (key === '__proto__') {
      Reflect.deleteProperty(value, key);
      continue;
    }
    if (!isStorable(key)) found.push(joinPath(path));
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
