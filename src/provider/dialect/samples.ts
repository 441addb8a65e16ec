/**
 * The samples of a dialect: messages of the provider with the reading that is expected of them.
 * They run whenever dialects are loaded.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../wire-reading.ts';
import type { WebhookItem } from '../webhook-events.ts';
import type { StatementLine } from '../provider.ts';
import type { Dialects } from './dialects.ts';
import { parsePayload } from './payload.ts';
import type { Shape } from './shape.ts';

/** A message and what is read of it. Fields that are null or absent may be left out. */
export interface Sample {
  readonly name: string;
  /** Where the message is published. */
  readonly source?: string;
  readonly event?: unknown;
  readonly statement?: unknown;
  readonly keys?: unknown;
  readonly createdKey?: unknown;
  /** Events, the lines of a statement, or keys. */
  readonly reads: readonly unknown[];
  /** Of a statement: whether the lines are all. */
  readonly isWhole?: boolean;
}

/**
 * Runs the samples of a dialect, and checks that each of its shapes has one.
 * @returns the faults, with the name of the sample; empty when every reading is the expected one.
 */
export function sampleFaults(
  dialects: Dialects,
  { name, samples }: { readonly name: string; readonly samples: string | null },
): string[] {
  const ofDialect = dialects.shapes.filter((shape) => shape.name.startsWith(`${name}/`));
  const read: Read[] = [];
  const faults: string[] = [];
  const parsed = parseSamples(samples);
  if (parsed === null) {
    return [`${name}: its samples are no JSON list of objects with a name and a list reads`];
  }
  for (const sample of parsed) {
    const { items, isWhole } = readSample(dialects, sample);
    read.push(...items);
    const found = items.map(({ result }) => result);
    if (isDeepStrictEqual([found, isWhole], [sample.reads, sample.isWhole])) continue;
    const whole = isWhole === undefined ? '' : `, isWhole ${isWhole}`;
    faults.push(`${name}: the sample ${sample.name} reads as ${JSON.stringify(found)}${whole}`);
  }
  return [...faults, ...ofDialect.flatMap((shape) => uncovered(shape, read))];
}

interface Read {
  readonly shape: string | null;
  readonly amountCents: number | null;
  readonly result: unknown;
}

/** @returns null for a text that is no list of samples. */
function parseSamples(text: string | null): readonly Sample[] | null {
  if (text === null) return [];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every(isSample) ? list : null;
  } catch {
    return null;
  }
}

function isSample(value: unknown): value is Sample {
  if (!isObject(value)) return false;
  return typeof value['name'] === 'string' && Array.isArray(value['reads']);
}

/**
 * Reads the bytes of an event or of a statement.
 * @returns what a sample of the message has.
 */
export function readMessage(
  dialects: Dialects,
  bytes: Buffer,
  { isStatement }: { readonly isStatement: boolean },
): Pick<Sample, 'reads' | 'isWhole'> {
  if (!isStatement) return { reads: [...dialects.eachStoredEvent(bytes)].map(shortItem) };
  const statement = parsePayload(bytes)?.content ?? null;
  const { items, isWhole = false } = readSample(dialects, { statement });
  return { reads: items.map(({ result }) => result), isWhole };
}

/** Reads a message, and of a statement whether it is whole. */
export function readSample(
  dialects: Dialects,
  sample: Omit<Sample, 'name' | 'reads'>,
): { readonly items: readonly Read[]; readonly isWhole?: boolean } {
  if (sample.keys !== undefined) {
    return { items: (dialects.readKeys(sample.keys) ?? []).map(readOfKey) };
  }
  if (sample.createdKey !== undefined) {
    return { items: dialects.readCreatedKeys(sample.createdKey, null).map(readOfKey) };
  }
  if (sample.statement === undefined) {
    return { items: dialects.readEvents(sample.event).map(readOfItem) };
  }
  const statement = dialects.readStatement(sample.statement, false);
  if (statement === null) return { items: [] };
  const { lines, isWhole } = statement;
  return { items: lines.map(readOfLine), isWhole };
}

const readOfLine = (line: StatementLine): Read => ({ ...noRead, result: shortLine(line) });

const readOfKey = (key: string): Read => ({ ...noRead, result: key });

const noRead = { shape: null, amountCents: null } as const;

function readOfItem(item: WebhookItem): Read {
  return { shape: item.shape, amountCents: item.amountCents, result: shortItem(item) };
}

/** An event without the fields that say nothing, or only what the shape says of every message. */
function shortItem(item: WebhookItem): object {
  const { index: _, name: __, isNamedAlone: ___, ids, payee, at, ...rest } = item;
  const all = { ...rest, ...ids, ...payee, at: at?.toISOString() };
  return filled(all);
}

function shortLine({ ids, ...line }: StatementLine): object {
  return filled({ ...ids, ...line });
}

function filled(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

const sampled: ReadonlySet<string> = new Set([
  'payment',
  'received',
  'refund',
  'dispute',
  'nothing',
]);

/**
 * A unit that is wrong is caught by nothing else where no transaction has the amount yet, so each
 * shape with an amount needs a sample whose amount is not a whole hundred.
 */
function uncovered({ name, kind, amount }: Shape, read: readonly Read[]): string[] {
  if (!sampled.has(kind)) return [];
  const ofShape = read.filter(({ shape }) => shape === name);
  if (ofShape.length === 0) return [`${name}: no sample is read by it: add one (.samples.json)`];
  const isPrecise = ofShape.some(
    ({ amountCents }) => amountCents !== null && amountCents % 100 !== 0,
  );
  return amount === null || isPrecise ? [] : [`${name}: no sample has an amount with centavos`];
}
