/**
 * What a message says beside its ids, its amount and its status: signs of success beside a refusal,
 * and signs that it is not about a payment that is made now, for its payee, in reais. Which names
 * and words are signs is data: contract/provider/signs.yaml, and `signs` of a dialect.
 */
import { Ajv } from 'ajv';
import { readWord } from './dialect/fields.ts';
import { isObject, plainName } from './wire-reading.ts';

/** The lists of the file: names of fields, or words. */
const signNames = [
  'success_words_at',
  'success_words',
  'success_flags',
  'success_numbers',
  'codes',
  'failure_words',
  'failure_flags',
  'failure_contents',
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
] as const;

type SignName = (typeof signNames)[number];

export type SignLists = Readonly<Partial<Record<SignName, readonly string[]>>>;

const wordLists: ReadonlySet<SignName> = new Set([
  'success_words',
  'failure_words',
  'test_words',
  'currencies',
  'other_method_words',
]);

/** Why a message is not about a payment that is made now, for its payee, in reais. */
export const foreignReasons = [
  'scheduled',
  'dated_ahead',
  'test',
  'other_currency',
  'cancellation',
] as const;

export type ForeignReason = (typeof foreignReasons)[number];

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

/** A field of a message, at any depth. */
interface FoundField {
  /** Without case, `_`, `-` and spaces. */
  readonly name: string;
  readonly value: unknown;
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

/** What is not searched. */
interface SearchOptions {
  /** Values inside the message that are messages themselves. */
  readonly except?: readonly unknown[];
  /** Paths of fields that the shape of the message passes over. */
  readonly passedOver?: ReadonlySet<string>;
}

/** The signs of the active dialects. */
export class Signs {
  readonly #lists: ReadonlyMap<SignName, ReadonlySet<string>>;
  readonly payeeKeys: readonly string[];
  readonly #ofAround = new WeakMap<object, FoundSigns>();

  /** @param all the lists of signs.yaml, and those of dialects. */
  constructor(all: readonly SignLists[]) {
    this.#lists = new Map(
      signNames.map((name) => {
        const entries = all.flatMap((lists) => lists[name] ?? []);
        const fold = wordLists.has(name) ? (text: string) => readWord(text) ?? '' : plainName;
        return [name, new Set(entries.map(fold))] as const;
      }),
    );
    this.payeeKeys = [...new Set(all.flatMap((lists) => lists.payee_keys ?? []))];
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

  /** The same for the objects around a message, without the lists in them. */
  findForeignAround(around: unknown, at: Date | null): ForeignReason | null {
    if (!isObject(around)) return null;
    const before = this.#ofAround.get(around);
    const found = before ?? this.#search(around, { except: listsIn(around) });
    if (before === undefined) this.#ofAround.set(around, found);
    return judge(found, at);
  }

  /**
   * Finds a sign that money moved by another method than Pix, such as a boleto.
   *
   * @param messages a message without an end-to-end id, and the objects around it.
   * @returns the name or the word that says so; null: nothing says so.
   */
  findOtherMethod(messages: readonly unknown[]): string | null {
    for (const { name, value } of eachField(messages)) {
      const word = readWord(value) ?? '';
      if (this.#has('other_methods', name) && (isObject(value) || says(value))) return name;
      if (this.#has('methods_at', name) && this.#has('other_method_words', word)) return word;
    }
    return null;
  }

  /**
   * @param completed the words that the active dialects declare for a completed payment.
   * @returns whether a response says anywhere that its payment was accepted or made.
   */
  saysSuccess(body: unknown, completed: ReadonlySet<string>): boolean {
    for (const { name, value } of eachField(body)) {
      const word = readWord(value) ?? '';
      const isWord =
        this.#has('success_words_at', name) &&
        (this.#has('success_words', word) || completed.has(word));
      const isFlag = this.#has('success_flags', name) && isTrue(word);
      const isNumber = this.#has('success_numbers', name) && /^2\d\d$/.test(word);
      if (isWord || isFlag || isNumber) return true;
    }
    return false;
  }

  /** Returns every value at a place of a code, at any depth. */
  findCodes(body: unknown): unknown[] {
    return [...eachField(body)]
      .filter(({ name, value }) => this.#has('codes', name) && value !== '')
      .map(({ value }) => value);
  }

  /**
   * @param objects the objects of a response that describe what was asked for.
   * @returns whether a response says that its request has failed.
   */
  saysFailure(objects: readonly unknown[]): boolean {
    return objects.filter(isObject).some((object) =>
      Object.entries(object).some(([spelling, value]) => {
        const name = plainName(spelling);
        const word = readWord(value);
        return (
          (this.#has('success_words_at', name) && this.#has('failure_words', word ?? '')) ||
          (this.#has('failure_flags', name) && word !== null && isFalse(word)) ||
          (this.#has('success_numbers', name) && /^[45]\d\d$/.test(word ?? '')) ||
          (this.#has('failure_contents', name) && says(value))
        );
      }),
    );
  }

  #has(list: SignName, text: string): boolean {
    return this.#lists.get(list)?.has(text) === true;
  }

  #search(message: unknown, { except = [], passedOver }: SearchOptions): FoundSigns {
    let { reason, latestMs } = noSigns;
    for (const { name, value } of eachField(message, except, passedOver)) {
      reason ??= this.#reasonOf(name, value);
      if (this.#has('times', name)) latestMs = Math.max(latestMs, readTimeMs(value));
    }
    return { reason, latestMs };
  }

  #reasonOf(name: string, value: unknown): ForeignReason | null {
    const word = readWord(value);
    if (this.#has('scheduled', name) && says(value)) return 'scheduled';
    if (this.#has('cancelled', name) && says(value)) return 'cancellation';
    if (this.#has('tests', name) && says(value)) return 'test';
    if (this.#has('test_words_at', name) && this.#has('test_words', word ?? '')) return 'test';
    if (this.#has('live_flags', name) && word !== null && isFalse(word)) return 'test';
    // The fields of an object are read themselves.
    const isOther = says(value) && !isObject(value) && !this.#has('currencies', word ?? '');
    return this.#has('currencies_at', name) && isOther ? 'other_currency' : null;
  }
}

function judge({ reason, latestMs }: FoundSigns, at: Date | null): ForeignReason | null {
  const isAhead = at !== null && latestMs > at.getTime() + maxAheadMs;
  return reason ?? (isAhead ? 'dated_ahead' : null);
}

function listsIn(object: object): unknown[] {
  return Object.values(object).filter((value) => Array.isArray(value));
}

/** Yields the fields of a value's objects, at any depth; those that are null are absent. */
function* eachField(
  message: unknown,
  except: readonly unknown[] = [],
  passedOver: ReadonlySet<string> = new Set(),
): Generator<FoundField> {
  const open: (readonly [value: unknown, path: string])[] = [[message, '']];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, path] = next;
    const items = Array.isArray(value) ? (value as unknown[]) : [];
    for (const one of items) if (!except.includes(one)) open.push([one, path]);
    if (!isObject(value)) continue;
    for (const [spelling, inner] of Object.entries(value)) {
      if (inner === null || inner === undefined) continue;
      const name = plainName(spelling);
      const place = path === '' ? name : `${path}.${name}`;
      if (!passedOver.has(place)) yield { name, value: inner };
      if (typeof inner === 'object' && !except.includes(inner)) open.push([inner, place]);
    }
  }
}

const falseWords: ReadonlySet<string> = new Set([
  '',
  'FALSE',
  '0',
  'NO',
  'N',
  'NAO',
  'NÃO',
  'NONE',
  'NULL',
]);

const isTrue = (word: string): boolean => ['TRUE', '1', 'YES', 'Y', 'SIM', 'S'].includes(word);

const isFalse = (word: string): boolean => falseWords.has(word);

/** Whether a field says something. */
function says(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  const word = readWord(value);
  return word === null ? value !== null && value !== undefined : !isFalse(word);
}

const isoDate = /^\d{4}-\d{2}-\d{2}$/;
const isoTime =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?$/i;
const brazilianTime = /^(\d{2})\/(\d{2})\/(\d{4})(?:[ T,]+(\d{2}:\d{2}(?::\d{2})?))?$/;

/** The offset of São Paulo, where a time says none. */
const brasilia = '-03:00';

/** The smallest number that is a time: 2001 in seconds, and in milliseconds. */
const [leastSeconds, leastMs] = [1e9, 1e12];

/** @returns milliseconds since 1970; -Infinity for a value that is no time. */
function readTimeMs(value: unknown): number {
  const text = typeof value === 'string' ? value.trim().slice(0, 40) : value;
  const number = typeof text === 'string' && /^\d{10,13}$/.test(text) ? Number(text) : text;
  if (typeof number === 'number') {
    if (number >= leastMs) return number;
    return number >= leastSeconds ? number * 1_000 : Number.NEGATIVE_INFINITY;
  }
  const ms = typeof text === 'string' ? Date.parse(inIso(text)) : Number.NaN;
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}

/** A date is its first moment. */
function inIso(text: string): string {
  if (isoDate.test(text)) return `${text}T00:00:00${brasilia}`;
  const [, date, time, offset = brasilia] = isoTime.exec(text) ?? [];
  if (date !== undefined) return `${date}T${time}${offset.toUpperCase()}`;
  const [, day, month, year, hour = '00:00'] = brazilianTime.exec(text) ?? [];
  return day === undefined ? '' : `${year}-${month}-${day}T${hour}${brasilia}`;
}
