/** JSON as it comes over the wire: strict UTF-8, of bounded depth, with text that can be stored. */
import { AppError } from '../errors.ts';
import { WHOLE_BODY } from './faults.ts';

/** Deeper nesting serves no one and exhausts the stack of who walks it (RFC 8259, section 9). */
const MAX_DEPTH = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * @returns the value that the bytes are the JSON of.
 * @throws AppError MALFORMED_JSON when they are not JSON in UTF-8.
 */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes)) as unknown;
  } catch (cause) {
    // The parser's message quotes the body, which may hold a password: it is not kept.
    throw new AppError('MALFORMED_JSON', { cause: cause instanceof Error ? cause.name : cause });
  }
}

/**
 * Looks for text that PostgreSQL cannot store: NUL, and surrogates without their other half. Drops
 * keys named `__proto__` on the way, which would change the prototype of whatever copies them.
 *
 * @returns the paths of the faulty texts; a faulty key is named by the object that has it.
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

function visit(value: unknown, path: string[], found: string[]): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) found.push(nameOf(path));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (path.length >= MAX_DEPTH) throw new AppError('MALFORMED_JSON');
  for (const key of Object.keys(value)) {
    if (key === '__proto__') {
      Reflect.deleteProperty(value, key);
      continue;
    }
    if (!isStorable(key)) found.push(nameOf(path));
    path.push(key);
    visit((value as Record<string, unknown>)[key], path, found);
    path.pop();
  }
}

function nameOf(path: readonly string[]): string {
  return path.length === 0 ? WHOLE_BODY : path.join('.');
}
