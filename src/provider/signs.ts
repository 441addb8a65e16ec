/**
 * What a message says beside its ids, its amount and its status: signs of success beside a refusal,
 * and signs that it is not about a payment that is made now, for its payee, in reais. Which names
 * and words are signs is data: contract/provider/signs.yaml, and `signs` of a dialect.
 */
import { Ajv } from 'ajv';
import { stripAccents } from '../domain/text.ts';
import { parsePath, readWord, type Path } from './dialect/fields.ts';
import { restrictCode } from './refusals.ts';
import { isObject, memoised, plainName } from './wire-reading.ts';
import type { ForeignReason } from './webhook-events.ts';
import { readTimeMs } from './written-times.ts';

/** The lists of the file: names of fields, or words. */
const signNames = [
  'success_words_at',
  'success_words',
  'success_flags',
  'success_numbers',
  'codes',
  'reasons',
  'owners_of_codes',
  'failure_words',
  'failure_flags',
  'failure_contents',
  'look_up_words_at',
  'look_up_failure_words',
  'look_up_flags',
  'failed_flags',
  'open_words',
  'completion_flags',
  'scheduled',
  'tests',
  'test_words_at',
  'test_words',
  'live_flags',
  'currencies_at',
  'currencies',
  'cancelled',
  'times',
  'payee_keys',
  'other_methods',
  'methods_at',
  'other_method_words',
  'payment_methods_at',
  'payment_method_words',
] as const;

type SignName = (typeof signNames)[number];

export type SignLists = Readonly<Partial<Record<SignName, readonly string[]>>>;

const wordLists: ReadonlySet<SignName> = new Set([
  'success_words',
  'failure_words',
  'look_up_failure_words',
  'open_words',
  'test_words',
  'currencies',
  'other_method_words',
  'payment_method_words',
]);

const texts = {
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: { type: 'string', minLength: 1, maxLength: 64 },
} as const;

/** The JSON schema of the lists. */
export const signsSchema = {
  type: 'object',
  properties: Object.fromEntries(signNames.map((name) => [name, texts])),
  additionalProperties: false,
};

const ajv = new Ajv({ allErrors: true });
const validate = ajv.compile<SignLists>({ ...signsSchema, required: signNames });

/** @returns the faults of the content of signs.yaml; empty for complete {@link SignLists}. */
export function signsFaults(content: unknown): string[] {
  if (validate(content)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath.slice(1), message, params['additionalProperty']].filter(Boolean).join(' '),
  );
}

/** The signs in an object. */
interface FoundSigns {
  readonly reason: ForeignReason | null;
  /** The latest time of a payment, in milliseconds since 1970. */
  readonly latestMs: number;
}

/** A time of a payment may be ahead by this, in milliseconds. */
const maxAheadMs = 24 * 60 * 60 * 1_000;

const noSigns: FoundSigns = { reason: null, latestMs: Number.NEGATIVE_INFINITY };

/** The places of objects that a status is about. */
const besideStatus: ReadonlySet<string> = new Set([
  '',
  'body',
  'charge',
  'data',
  'error',
  'payment',
  'pix',
  'requestbody',
  'result',
  'transaction',
]);

/** What is not searched. */
interface SearchOptions {
  /** Values inside the message that are messages themselves. */
  readonly except?: readonly unknown[];
  /** Paths of fields that the shape of the message passes over. */
  readonly passedOver?: ReadonlySet<string>;
}

/** The signs of the active dialects. */
export class Signs {
  readonly #words = new Map<SignName, Set<string>>();
  /** The lists that have the name of a field: most names are in none. */
  readonly #lists = new Map<string, Set<SignName>>();
  /** The places of the key of a payee. */
  readonly payeeKeys: readonly Path[];

  /** @param all the lists of signs.yaml, and those of dialects. */
  constructor(all: readonly SignLists[]) {
    for (const list of signNames) {
      for (const entry of all.flatMap((lists) => lists[list] ?? [])) {
        if (wordLists.has(list)) add(this.#words, list, plainWord(readWord(entry) ?? ''));
        else add(this.#lists, stem(plainName(entry)), list);
      }
    }
    this.payeeKeys = all.flatMap((lists) => lists.payee_keys ?? []).map(parsePath);
  }

  /**
   * @param at when the message was received; null: no time is ahead.
   * @returns why a message is not about a payment that is made now, in reais; null: nothing says
   *   so.
   */
  findForeign(
    message: unknown,
    at: Date | null,
    options: SearchOptions = {},
  ): ForeignReason | null {
    return judge(this.#search(message, options), at);
  }

  /**
   * Finds a sign that money moved by another method than Pix, such as a boleto.
   *
   * @param messages a message without an end-to-end id, and the objects around it.
   * @returns the name or the word that says so; null: nothing says so.
   */
  findOtherMethod(messages: readonly unknown[]): string | null {
    let found: string | null = null;
    this.#some(messages, (lists, value, { name, path }) => {
      const words = wordsOf(value);
      // What stands deeper may be the type of something else, such as a fee.
      const isType = lists.has('methods_at') && besideStatus.has(path);
      const isAt = isType || lists.has('payment_methods_at');
      const isOther = (word: string): boolean =>
        (isAt && this.#has('other_method_words', word)) ||
        (lists.has('payment_methods_at') && this.#has('payment_method_words', word));
      if (lists.has('other_methods') && (isObject(value) || says(value))) found = name;
      else found = words.find(isOther) ?? null;
      return found !== null;
    });
    return found;
  }

  /**
   * @param completed the words that the active dialects declare for a completed payment.
   * @returns whether a response says anywhere that its payment was accepted or made.
   */
  saysSuccess(body: unknown, completed: ReadonlySet<string>, options: SearchOptions = {}): boolean {
    const isSign = (lists: ReadonlySet<SignName>, value: unknown): boolean => {
      const word = readWord(value) ?? '';
      const isWord = this.#has('success_words', word) || completed.has(word);
      return (
        (lists.has('success_words_at') && isWord) ||
        (lists.has('success_flags') && yesWords.has(word)) ||
        (lists.has('success_numbers') && /^2\d\d$/.test(word))
      );
    };
    return this.#some(body, isSign, options);
  }

  /** Returns every value at a place of a code, at any depth. */
  findCodes(body: unknown, options: SearchOptions = {}): unknown[] {
    const codes: unknown[] = [];
    const note = (lists: ReadonlySet<SignName>, value: unknown, place: Place): boolean => {
      if (this.#isCode(lists, value, place)) codes.push(value);
      return false;
    };
    this.#some(body, note, options);
    return codes;
  }

  #isCode(lists: ReadonlySet<SignName>, value: unknown, { path }: Place): boolean {
    const isCode = lists.has('codes') || (lists.has('reasons') && hasCodeForm(value));
    if (!isCode || value === '') return false;
    const owner = this.#lists.get(stem(path.slice(path.lastIndexOf('.') + 1)));
    return owner?.has('owners_of_codes') !== true;
  }

  /** Whether a code that is not listed stands beside another one, at any place of a code. */
  hasOtherCode(
    body: unknown,
    listed: Pick<ReadonlySet<string>, 'has'>,
    options: SearchOptions = {},
  ): boolean {
    const codes = this.findCodes(body, options).map(restrictCode);
    return new Set(codes).size > 1 && codes.some((code) => !listed.has(code));
  }

  /**
   * @param objects the objects of a response that describe what was asked for.
   * @returns whether a response says that its request has failed.
   */
  saysFailure(objects: readonly unknown[]): boolean {
    return this.#someField(objects, (lists, value) => this.#isFailure(lists, value));
  }

  /**
   * @param objects as for {@link saysFailure}.
   * @param hasCode whether a code of the response is its own, and not what was looked up.
   * @returns whether the response to a look-up says that it has found nothing that can be paid.
   */
  saysNotFound(objects: readonly unknown[], { hasCode }: { readonly hasCode: boolean }): boolean {
    return this.#someField(objects, (lists, value) => {
      const word = readWord(value) ?? '';
      const isWordAt = lists.has('success_words_at') || lists.has('look_up_words_at');
      const isSuccess = /^(?:0*|2\d\d)$/.test(word) || this.#has('success_words', word);
      return (
        (isWordAt && this.#has('look_up_failure_words', word)) ||
        (lists.has('look_up_flags') && isNo(value)) ||
        (hasCode && lists.has('codes') && !isSuccess)
      );
    });
  }

  #someField(
    objects: readonly unknown[],
    test: (lists: ReadonlySet<SignName>, value: unknown) => boolean,
  ): boolean {
    return objects.filter(isObject).some((object) =>
      Object.keys(object).some((spelling) => {
        const lists = this.#lists.get(stem(plainName(spelling)));
        return lists !== undefined && test(lists, object[spelling]);
      }),
    );
  }

  /**
   * Whether a message that reports a success says at any depth that something has failed.
   * @param listed the codes of refusals.
   */
  doubtsSuccess(
    message: unknown,
    listed: Pick<ReadonlySet<string>, 'has'>,
    options: SearchOptions = {},
  ): boolean {
    return this.#some(
      message,
      (lists, value, place) => {
        if (this.#isFailure(lists, value)) return true;
        // What stands deeper may be about something else, such as the payer's e-mail.
        if (!besideStatus.has(place.path)) return false;
        const isListed = lists.has('codes') || lists.has('reasons');
        return (
          (lists.has('completion_flags') && readWord(value) === 'FALSE') ||
          (isListed && listed.has(restrictCode(value) ?? ''))
        );
      },
      options,
    );
  }

  /**
   * Whether a message says at any depth that a payment is open, or undone.
   * @param completed words that mean the opposite in this message.
   */
  saysOpen(message: unknown, completed: Pick<ReadonlySet<string>, 'has'>): boolean {
    return this.#some(message, (lists, value) => {
      const word = readWord(value) ?? '';
      const isOpen = this.#has('open_words', word) && !completed.has(word);
      return lists.has('success_words_at') && isOpen;
    });
  }

  #isFailure(lists: ReadonlySet<SignName>, value: unknown): boolean {
    const word = readWord(value);
    return (
      (lists.has('success_words_at') && this.#has('failure_words', word ?? '')) ||
      (lists.has('failure_flags') && isNo(value)) ||
      (lists.has('success_numbers') && /^[45]\d\d$/.test(word ?? '')) ||
      (lists.has('failure_contents') && says(value)) ||
      (lists.has('failed_flags') && word !== '1' && yesWords.has(word ?? ''))
    );
  }

  #has(list: SignName, word: string): boolean {
    return this.#words.get(list)?.has(plainWord(word)) === true;
  }

  #search(message: unknown, options: SearchOptions): FoundSigns {
    let { reason, latestMs } = noSigns;
    this.#some(
      message,
      (lists, value) => {
        reason ??= this.#reasonOf(lists, value);
        if (lists.has('times')) latestMs = Math.max(latestMs, readTimeMs(value));
        return false;
      },
      options,
    );
    return { reason, latestMs };
  }

  #reasonOf(lists: ReadonlySet<SignName>, value: unknown): ForeignReason | null {
    const word = readWord(value);
    if (lists.has('scheduled') && says(value)) return 'scheduled';
    if (lists.has('cancelled') && says(value)) return 'cancellation';
    if (lists.has('tests') && says(value)) return 'test';
    const isTest = wordsOf(value).some((one) => this.#has('test_words', one));
    if (lists.has('test_words_at') && isTest) return 'test';
    if (lists.has('live_flags') && isNo(value)) return 'test';
    // An object has its code beside what is none.
    const named = isObject(value) ? wordsOf(value).filter((one) => /^[A-Z]{3}$/.test(one)) : [];
    const isOther = isObject(value)
      ? named.some((one) => !this.#has('currencies', one))
      : says(value) && !this.#has('currencies', word ?? '');
    return lists.has('currencies_at') && isOther ? 'other_currency' : null;
  }

  /**
   * Tests the fields of a value's objects, at any depth, that a list names, until one passes; of a
   * field that is an array, each item as well. A field that is null is absent.
   */
  #some(
    message: unknown,
    test: (lists: ReadonlySet<SignName>, value: unknown, at: Place) => boolean,
    { except = [], passedOver }: SearchOptions = {},
  ): boolean {
    const open: (readonly [value: unknown, path: string])[] = [[message, '']];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [value, path] = next;
      const items = Array.isArray(value) ? (value as unknown[]) : [];
      for (const one of items) if (!except.includes(one)) open.push([one, path]);
      if (!isObject(value)) continue;
      for (const spelling of Object.keys(value)) {
        const inner = value[spelling];
        if (inner === null || inner === undefined) continue;
        const name = plainName(spelling);
        const lists = this.#lists.get(stem(name));
        const isTested = lists !== undefined && !passedOver?.has(placeIn(path, name));
        const listed = Array.isArray(inner) ? (inner as unknown[]) : [];
        const at = { name, path };
        if (isTested && [inner, ...listed].some((one) => test(lists, one, at))) return true;
        if (typeof inner === 'object' && !except.includes(inner)) {
          open.push([inner, placeIn(path, name)]);
        }
      }
    }
    return false;
  }
}

/** The words of a value, or in an object. */
function wordsOf(value: unknown): string[] {
  const values = isObject(value) ? Object.values(value) : [value];
  return values.flatMap((one) => readWord(one) ?? []);
}

/** The plain form of `CARTÃO DE CRÉDITO` and `CARTAO_DE_CREDITO` is the same. */
const plainWord = memoised((word) => stem(stripAccents(word).replace(/[_\-\s]/g, '')));

/** A Portuguese participle without its gender. */
function stem(word: string): string {
  return /(?:[ai]d|pag|aceit)[oa]$/i.test(word) ? word.slice(0, -1) : word;
}

/** A field: its name, and the names of the objects around it, with dots. */
interface Place {
  readonly name: string;
  readonly path: string;
}

function placeIn(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function add<Key, Entry>(sets: Map<Key, Set<Entry>>, key: Key, entry: Entry): void {
  const known = sets.get(key);
  if (known === undefined) sets.set(key, new Set([entry]));
  else known.add(entry);
}

function judge({ reason, latestMs }: FoundSigns, at: Date | null): ForeignReason | null {
  const isAhead = at !== null && latestMs > at.getTime() + maxAheadMs;
  return reason ?? (isAhead ? 'dated_ahead' : null);
}

const yesWords: ReadonlySet<string> = new Set(['TRUE', '1', 'YES', 'Y', 'SIM', 'S']);
const noWords: ReadonlySet<string> = new Set(['FALSE', '0', 'NO', 'N', 'NAO', 'NÃO']);
const emptyWords: ReadonlySet<string> = new Set(['', 'NONE', 'NULL']);

/** Whether a flag says no. */
function isNo(value: unknown): boolean {
  return noWords.has(readWord(value) ?? '');
}

/** Whether a text has the form of a code: letters and digits, or that of a duplicate. */
function hasCodeForm(value: unknown): boolean {
  return typeof value === 'string' && /^(?:[A-Z]{1,6}\d{1,4}|DUPL[A-Z]*)$/i.test(value.trim());
}

/** Whether a field says something: of an object, one of its fields. */
export function says(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(says);
  const word = readWord(value);
  if (word === null) return value !== null && value !== undefined;
  return !noWords.has(word) && !emptyWords.has(word);
}
