/**
 * The members of the objects of a JSON text that `JSON.parse` has accepted. Of two members with one
 * name, `JSON.parse` keeps the last one (RFC 8259, section 4, leaves open which of them counts).
 */

/** Matches the next string of a JSON text; a colon follows the name of a member. */
const strings = /"(?:[^"\\]|\\.)*"(?:\s*:)?/g;

/**
 * Whether an object of a text has two members with one name.
 * @param value the parsed text.
 */
export function repeatsMembers(text: string, value: unknown): boolean {
  return countMembersInText(text) !== countMembers(value);
}

/** Counts the members of all objects of a JSON text. */
function countMembersInText(text: string): number {
  let members = 0;
  strings.lastIndex = 0;
  while (strings.test(text)) if (text[strings.lastIndex - 1] === ':') members += 1;
  return members;
}

/** Counts the members of all objects of a value. */
function countMembers(value: unknown): number {
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

/** A whole number of so many digits, which a double may not hold exactly. */
const longNumber = /[[,:]\s*-?\d{16}/;

/** Whether a JSON text has whole numbers that a double may not hold exactly, such as 64-bit ids. */
export function hasLongNumbers(text: string): boolean {
  return longNumber.test(text);
}

/**
 * Parses JSON. A whole number that a double does not hold exactly becomes its text.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  return hasLongNumbers(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }) {
  const { source = '' } = context ?? {};
  const isLong =
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
  return isLong ? source : value;
}

/** Where a value is in a parsed text: the names and positions that lead to it. */
export type JsonPath = readonly (string | number)[];

/** Longer paths are cut: an item of a message is not as deep, and thousands of levels may be. */
const maxPathLength = 8;

/** An object or a list that the scan of a text has entered. */
interface Open {
  /** The text of each member's value by its name; empty for a list. */
  readonly members: Map<string, string>;
  /** The name or the position of the value that comes next. */
  place: string | number;
  /** Where that value begins in the text. */
  start: number;
  isContradictory: boolean;
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * Finds the objects that have two members with one name and different values. Values are compared
 * as they are written, so that a number too large for a double still differs from another one.
 * @returns the path of each; of one that is deeper, the path of the value around it.
 */
export function findContradictions(text: string): JsonPath[] {
  const found: JsonPath[] = [];
  const open: Open[] = [];
  let name = '';
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const inner = open.at(-1);
    if (token === '{' || token === '[') {
      const place = token === '{' ? '' : 0;
      open.push({ members: new Map(), place, start: index + 1, isContradictory: false });
    } else if (!inner) {
      continue;
    } else if (token === ':') {
      inner.place = JSON.parse(name) as string;
      inner.start = index + 1;
    } else if (token === ',' || token === '}' || token === ']') {
      endValue(inner, text.slice(inner.start, index).trim());
      inner.start = index + 1;
      if (token === ',') continue;
      if (inner.isContradictory) found.push(pathTo(open));
      open.pop();
    } else {
      name = token;
    }
  }
  return found;
}

function pathTo(open: readonly Open[]): JsonPath {
  return open.slice(0, Math.min(open.length - 1, maxPathLength)).map(({ place }) => place);
}

/** Compares a member with an earlier one of its name, or counts an element of a list. */
function endValue(inner: Open, value: string): void {
  const { members, place } = inner;
  if (typeof place === 'number') inner.place = place + 1;
  // Without a value, it is the end of an object without members.
  if (typeof place === 'number' || value === '') return;
  const before = members.get(place);
  if (before !== undefined && before !== value) inner.isContradictory = true;
  members.set(place, value);
}
