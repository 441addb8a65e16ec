/** Reads the fields of a message by its shape. Nothing here knows a word of a provider. */
import { isReturnId } from '../../domain/pix.ts';
import { isObject, readId, readReason } from '../wire-reading.ts';
import type { IgnoredBecause } from '../webhook-events.ts';
import { Conflict, foldedFields, readWord, valueAt, type Node, type Path } from './fields.ts';
import type { Direction, IdName, Meaning } from './format.ts';
import type { Column, Shape } from './shape.ts';
import {
  comparable,
  isNegative,
  payeeReaders,
  readAmount,
  readTime,
  type PayeeField,
} from './values.ts';

/** The fields of a message as its shape reads them. */
export interface Reading {
  readonly ids: Readonly<Partial<Record<IdName, string>>>;
  readonly amountCents: number | null;
  readonly payee: Readonly<Partial<Record<PayeeField, string>>> & {
    /** Two places have different values. */
    readonly isContradictory?: true;
  };
  readonly at: Date | null;
  /** The failure's code, if it has the form of one. */
  readonly code: string | null;
  readonly direction: Direction | null;
  readonly status: Exclude<Meaning, 'FAILED_WITH_CODE'> | null;
  /** Why the message proves nothing, and the word or the name that is the reason. */
  readonly fault: Fault | null;
}

export interface Fault {
  readonly because: IgnoredBecause;
  readonly word: string | null;
}

/** Notes a fault; the first one counts. */
type Note = (because: IgnoredBecause, word?: unknown) => null;

/** A message that is read, and where its faults go. */
interface Input {
  readonly node: Node;
  readonly note: Note;
}

/** Reads a message that meets the conditions of a shape. */
export function readShape(shape: Shape, node: Node): Reading {
  let fault: Fault | null = null;
  const note: Note = (because, word) => {
    fault ??= { because, word: safeWord(word) };
    return null;
  };
  const passedOver = findUndeclared(shape, node);
  if (passedOver !== null) note('undeclared_field', passedOver);
  const input = { node, note };
  const ids = readIds(shape, input);
  const meaning = readColumns(input, shape.status, 'status');
  const code = readCode(shape, input);
  const status = meaning === 'FAILED_WITH_CODE' ? 'FAILED' : meaning;
  if (shape.kind === 'payment' || shape.kind === 'refund') {
    if (status === 'FAILED') requireListed(shape, { meaning, code }, note);
    // A success does not say why it was not executed.
    if (status === 'COMPLETED' && isListed(shape, code)) note('contradictory_code', code.code);
  }
  const amount = readAmounts(shape, input);
  const reading = {
    ids,
    amountCents: amount?.cents ?? null,
    payee: readPayee(shape, input),
    at: readTimes(shape, node),
    code: code.code,
    direction: readDirection(shape, input, amount?.isNegative === true),
    status,
  };
  if (shape.kind === 'refund' && status === 'COMPLETED') checkRefund(reading, note);
  if (status === 'EXPIRED' && ids.endToEnd !== undefined) note('contradictory_status');
  return { ...reading, fault };
}

/** Finds a guarded field, in an object that the shape reads, that the shape does not read. */
function findUndeclared({ guarded }: Shape, node: Node): string | null {
  for (const { path, names } of guarded) {
    const object = valueAt(node, path);
    if (!isObject(object)) continue;
    const fields = foldedFields(object);
    if (names.isDisjointFrom(fields)) continue;
    for (const name of names) if (fields.has(name)) return name;
  }
  return null;
}

interface Field<Value> {
  readonly read: (value: unknown) => Value | null;
  /** The form in which equal values are equal. */
  readonly compare?: (value: Value) => unknown;
  readonly unreadable: IgnoredBecause;
  readonly contradictory: IgnoredBecause;
  /** Whether an empty text counts as absent. */
  readonly mayBeBlank: boolean;
  /** Whether the first value is returned beside a fault: an id names what is not understood. */
  readonly keepsFirst?: true;
}

/**
 * Every declared place that is filled must be readable and say the same.
 */
function readField<Value>(
  { node, note }: Input,
  places: readonly Path[],
  field: Field<Value>,
): Value | null {
  const { read, compare = (value: Value) => value } = field;
  let found: Value | null = null;
  for (const path of places) {
    const value = valueAt(node, path);
    if (value === undefined || (field.mayBeBlank && value === '')) continue;
    const isTwofold = value instanceof Conflict;
    const next = read(isTwofold ? value.first : value);
    const isOther = found !== null && next !== null && compare(found) !== compare(next);
    if (isTwofold || isOther) note(field.contradictory);
    else if (next === null) note(field.unreadable);
    if ((isTwofold || isOther || next === null) && !field.keepsFirst) return null;
    found ??= next;
  }
  return found;
}

const idField = {
  read: readId,
  unreadable: 'unreadable_id',
  contradictory: 'contradictory_id',
  mayBeBlank: true,
  keepsFirst: true,
} as const;

function readIds({ ids: declared }: Shape, input: Input): Reading['ids'] {
  if (declared.length === 0) return {};
  const ids = declared.flatMap(([name, places]) => {
    const id = readField(input, places, idField);
    return id === null ? [] : [[name, id] as const];
  });
  if (ids.length === 0) input.note('no_id');
  return Object.fromEntries(ids);
}

/** Money for two payees is nobody's: it is settled as money that is not for the owner. */
function readPayee({ payee }: Shape, { node, note }: Input): Reading['payee'] {
  let isContradictory: true | false = false;
  const noteOther: Note = (because) => {
    if (because === 'contradictory_payee') isContradictory = true;
    return because === 'contradictory_payee' ? null : note(because);
  };
  const found = payee.flatMap(([name, places]) => {
    const field = {
      read: payeeReaders[name],
      compare: (value: string) => comparable(name, value),
      unreadable: 'unreadable_payee',
      contradictory: 'contradictory_payee',
      mayBeBlank: true,
    } as const;
    const value = readField({ node, note: noteOther }, places, field);
    return value === null ? [] : [[name, value] as const];
  });
  return isContradictory ? { isContradictory: true } : Object.fromEntries(found);
}

interface Amount {
  readonly cents: number;
  readonly isNegative: boolean;
}

function readAmounts({ amount }: Shape, input: Input): Amount | null {
  if (amount === null) return null;
  const read = (value: unknown): Amount | null => {
    const cents = readAmount(value, amount.unit, amount.isSigned);
    return cents === null ? null : { cents, isNegative: isNegative(value) };
  };
  const field = {
    read,
    compare: ({ cents, isNegative: sign }: Amount) => (sign ? -cents : cents),
    unreadable: 'unreadable_amount',
    contradictory: 'unreadable_amount',
    mayBeBlank: false,
  } as const;
  return readField(input, amount.at, field);
}

function readTimes({ time }: Shape, node: Node): Date | null {
  for (const path of time?.at ?? []) {
    const at = time && readTime(valueAt(node, path), time.form);
    if (at) return at;
  }
  return null;
}

interface CodeReading {
  readonly code: string | null;
  readonly isGiven: boolean;
}

function readCode({ code: places }: Shape, input: Input): CodeReading {
  let isGiven = false;
  const read = (value: unknown): { code: string | null } => {
    isGiven = true;
    return { code: readReason(value) };
  };
  const field = {
    read,
    compare: ({ code }: { code: string | null }) => readWord(code),
    unreadable: 'contradictory_code',
    contradictory: 'contradictory_code',
    mayBeBlank: true,
  } as const;
  return { code: readField(input, places, field)?.code ?? null, isGiven };
}

/** A code that is present and not listed leaves a failure open, whatever its word proves. */
function requireListed(
  shape: Shape,
  { meaning, code }: { readonly meaning: Meaning | null; readonly code: CodeReading },
  note: Note,
): void {
  if (!code.isGiven && meaning === 'FAILED') return;
  if (!isListed(shape, code)) note('unlisted_code', code.code);
}

function isListed({ notExecuted }: Shape, { code }: CodeReading): boolean {
  const word = code === null ? null : readWord(code);
  return word !== null && notExecuted.has(word);
}

/** Of a line, a word for a fee, a hold or a schedule says what it is, whichever way it goes. */
function readDirection(shape: Shape, input: Input, isOut: boolean): Reading['direction'] {
  if (shape.kind === 'line' && isSetAside(shape, input)) return 'OTHER';
  const word = readColumns(input, shape.direction, 'direction');
  const flow = shape.flow === 'EITHER' ? null : shape.flow;
  const said = new Set<Direction>(
    [word, flow, isOut ? ('OUT' as const) : null].filter((one) => one !== null),
  );
  const [direction = null] = said;
  return said.size > 1 ? input.note('contradictory_direction') : direction;
}

function isSetAside(shape: Shape, { node }: Input): boolean {
  return shape.direction.some(({ at, words }) =>
    at.some((path) => {
      const value = valueAt(node, path);
      return value !== undefined && findMeaning(words, readWord(value)) === 'OTHER';
    }),
  );
}

/** Every field that is filled has a listed word, and the words that are not silent agree. */
function readColumns<Word extends string>(
  { node, note }: Input,
  columns: readonly Column<Word>[],
  what: 'status' | 'direction',
): Word | null {
  let found: Word | null = null;
  for (const { at, words, absent } of columns) {
    for (const path of at) {
      const value = valueAt(node, path);
      if (value instanceof Conflict) return note(`contradictory_${what}`);
      const meaning = value === undefined ? absent : findMeaning(words, readWord(value));
      if (meaning === undefined) return note(`unknown_${what}`, value);
      if (meaning === null) continue;
      if (found !== null && found !== meaning) return note(`contradictory_${what}`, value);
      found = meaning;
    }
  }
  return found;
}

function findMeaning<Word extends string>(words: Column<Word>['words'], word: string | null) {
  return word === null ? undefined : words.get(word);
}

/** Only the return id and the end-to-end id of the payment identify a refund. */
function checkRefund({ ids, amountCents }: Pick<Reading, 'ids' | 'amountCents'>, note: Note): void {
  const { endToEnd, returnId } = ids;
  if (endToEnd === undefined || !isReturnId(returnId ?? null)) note('reversal');
  if (amountCents === null) note('unreadable_amount');
}

/** A person's name or number in a status field is not passed on: only the form of a word is. */
const wordForm = /^(?:[A-Za-z]+(?:[_:.-][A-Za-z]+)*[_:.-]?\d{0,4}|\d{1,4})$/;
const maxWordLength = 64;

/** Returns a word that may be logged; null for a text that may be a person's. */
export function safeWord(value: unknown): string | null {
  const word = typeof value === 'number' ? String(value) : value;
  if (typeof word !== 'string' || word.length > maxWordLength) return null;
  return wordForm.test(word.trim()) ? word.trim() : null;
}
