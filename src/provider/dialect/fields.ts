/** Reads the fields of a provider's message by path, in any spelling of their names. */
import type { ForeignReason } from '../webhook-events.ts';
import { isObject, memoised, plainName } from '../wire-reading.ts';

/**
 * The steps of a path. `^` is the object around the list that contains the message, and `@` a
 * message that is a list itself.
 */
export type Path = readonly string[];

/** A message, and the message around its list. */
export interface Node {
  readonly value: unknown;
  readonly around: Node | null;
  /** Whether an object around its list has one member twice with different values. */
  readonly isTwofold?: boolean;
  /** Why an object around its list is not about a payment that is made now. */
  readonly foreign?: ForeignReason | null;
  /** When it was received; absent: no time in it is ahead. */
  readonly at?: Date | null;
}

/** A field that has two spellings with different values in one object. */
export class Conflict {
  readonly first: unknown;

  constructor(first: unknown) {
    this.first = first;
  }
}

/** The value of a path that runs into a text, a number or a list where it needs an object. */
export const blocked = Symbol('blocked');

/** Parses `a.b`, `^.a` or `@`; the names in it become plain names. */
export function parsePath(text: string): Path {
  return text.split('.').map((step) => (step === '^' || step === '@' ? step : plainName(step)));
}

/** Formats a path for comparisons and messages. */
export function formatPath(path: Path): string {
  return path.join('.');
}

/**
 * Returns the value at a path.
 * @returns undefined for an absent field or null; {@link Conflict} for a contradictory field;
 *   {@link blocked} for a field inside something else than an object.
 */
export function valueAt(node: Node, path: Path): unknown {
  let at: Node | null = node;
  let value: unknown = node.value;
  for (const step of path) {
    if (step === '^') value = (at = at?.around ?? null)?.value;
    else if (step === '@') value = Array.isArray(value) ? value : undefined;
    else if (isObject(value)) value = foldedFields(value).get(step);
    else return (value ?? '') === '' ? undefined : blocked;
    if (value === undefined || value === null || value instanceof Conflict) {
      return value ?? undefined;
    }
  }
  return value;
}

/** Whether a value is an object with at least one field. */
export function hasFields(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0;
}

/** An object around a list is read for each item of the list. */
const folded = new WeakMap<object, ReadonlyMap<string, unknown>>();

/** The fields of an object that are not null, by their folded names. */
export function foldedFields(object: object): ReadonlyMap<string, unknown> {
  const before = folded.get(object);
  if (before !== undefined) return before;
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(object)) {
    if (value === null || value === undefined) continue;
    const plain = plainName(name);
    const other = fields.get(plain);
    const isSame = other === undefined || other === value;
    fields.set(
      plain,
      isSame ? value : new Conflict(other instanceof Conflict ? other.first : other),
    );
  }
  folded.set(object, fields);
  return fields;
}

/** The longest text that is read as a word. */
const maxWordLength = 128;

/**
 * Reads a word of the provider: a text or a number, trimmed and in upper case. Only ASCII letters
 * and those of Latin-1 with accents (`homologação`) are folded, because `ı` would otherwise become
 * `I`.
 * @returns null for a value that is no word.
 */
export function readWord(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return foldWord(String(value));
  return typeof value === 'string' && value.length <= maxWordLength ? foldWord(value) : null;
}

const foldWord = memoised((text) =>
  text.trim().replace(/[a-zà-öø-þ]+/g, (letters) => letters.toUpperCase()),
);
