/** Reads the provider's messages by the shapes of the active dialects. */
import { normalisePixKey } from '../../domain/pix-key.ts';
import type { ProviderStatement } from '../provider.ts';
import type { RefusalCodes } from '../refusals.ts';
import type { Signs } from '../signs.ts';
import { isObject, readId, readName } from '../wire-reading.ts';
import type { ForeignReason, IgnoredBecause, WebhookItem } from '../webhook-events.ts';
import {
  Conflict,
  formatPath,
  hasFields,
  readWord,
  valueAt,
  type Node,
  type Path,
} from './fields.ts';
import type { IdName } from './format.ts';
import { readShape, safeWord, type Fault, type Reading } from './read-shape.ts';
import {
  hasReadableIds,
  isAnswered,
  isWhole,
  meets,
  toItem,
  toLine,
  unread,
  type Message,
} from './messages.ts';
import { isContradictory, parsePayload } from './payload.ts';
import type { Condition, Shape } from './shape.ts';

/**
 * The largest number of items without any field that are returned. All other items are returned:
 * their number is limited by the size of a payload, at most 256 KiB.
 */
const maxEmptyItems = 100;

/** What the active dialects declare. */
interface Declared {
  readonly shapes: readonly Shape[];
  /** The places of the event words. */
  readonly markers: readonly Path[];
  readonly refusals: RefusalCodes;
  readonly signs: Signs;
}

/** The shapes of the active dialects: no two match one message. */
export class Dialects {
  readonly shapes: readonly Shape[];
  /** The codes that mean that a payment was not executed, of all dialects. */
  readonly refusals: RefusalCodes;
  readonly signs: Signs;
  /** The words that mean that a payment is completed. */
  readonly completedWords: ReadonlySet<string>;
  readonly #markers: readonly Path[];
  readonly #byScope = new Map<string, readonly Marked[]>();
  readonly #idPlaces = new Map<string, ReadonlyMap<IdName, readonly Path[]>>();

  constructor({ shapes, markers, refusals, signs }: Declared) {
    this.shapes = shapes;
    this.refusals = refusals;
    this.signs = signs;
    this.completedWords = new Set(shapes.flatMap(completedWords));
    this.#markers = markers;
    for (const scope of new Set(shapes.flatMap(({ of }) => of))) {
      const ofScope = shapes.filter(({ of }) => of.includes(scope));
      this.#byScope.set(scope, byMarker(ofScope));
      this.#idPlaces.set(scope, placesOfIds(ofScope));
    }
  }

  /**
   * Reads a payload of the provider's webhook: an item, a list of items, or a list of such lists.
   * @param payload any parsed JSON; it never throws.
   * @param at when it was received; null: no time in it is ahead.
   * @returns one event for each item that is not empty, in order.
   */
  readEvents(payload: unknown, at: Date | null = null): WebhookItem[] {
    return [...this.eachEvent(payload, at)];
  }

  /** Reads a payload lazily: 256 KiB may contain more than ten thousand events. */
  *eachEvent(payload: unknown, at: Date | null = null): Generator<WebhookItem> {
    let index = 0;
    let emptyItems = 0;
    for (const value of Array.isArray(payload) ? payload.flat() : [payload]) {
      for (const message of this.#messages({ value, around: null, at }, 'event')) {
        if (message.isEmpty) emptyItems += 1;
        if (!message.isEmpty || emptyItems <= maxEmptyItems) yield toItem(message, index);
        index += 1;
      }
    }
  }

  /** Reads a stored payload; bytes that are not JSON are one event. */
  *eachStoredEvent(payload: Buffer, at: Date | null = null): Generator<WebhookItem> {
    const parsed = parsePayload(payload);
    if (parsed) yield* this.eachEvent(parsed.content, at);
    else yield toItem(this.#unread({ node: noNode, scope: 'event', because: 'not_json' }), 0);
  }

  /**
   * Reads the provider's statement.
   * @param settledOnly whether the provider documents that its statement has settled lines only.
   * @param at when it was read; null: no time in it is ahead.
   * @returns null when no shape reads it as a list of lines.
   */
  readStatement(
    body: unknown,
    settledOnly: boolean,
    at: Date | null = null,
  ): Omit<ProviderStatement, 'isFinal'> | null {
    const page = this.#page(body, 'statement');
    if (page === null) return null;
    const { items, node, shape } = page;
    const objects = items.filter(isObject);
    const around = { around: node, foreign: this.#foreignAround(shape, { ...node, at }), at };
    const messages = objects.map((value) => this.#message({ value, ...around }, shape.name));
    const lines = messages.map((message) => toLine(message, settledOnly));
    const hasAllIds = objects.length === items.length && messages.every(hasReadableIds);
    return { items: objects, lines, isWhole: hasAllIds && isWhole(shape, node, items.length) };
  }

  /**
   * Reads the Pix keys of the provider's list that belong to the account, in DICT's format.
   * It omits entries that no shape reads as a registered key.
   * @returns null when no shape reads it as a list of keys, or it says that the request failed.
   */
  readKeys(body: unknown): string[] | null {
    const page = this.#page(body, 'key list');
    if (page === null || !isAnswered(page.shape, page.node)) return null;
    const keys = page.items.flatMap((value) => {
      // A list may consist of bare keys.
      if (typeof value === 'string') return normalisePixKey(value).key;
      return registeredKeys(this.#message({ value, around: page.node }, page.shape.name), null);
    });
    return [...new Set(keys)];
  }

  /**
   * Reads the key that the response to a creation reports as registered.
   * @param requested the requested key in any format; it counts if the response contains no key.
   * @returns one key in the directory's format, or none, as where the request has failed.
   */
  readCreatedKeys(body: unknown, requested: string | null): string[] {
    const node = { value: body, around: null };
    const message = this.#message(node, 'created key');
    const isCreated = message.shape !== null && isAnswered(message.shape, node);
    return isCreated ? registeredKeys(message, requested) : [];
  }

  #page(body: unknown, scope: string) {
    const node = { value: body, around: null };
    const { 0: shape, length } = this.#matches(node, scope);
    if (!shape || shape.each === null || length > 1) return null;
    const items = valueAt(node, shape.each);
    return Array.isArray(items) ? { shape, node, items: items as unknown[] } : null;
  }

  #matches(node: Node, scope: string): Shape[] {
    const matches: Shape[] = [];
    for (const { path, byWord, others } of this.#byScope.get(scope) ?? []) {
      const value = valueAt(node, path);
      if (value === undefined) continue;
      for (const shape of byWord.get(readWord(value) ?? '') ?? others) {
        if (meets(node, shape)) matches.push(shape);
      }
    }
    return matches;
  }

  /** The message itself, unless it is only a list, then the messages of its list. */
  *#messages(node: Node, scope: string): Generator<Message> {
    const message = this.#message(node, scope);
    const { shape, fault } = message;
    if (shape?.kind !== 'list' || fault) yield message;
    if (shape && !(shape.kind === 'list' && fault)) yield* this.#listed(shape, node);
  }

  /** The items of a list, and then the lists in each of them: these may grow with time. */
  *#listed(shape: Shape, node: Node): Generator<Message> {
    const { name, each, kind, status } = shape;
    const value = each && valueAt(node, each);
    const isList = Array.isArray(value) || isObject(value);
    if (!isList || (Array.isArray(value) && value.length === 0)) {
      // A list that has a status says that there is something: an empty one is not understood.
      const because = status.length > 0 ? 'unknown_shape' : 'no_items';
      if (kind === 'list') yield this.#unread({ node, scope: name, because });
      return;
    }
    const isIn = isTwofold(node, [value]);
    const foreign = this.#foreignAround(shape, node);
    const items = (Array.isArray(value) ? (value as unknown[]) : [value]).map((one): Node => {
      return { value: one, around: node, isTwofold: isIn, foreign, at: node.at ?? null };
    });
    const read: (readonly [Shape | null, Node])[] = [];
    for (const item of items) {
      const message = this.#message(item, name);
      read.push([message.shape, item]);
      yield message;
    }
    for (const [inner, item] of read) if (inner?.each) yield* this.#listed(inner, item);
  }

  #message(node: Node, scope: string): Message {
    if (!isObject(node.value)) return this.#unread({ node, scope, because: 'not_an_object' });
    const { 0: shape, length } = this.#matches(node, scope);
    if (!shape) {
      const word = this.#eventWord(node);
      const unknown = word === undefined ? 'unknown_shape' : 'unknown_event';
      const because = isTwofold(node) ? 'contradictory_member' : unknown;
      return this.#unread({ node, scope, because, word });
    }
    if (length > 1) return this.#unread({ node, scope, because: 'ambiguous_shape' });
    const reading = readShape(shape, node);
    const name = readName(this.#eventWord(node)) ?? shape.name.split('/').at(-1) ?? '';
    const fault =
      this.#foreignFault(reading, shape, node) ??
      reading.fault ??
      this.#doubt(reading, shape, node);
    return { ...reading, fault, shape, name, isEmpty: false };
  }

  /** Why a message is not about a payment by Pix that is made now, whatever its shape reads. */
  #foreignFault(reading: Reading, shape: Shape, node: Node): Fault | null {
    const list = shape.each === null ? nothing : [valueAt(node, shape.each)];
    const because = isTwofold(node, list)
      ? 'contradictory_member'
      : this.#foreign(shape, node, list);
    if (because !== null) return { because, word: null };
    const method = this.#otherMethod(reading, shape, node);
    return method === null ? null : { because: 'other_method', word: method };
  }

  /** A message about money that has ended one way, and also says that it has ended the other. */
  #doubt({ status }: Reading, shape: Shape, { value }: Node): Fault | null {
    const { kind, each, notExecuted, noSigns: passedOver } = shape;
    const except = each === null ? nothing : [valueAt({ value, around: null }, each)];
    const options = { except, passedOver };
    if (status === 'COMPLETED' && ofMoney.has(kind)) {
      return this.signs.doubtsSuccess(value, notExecuted, options) ? doubted : null;
    }
    if (status !== 'FAILED' || !endsOrders.has(kind)) return null;
    const isDoubted =
      this.signs.saysSuccess(value, this.completedWords, options) ||
      this.signs.hasOtherCode(value, notExecuted, options);
    return isDoubted ? doubted : null;
  }

  /** Why a message about money, or one around it, is not about a payment that is made now. */
  #foreign(
    { kind, passesOver: passedOver }: Shape,
    node: Node,
    except: readonly unknown[],
  ): ForeignReason | null {
    if (!ofMoney.has(kind)) return null;
    const { value, at = null, foreign = null } = node;
    return this.signs.findForeign(value, at, { except, passedOver }) ?? foreign;
  }

  /** The same of the objects around the items of a list, without the lists in them. */
  #foreignAround({ passesOver: passedOver }: Shape, node: Node): ForeignReason | null {
    const { value, at = null, foreign = null } = node;
    if (!isObject(value)) return foreign;
    const except = Object.values(value).filter((inner) => Array.isArray(inner));
    return this.signs.findForeign(value, at, { except, passedOver }) ?? foreign;
  }

  /** By which other method money moved; a message with an end-to-end id is about a Pix. */
  #otherMethod({ ids, status }: Reading, { kind }: Shape, node: Node): string | null {
    const isEnd = status === 'COMPLETED' || (kind === 'payment' && status === 'FAILED');
    const isOfMoney = kind === 'received' || kind === 'payment';
    if (!isEnd || !isOfMoney || ids.endToEnd !== undefined) return null;
    const objects: unknown[] = [];
    for (let one: Node | null = node; one !== null; one = one.around) objects.push(one.value);
    return this.signs.findOtherMethod(objects);
  }

  #eventWord(node: Node): string | undefined {
    for (const path of this.#markers) {
      const value = valueAt(node, path);
      if (typeof value === 'string') return value;
    }
    return undefined;
  }

  /** The ids of an unread message are read at every known place, to show which payment waits. */
  #unread({
    node,
    scope,
    because,
    word,
  }: {
    readonly node: Node;
    readonly scope: string;
    readonly because: IgnoredBecause;
    readonly word?: unknown;
  }): Message {
    const ids = [...(this.#idPlaces.get(scope) ?? [])].flatMap(([name, places]) => {
      const values = places.map((path) => valueAt(node, path));
      const id = values
        .map((value) => readId(value instanceof Conflict ? value.first : value))
        .find((one) => one !== null);
      return id === undefined ? [] : [[name, id] as const];
    });
    return {
      ...unread,
      name: readName(word) ?? 'unnamed',
      ids: Object.fromEntries(ids),
      fault: { because, word: safeWord(word) },
      isEmpty: !hasFields(node.value),
    };
  }
}

/** The kinds of messages that say something about money. */
const ofMoney: ReadonlySet<Shape['kind']> = new Set(['payment', 'received', 'refund', 'line']);

/** The kinds of messages by whose word an order fails. */
const endsOrders: ReadonlySet<Shape['kind']> = new Set(['payment', 'refund']);

const doubted: Fault = { because: 'contradictory_status', word: null };

function completedWords({ kind, status }: Shape): string[] {
  if (kind !== 'payment') return [];
  const words = status.flatMap((column) => [...column.words]);
  return words.flatMap(([word, meaning]) => (meaning === 'COMPLETED' ? [word] : []));
}

/**
 * Whether a message contradicts itself, or one around it does.
 * @param list its own list, whose items are messages themselves.
 */
function isTwofold(node: Node, list: readonly unknown[] = nothing): boolean {
  return node.isTwofold === true || isContradictory(node.value, list);
}

function registeredKeys({ fault, status, payee }: Message, otherwise: string | null): string[] {
  const key = payee.key ?? otherwise;
  const isRegistered = fault === null && status === 'COMPLETED';
  return key !== null && isRegistered ? [normalisePixKey(key).key] : [];
}

const nothing: readonly unknown[] = [];

const noNode: Node = { value: undefined, around: null };

/** The shapes that require a value at one place. */
interface Marked {
  readonly path: Path;
  /** By a word at that place: the shapes that name it, and the others. */
  readonly byWord: ReadonlyMap<string, readonly Shape[]>;
  /** The shapes that name no word. */
  readonly others: readonly Shape[];
}

/** A message is compared only with the shapes whose marker it has: few of many. */
function byMarker(shapes: readonly Shape[]): Marked[] {
  const all = shapes.map((shape) => ({ shape, ...findMarker(shape) }));
  return distinct(all.map(({ path }) => path)).map((path) => {
    const here = all.filter((one) => formatPath(one.path) === formatPath(path));
    const words = here.flatMap((one) => [...(one.words ?? [])]);
    const find = (word: string): Shape[] =>
      here.flatMap((one) => (one.words === null || one.words.has(word) ? one.shape : []));
    // No word is empty.
    return { path, byWord: new Map(words.map((word) => [word, find(word)])), others: find('') };
  });
}

/** The first words that a shape requires, or else what it requires first. */
function findMarker({ when }: Shape): Condition {
  const required = when.filter(({ kinds }) => !kinds.has('absent'));
  return required.find(({ words }) => words !== null) ?? required[0] ?? anything;
}

/** Of a shape that requires nothing: the message itself. */
const anything: Condition = { path: [], kinds: new Set(), words: null };

/** The places of each id in the messages of a scope. */
function placesOfIds(shapes: readonly Shape[]): ReadonlyMap<IdName, readonly Path[]> {
  const all = new Map<IdName, Path[]>();
  for (const [name, places] of shapes.flatMap(({ ids }) => ids)) {
    all.set(name, [...(all.get(name) ?? []), ...places]);
  }
  return new Map([...all].map(([name, places]) => [name, distinct(places)]));
}

function distinct(paths: readonly Path[]): Path[] {
  return [...new Map(paths.map((path) => [formatPath(path), path])).values()];
}
