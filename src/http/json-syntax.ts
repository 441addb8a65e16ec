/**
 * Checks the grammar of JSON (RFC 8259) without building values: one pass, no recursion, and one
 * flag of memory for each level.
 */

/** The kind of the outermost value. */
export type Outermost = 'object' | 'array' | 'scalar';

/** The position that represents a syntax error. */
const none = -1;

/**
 * Checks a text in linear time.
 * @returns null when it is not JSON.
 */
export function outermostValue(text: string): Outermost | null {
  const start = afterBlanks(text, 0);
  if (afterBlanks(text, afterValue(text, start)) !== text.length) return null;
  const first = text[start];
  if (first === '{') return 'object';
  return first === '[' ? 'array' : 'scalar';
}

/** @returns the position after the value that begins at `start`, or none. */
function afterValue(text: string, start: number): number {
  /** For each open object or array, whether it is an object. */
  const open: boolean[] = [];
  let at = start;
  for (;;) {
    const isObject = text[at] === '{';
    if (isObject || text[at] === '[') {
      at = afterBlanks(text, at + 1);
      if (text[at] !== closing(isObject)) {
        open.push(isObject);
        at = isObject ? afterKey(text, at) : at;
        continue;
      }
      at += 1;
    } else {
      at = afterScalar(text, at);
    }
    at = afterClosings(text, at, open);
    if (at === none || open.length === 0) return at;
    // At a comma: the next member begins.
    at = afterBlanks(text, at + 1);
    if (open.at(-1) === true) at = afterKey(text, at);
  }
}

/**
 * Skips the closing brackets after a value.
 * @returns the position of the comma that follows, or the end of the outermost value, or none.
 */
function afterClosings(text: string, end: number, open: boolean[]): number {
  let at = end;
  while (at !== none) {
    const isObject = open.at(-1);
    if (isObject === undefined) return at;
    at = afterBlanks(text, at);
    if (text[at] === ',') return at;
    if (text[at] !== closing(isObject)) return none;
    open.pop();
    at += 1;
  }
  return none;
}

function closing(isObject: boolean): string {
  return isObject ? '}' : ']';
}

/** Skips `"key" :` and the blanks around the colon. */
function afterKey(text: string, start: number): number {
  const end = afterString(text, start);
  const at = end === none ? none : afterBlanks(text, end);
  return text[at] === ':' ? afterBlanks(text, at + 1) : none;
}

function afterScalar(text: string, start: number): number {
  switch (text.charAt(start)) {
    case '"':
      return afterString(text, start);
    case 't':
      return afterLiteral(text, start, 'true');
    case 'f':
      return afterLiteral(text, start, 'false');
    case 'n':
      return afterLiteral(text, start, 'null');
    default:
      return afterNumber(text, start);
  }
}

function afterLiteral(text: string, start: number, literal: string): number {
  return text.startsWith(literal, start) ? start + literal.length : none;
}

const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;

function afterString(text: string, start: number): number {
  if (text.charCodeAt(start) !== quote) return none;
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code < space) return none;
    if (code !== backslash) continue;
    at += 1;
    if (text[at] === 'u') {
      if (!/^[\da-f]{4}$/i.test(text.slice(at + 1, at + 5))) return none;
      at += 4;
    } else if (!'"\\/bfnrt'.includes(text[at] ?? ' ')) {
      return none;
    }
  }
  return none;
}

function afterNumber(text: string, start: number): number {
  let at = text[start] === '-' ? start + 1 : start;
  at = text[at] === '0' ? at + 1 : afterDigits(text, at);
  if (text[at] === '.') at = afterDigits(text, at + 1);
  if (text[at] === 'e' || text[at] === 'E') {
    const isSigned = text[at + 1] === '-' || text[at + 1] === '+';
    at = afterDigits(text, at + (isSigned ? 2 : 1));
  }
  return at;
}

/** At least one digit. */
function afterDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at === start ? none : at;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function afterBlanks(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

function isBlank(code: number): boolean {
  return code === space || code === 0x0a || code === 0x0d || code === 0x09;
}
