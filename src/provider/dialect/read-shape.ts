/** Reads the fields of a message by its shape. Nothing here knows a word of a provider. */
import { isReturnId } from '../../domain/pix.ts';
import { fitsMask, readMaskedTaxId } from '../../domain/tax-id.ts';
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
    readonly maskedDocument?: string;
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

/** A message that is read by a shape, and what is found to be wrong with it. */
class Input {
  readonly shape: Shape;
  readonly node: Node;
  /** The first fault. */
  fault: Fault | null = null;
  /** An event that names two payees identifies none: its money is not for the owner. */
  namesTwoPayees = false;

  constructor(shape: Shape, node: Node) {
    this.shape = shape;
    this.node = node;
  }

  note(because: IgnoredBecause, word?: unknown): null {
    if (because === 'contradictory_payee') this.namesTwoPayees = true;
    else this.fault ??= { because, word: safeWord(word) };
    return null;
  }
}

/** Reads a message that meets the conditions of a shape. */
export function readShape(shape: Shape, node: Node): Reading {
  const input = new Input(shape, node);
  const undeclared = findUndeclared(shape, node) ?? findOtherWord(shape, node);
  if (undeclared !== null) input.note('undeclared_field', undeclared);
  const ids = readIds(input);
  const meaning = readColumns(input, shape.status, 'status');
  const code = readField(input, shape.code, codeField);
  const status = meaning === 'FAILED_WITH_CODE' ? 'FAILED' : meaning;
  if (shape.kind === 'payment' || shape.kind === 'refund') {
    if (status === 'FAILED') requireListed(input, meaning, code);
    // A success does not say why it was not executed.
    if (status === 'COMPLETED' && isListed(shape, code)) {
      input.note('contradictory_code', code?.text);
    }
  }
  const amount = readField(input, shape.amount?.at ?? [], amountField);
  const amountCents = amount?.cents ?? null;
  const payee = readPayee(input);
  const at = readTimes(input);
  const direction = readDirection(input, amount?.isNegative === true);
  if (shape.kind === 'refund' && status === 'COMPLETED') checkRefund(input, ids, amountCents);
  // Money that comes back is no receipt: it would be recorded beside its refund.
  if (shape.kind === 'received' && isReturnId(ids.endToEnd ?? null)) input.note('unreadable_id');
  if (status === 'EXPIRED' && ids.endToEnd !== undefined) input.note('contradictory_status');
  const { fault } = input;
  return { ids, amountCents, payee, at, code: code?.text ?? null, direction, status, fault };
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

/** Finds a field that may have the word of an event, and that the shape does not read. */
function findOtherWord({ otherMarkers, markerNames }: Shape, node: Node): string | null {
  for (const { path, names } of otherMarkers) {
    const object = valueAt(node, path);
    if (!isObject(object)) continue;
    const fields = foldedFields(object);
    if (names.isDisjointFrom(fields)) continue;
    for (const name of names) if (mayBeWord(fields.get(name), markerNames)) return name;
  }
  return null;
}

/** Whether a field may have the word of an event, itself or in a field of its object. */
function mayBeWord(value: unknown, names: ReadonlySet<string>): boolean {
  if (value === undefined || value === '') return false;
  if (value instanceof Conflict || !isObject(value)) return true;
  return !names.isDisjointFrom(foldedFields(value));
}

interface Field<Value> {
  readonly read: (value: unknown, shape: Shape) => Value | null;
  /** The form in which equal values are equal. */
  readonly compare: (value: Value) => unknown;
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
  input: Input,
  places: readonly Path[],
  field: Field<Value>,
): Value | null {
  let found: Value | null = null;
  for (const path of places) {
    const value = valueAt(input.node, path);
    if (value === undefined || (field.mayBeBlank && value === '')) continue;
    const isTwofold = value instanceof Conflict;
    const next = field.read(isTwofold ? value.first : value, input.shape);
    const isOther = found !== null && next !== null && field.compare(found) !== field.compare(next);
    if (isTwofold || isOther) input.note(field.contradictory);
    else if (next === null) input.note(field.unreadable);
    if ((isTwofold || isOther || next === null) && !field.keepsFirst) return null;
    found ??= next;
  }
  return found;
}

const idField: Field<string> = {
  read: readId,
  compare: (id) => id,
  unreadable: 'unreadable_id',
  contradictory: 'contradictory_id',
  mayBeBlank: true,
  keepsFirst: true,
};

function readIds(input: Input): Reading['ids'] {
  const ids: Partial<Record<IdName, string>> = {};
  let hasId = input.shape.ids.length === 0;
  for (const [name, places] of idPlaces(input)) {
    const id = readField(input, places, idField);
    if (id === null) continue;
    ids[name] = id;
    hasId = true;
  }
  if (!hasId) input.note('no_id');
  return ids;
}

/** Where the ids stand: a return id beside the end-to-end id is that of the return. */
function idPlaces({ shape: { ids, kind }, node }: Input): Shape['ids'] {
  if (kind !== 'refund' && kind !== 'line') return ids;
  const own = ids.flatMap(([name, at]) => (name === 'endToEnd' ? at : []));
  const filled = own.filter((path) => readId(valueAt(node, path)) !== null);
  const misplaced = filled.filter((path) => isReturnId(readId(valueAt(node, path))));
  if (misplaced.length === filled.length) return ids;
  return ids.map(([name, at]) => {
    if (name === 'returnId') return [name, [...at, ...misplaced]];
    return [name, name === 'endToEnd' ? at.filter((path) => !misplaced.includes(path)) : at];
  });
}

function payeeField(name: PayeeField): Field<string> {
  return {
    read: payeeReaders[name],
    compare: (value) => comparable(name, value),
    unreadable: 'unreadable_payee',
    contradictory: 'contradictory_payee',
    mayBeBlank: true,
  };
}

const payeeFields: Readonly<Record<PayeeField, Field<string>>> = {
  key: payeeField('key'),
  document: payeeField('document'),
  agency: payeeField('agency'),
  account: payeeField('account'),
};

const maskedField: Field<string> = { ...payeeFields.document, read: readMasked };

function readMasked(value: unknown): string | null {
  return typeof value === 'string' ? readMaskedTaxId(value) : null;
}

function readPayee(input: Input): Reading['payee'] {
  const { payee: places } = input.shape;
  const payee: Partial<Record<PayeeField | 'maskedDocument', string>> = {};
  const masked = places
    .flatMap(([name, at]) => (name === 'document' ? at : []))
    .filter((path) => readMasked(valueAt(input.node, path)) !== null);
  for (const [name, at] of places) {
    const own = at.filter((path) => !masked.includes(path));
    const value = readField(input, own, payeeFields[name]);
    if (value !== null) payee[name] = value;
  }
  const shown = readField(input, masked, maskedField);
  if (shown !== null) payee.maskedDocument = shown;
  const { document = null } = payee;
  if (shown !== null && document !== null && !fitsMask(document, shown)) {
    input.note('contradictory_payee');
  }
  return input.namesTwoPayees ? { isContradictory: true } : payee;
}

interface Amount {
  readonly cents: number;
  readonly isNegative: boolean;
}

const amountField: Field<Amount> = {
  read(value, { amount }) {
    const cents = amount && readAmount(value, amount.unit, amount.isSigned);
    return cents === null ? null : { cents, isNegative: isNegative(value) };
  },
  compare: ({ cents, isNegative: sign }) => (sign ? -cents : cents),
  unreadable: 'unreadable_amount',
  contradictory: 'unreadable_amount',
  mayBeBlank: false,
};

function readTimes({ shape: { time }, node }: Input): Date | null {
  for (const path of time?.at ?? []) {
    const at = time && readTime(valueAt(node, path), time.form);
    if (at) return at;
  }
  return null;
}

/** A code that is given; null when it does not have the form of one. */
interface Code {
  readonly text: string | null;
}

const codeField: Field<Code> = {
  read: (value) => ({ text: readReason(value) }),
  compare: ({ text }) => readWord(text),
  unreadable: 'contradictory_code',
  contradictory: 'contradictory_code',
  mayBeBlank: true,
};

/** A code that is present and not listed leaves a failure open, whatever its word proves. */
function requireListed(input: Input, meaning: Meaning | null, code: Code | null): void {
  if (code === null && meaning === 'FAILED') return;
  if (!isListed(input.shape, code)) input.note('unlisted_code', code?.text);
}

function isListed({ notExecuted }: Shape, code: Code | null): boolean {
  const word = readWord(code?.text);
  return word !== null && notExecuted.has(word);
}

/** Of a line, a word for a fee, a hold or a schedule says what it is, whichever way it goes. */
function readDirection(input: Input, isOut: boolean): Reading['direction'] {
  const { shape } = input;
  if (shape.kind === 'line' && isSetAside(input)) return 'OTHER';
  let direction = readColumns(input, shape.direction, 'direction');
  for (const said of [shape.flow === 'EITHER' ? null : shape.flow, isOut ? 'OUT' : null] as const) {
    if (direction !== null && said !== null && said !== direction) {
      return input.note('contradictory_direction');
    }
    direction ??= said;
  }
  return direction;
}

function isSetAside({ shape, node }: Input): boolean {
  return shape.direction.some(({ at, words }) =>
    at.some((path) => {
      const value = valueAt(node, path);
      return value !== undefined && findMeaning(words, readWord(value)) === 'OTHER';
    }),
  );
}

/** Every field that is filled has a listed word, and the words that are not silent agree. */
function readColumns<Word extends string>(
  input: Input,
  columns: readonly Column<Word>[],
  what: 'status' | 'direction',
): Word | null {
  let found: Word | null = null;
  for (const { at, words, absent } of columns) {
    for (const path of at) {
      const value = valueAt(input.node, path);
      if (value instanceof Conflict) return input.note(`contradictory_${what}`);
      const meaning = value === undefined ? absent : findMeaning(words, readWord(value));
      if (meaning === undefined) return input.note(`unknown_${what}`, value);
      if (meaning === null) continue;
      if (found !== null && found !== meaning) return input.note(`contradictory_${what}`, value);
      found = meaning;
    }
  }
  return found;
}

function findMeaning<Word extends string>(words: Column<Word>['words'], word: string | null) {
  return word === null ? undefined : words.get(word);
}

/** The return id identifies a refund, with the end-to-end id of the payment or its charge. */
function checkRefund(
  input: Input,
  { endToEnd, txid, returnId }: Reading['ids'],
  amountCents: number | null,
): void {
  const isNamed = endToEnd !== undefined || txid !== undefined;
  if (!isNamed || !isReturnId(returnId ?? null)) input.note('reversal');
  if (amountCents === null) input.note('unreadable_amount');
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
