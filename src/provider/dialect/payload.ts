/** Parses the payload of a webhook, and remembers which of its objects contradict themselves. */
import {
  findContradictions,
  parseExactly,
  repeatsMembers,
  type JsonPath,
} from '../../domain/json-members.ts';

/** Marks an object that has two members with one name and different values. */
const contradictory = Symbol('contradictory');

interface Marked {
  readonly [contradictory]?: true;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a payload; a byte order mark is not part of the JSON. A number that is too long for a
 * double, as an id of 64 bits, is a text.
 * @returns null when the bytes are not JSON in UTF-8.
 */
export function parsePayload(payload: Buffer): { readonly content: unknown } | null {
  let text: string;
  let content: unknown;
  try {
    text = utf8.decode(payload);
    content = parseExactly(text);
  } catch {
    return null;
  }
  if (repeatsMembers(text, content)) {
    for (const path of findContradictions(text)) mark(content, path);
  }
  return { content };
}

function mark(content: unknown, path: JsonPath): void {
  let place = content;
  for (const key of path) {
    // A later member of the same name has replaced the object, and the object around it is marked.
    if (typeof place !== 'object' || place === null) return;
    place = (place as Readonly<Record<string | number, unknown>>)[key];
  }
  if (typeof place !== 'object' || place === null) return;
  Object.defineProperty(place, contradictory, { value: true, configurable: true });
}

/**
 * Whether a value, or a value inside it, contradicts itself.
 * @param except values that are not searched.
 */
export function isContradictory(value: unknown, except: readonly unknown[] = []): boolean {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || except.includes(next)) continue;
    if ((next as Marked)[contradictory]) return true;
    for (const inner of Object.values(next)) open.push(inner);
  }
  return false;
}
