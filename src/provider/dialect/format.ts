/**
 * The format of a dialect's file: the TypeScript types of its content, and the JSON schema that
 * checks it. Every scalar is a text, because the file is read without YAML's types. README.md
 * explains each key.
 */
import { Ajv, type ErrorObject } from 'ajv';
import { reportedDisputeStatuses } from '../../domain/dispute.ts';
import { signsSchema, type SignLists } from '../signs.ts';
import { isObject } from '../wire-reading.ts';
import { amountUnits, timeForms, type AmountUnit, type TimeForm } from './values.ts';

/** The word of a file for a field that is known and says nothing. */
export const silent = 'SILENT';

/** What a status word proves. */
export const meanings = [
  'PROCESSING',
  /** The provider holds a payment while it analyses it. */
  'UNDER_ANALYSIS',
  'COMPLETED',
  /** The word alone proves that nothing was executed. */
  'FAILED',
  /** It proves that only beside a code of `not_executed`. */
  'FAILED_WITH_CODE',
  /** A charge ended unpaid. */
  'EXPIRED',
  /** Of a dispute. */
  ...reportedDisputeStatuses,
] as const;

export type Meaning = (typeof meanings)[number];

export const directions = ['OUT', 'IN', 'OTHER'] as const;

export type Direction = (typeof directions)[number];

export const kinds = [
  'payment',
  'received',
  'refund',
  'dispute',
  'nothing',
  'list',
  'page',
  'line',
  'keys',
  'key',
] as const;

export type Kind = (typeof kinds)[number];

/** Where a message may stand, besides in a list of another shape. */
export const scopes = ['event', 'statement', 'key list', 'created key'] as const;

export const idNames = [
  'endToEnd',
  'clientRequestId',
  'txid',
  'providerId',
  'returnId',
  'disputeId',
] as const;

export type IdName = (typeof idNames)[number];

/** The keys of `whole`: see `Envelope`. */
const envelopeKeys = [
  'known',
  'page',
  'pages',
  'size',
  'total',
  'next',
  'more',
  'full',
  'answer',
] as const;

export type EnvelopeKey = (typeof envelopeKeys)[number];

export type OneOrMore = string | readonly string[];

export interface ColumnFile {
  readonly at: OneOrMore;
  /** Words with their meaning, or the names of tables. */
  readonly words: OneOrMore | Readonly<Record<string, string>>;
  /** The meaning of an absent field; `SILENT` by default. */
  readonly absent?: string;
}

export interface ShapeFile {
  readonly name: string;
  readonly kind: Kind;
  readonly of?: OneOrMore;
  readonly when: Readonly<Record<string, OneOrMore>>;
  readonly each?: string;
  readonly ids?: Readonly<Partial<Record<IdName, OneOrMore>>>;
  readonly alone?: 'true';
  readonly amount?: { readonly at: OneOrMore; readonly unit: AmountUnit; readonly signed?: 'true' };
  readonly payee?: Readonly<Partial<Record<'key' | 'document' | 'agency' | 'account', OneOrMore>>>;
  readonly time?: { readonly at: OneOrMore; readonly form: TimeForm };
  readonly status?: readonly ColumnFile[];
  readonly direction?: readonly ColumnFile[];
  readonly flow?: 'IN' | 'OUT' | 'EITHER';
  readonly code?: OneOrMore;
  readonly whole?: Readonly<Partial<Record<EnvelopeKey, OneOrMore>>>;
  readonly passes_over?: OneOrMore;
  /** Further names that are guarded in this message. */
  readonly guards?: OneOrMore;
  readonly why?: string;
}

export interface DialectFile {
  readonly source: OneOrMore;
  readonly markers?: OneOrMore;
  readonly guards?: OneOrMore;
  /** Names under which the word of an event may stand at other providers. */
  readonly other_markers?: OneOrMore;
  /** Names that count only in a message that has no word of an event. */
  readonly weak_markers?: OneOrMore;
  readonly tables?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Codes, as {@link readRefusalCodes} reads them. */
  readonly not_executed?: Readonly<Record<string, unknown>>;
  /** Further names and words of signs.yaml. */
  readonly signs?: SignLists;
  /** Absent in a file that has codes only. */
  readonly shapes?: readonly ShapeFile[];
}

const text = { type: 'string', minLength: 1, maxLength: 200 } as const;
const texts = { type: 'array', items: text, minItems: 1 } as const;
const oneOrMore = { anyOf: [text, texts] } as const;
const dictionary = { type: 'object', additionalProperties: text } as const;

function closed(properties: object, required: readonly string[] = []): object {
  return { type: 'object', properties, required, additionalProperties: false };
}

function fields(names: readonly string[]): object {
  return closed(Object.fromEntries(names.map((name) => [name, oneOrMore])));
}

const column = closed(
  { at: oneOrMore, words: { anyOf: [text, texts, dictionary] }, absent: text },
  ['at', 'words'],
);
const columns = { type: 'array', items: column, minItems: 1 };

const shape = closed(
  {
    name: { ...text, pattern: '^[A-Za-z][A-Za-z ,-]*$' },
    kind: { enum: kinds },
    of: oneOrMore,
    when: { type: 'object', additionalProperties: oneOrMore, minProperties: 1 },
    each: text,
    ids: fields(idNames),
    alone: { const: 'true' },
    amount: closed({ at: oneOrMore, unit: { enum: amountUnits }, signed: { const: 'true' } }, [
      'at',
      'unit',
    ]),
    payee: fields(['key', 'document', 'agency', 'account']),
    time: closed({ at: oneOrMore, form: { enum: timeForms } }, ['at', 'form']),
    status: columns,
    direction: columns,
    flow: { enum: ['IN', 'OUT', 'EITHER'] },
    code: oneOrMore,
    whole: fields(envelopeKeys),
    passes_over: oneOrMore,
    guards: oneOrMore,
    why: text,
  },
  ['name', 'kind', 'when'],
);

const file = closed(
  {
    source: oneOrMore,
    markers: oneOrMore,
    guards: oneOrMore,
    other_markers: oneOrMore,
    weak_markers: oneOrMore,
    tables: { type: 'object', additionalProperties: dictionary },
    not_executed: { type: 'object' },
    signs: signsSchema,
    shapes: { type: 'array', items: shape, minItems: 1 },
  },
  ['source'],
);

const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile<DialectFile>(file);

/**
 * Checks the structure of a file's content.
 * @returns the faults, each with its place; empty for a {@link DialectFile}.
 */
export function structureFaults(content: unknown): string[] {
  if (validate(content)) return [];
  return [...new Set((validate.errors ?? []).map((fault) => formatFault(fault, content)))];
}

function formatFault(
  { instancePath, message, params, keyword }: ErrorObject,
  content: unknown,
): string {
  const place = formatPlace(instancePath, content);
  const name: unknown = params['additionalProperty'];
  if (keyword === 'additionalProperties') return `${place}: unknown key ${String(name)}`;
  const allowed: unknown = params['allowedValues'];
  const list = Array.isArray(allowed) ? `: ${allowed.join(', ')}` : '';
  return `${place} ${message ?? 'is invalid'}${list}`;
}

/** Names a shape by its name instead of its number, if it has one. */
function formatPlace(instancePath: string, content: unknown): string {
  const [first, number = '', ...rest] = instancePath.slice(1).split('/');
  const list: unknown = first === 'shapes' && isObject(content) ? content[first] : null;
  const one: unknown = Array.isArray(list) ? list[Number(number)] : null;
  const name: unknown = isObject(one) ? one['name'] : null;
  const place = typeof name === 'string' ? [`shape ${name}`, ...rest] : [first, number, ...rest];
  return place.filter(Boolean).join('.') || 'the file';
}

/** The texts of a key that has one text or a list. */
export function toList(value: OneOrMore | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}
