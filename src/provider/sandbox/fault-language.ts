/**
 * The language of fault rules:
 *
 *     faults = rule, rule, …
 *     rule   = path : effect + effect …            always
 *            | path : effect + effect … @ chance   with a chance, over 0 and up to 1
 *            | path : effect + effect … # times    for this many calls (the control path only)
 *     effect = name | name = value
 *
 * A path is one of the provider's, below /internal/api/v1 or (`onboarding/…`) below /core/v2, or
 * `*` for any of them. For example
 * `payments:5xx-after@0.1, keys/dict:latency=200ms@0.5, *:401@0.01`.
 */
import { operationNames } from './contract.ts';

/** The unit of an effect's value: a duration, a status of the 5xx range, a number of bytes. */
type Unit = 'none' | 'time' | 'status' | 'bytes';

interface Kind {
  /** `before`: the call is not executed; `after`: it is, and the response is faulty. */
  readonly when: 'delay' | 'before' | 'after';
  readonly unit: Unit;
  /** The default value: milliseconds, a status, bytes. */
  readonly fallback: number;
  readonly effect: string;
}

/** Every effect. Of the effects of a call, the delays and the first other one apply. */
export const effectKinds = {
  latency: { when: 'delay', unit: 'time', fallback: 100, effect: 'the response comes later' },
  '401': { when: 'before', unit: 'none', fallback: 0, effect: 'the token is refused' },
  '429': { when: 'before', unit: 'time', fallback: 30_000, effect: 'too many calls (Retry-After)' },
  redirect: { when: 'before', unit: 'none', fallback: 0, effect: 'a redirect to elsewhere' },
  '5xx-before': { when: 'before', unit: 'status', fallback: 503, effect: 'an error, not executed' },
  '5xx-after': { when: 'after', unit: 'status', fallback: 500, effect: 'an error, executed' },
  'reset-before': { when: 'before', unit: 'none', fallback: 0, effect: 'a reset, not executed' },
  'reset-after': { when: 'after', unit: 'none', fallback: 0, effect: 'a reset, executed' },
  'reset-amid': { when: 'after', unit: 'none', fallback: 0, effect: 'half a response, a reset' },
  'hang-before': { when: 'before', unit: 'none', fallback: 0, effect: 'no response, not executed' },
  hang: { when: 'after', unit: 'none', fallback: 0, effect: 'no response, executed' },
  html: { when: 'after', unit: 'none', fallback: 0, effect: 'HTML with status 200' },
  truncated: { when: 'after', unit: 'none', fallback: 0, effect: 'half of the JSON, status 200' },
  'foreign-ids': { when: 'after', unit: 'none', fallback: 0, effect: 'ids of another payment' },
  drip: { when: 'after', unit: 'time', fallback: 50, effect: 'a byte of the response at a time' },
  huge: { when: 'after', unit: 'bytes', fallback: 50_000_000, effect: 'a body of many megabytes' },
} as const satisfies Record<string, Kind>;

export type EffectName = keyof typeof effectKinds;

/** One fault of a call; `value` is milliseconds, a status or bytes, by its kind. */
export interface Effect {
  readonly name: EffectName;
  readonly value: number;
  /** The longest latency of a range. */
  readonly upTo?: number;
}

/** Which calls are faulty, and how. */
export interface FaultRule {
  /** A path of the provider's, or `*`. */
  readonly path: string;
  readonly effects: readonly Effect[];
  /** Over 0 and up to 1. */
  readonly chance: number;
  /** For this many calls; null: for all. */
  readonly times: number | null;
}

/** A text that is not in the language; the message names the part and what is expected. */
export class FaultSyntaxError extends Error {
  override readonly name = 'FaultSyntaxError';
}

/**
 * Reads rules.
 * @throws FaultSyntaxError.
 */
export function parseFaults(text: string): FaultRule[] {
  return text
    .split(',')
    .map((rule) => rule.trim())
    .filter((rule) => rule !== '')
    .map(parseRule);
}

const ruleForm = /^([^:\s]+)\s*:\s*([^@#]+?)\s*(?:([@#])\s*([\d.]+))?$/;

function parseRule(text: string): FaultRule {
  const [, path = '', effects = '', sign, number] = ruleForm.exec(text) ?? [];
  if (path === '') throw new FaultSyntaxError(`${quoted(text)} is not path:effect`);
  if (path !== '*' && !operationNames.has(path)) {
    throw new FaultSyntaxError(`${quoted(path)} is none of ${['*', ...operationNames].join(', ')}`);
  }
  const chance = sign === '@' ? Number(number) : 1;
  if (!(chance > 0 && chance <= 1)) {
    throw new FaultSyntaxError(`the chance of ${quoted(text)} is not over 0 and up to 1`);
  }
  const times = sign === '#' ? Number(number) : null;
  if (times !== null && !(Number.isInteger(times) && times > 0)) {
    throw new FaultSyntaxError(`the number of calls of ${quoted(text)} is not 1 or more`);
  }
  return { path, effects: effects.split('+').map(parseEffect), chance, times };
}

function parseEffect(text: string): Effect {
  const [name = '', value, ...rest] = text.split('=').map((part) => part.trim());
  if (!Object.hasOwn(effectKinds, name) || rest.length > 0) {
    const names = Object.keys(effectKinds).join(', ');
    throw new FaultSyntaxError(`${quoted(text.trim())} is none of ${names}`);
  }
  const known = name as EffectName;
  const { unit, fallback } = effectKinds[known];
  if (value === undefined) return { name: known, value: fallback };
  const [from = '', to, ...more] = value.split('..');
  const amounts = [from, ...(to === undefined ? [] : [to])].map(readers[unit]);
  const [first, last] = amounts;
  const isReadable = amounts.every((amount) => amount !== null) && more.length === 0;
  const isRange = to !== undefined;
  if (!isReadable || typeof first !== 'number' || (isRange && known !== 'latency')) {
    throw new FaultSyntaxError(`${quoted(text.trim())} takes ${expected[unit]}`);
  }
  return { name: known, value: first, ...(typeof last === 'number' && { upTo: last }) };
}

const expected: Readonly<Record<Unit, string>> = {
  none: 'no value',
  time: 'a time such as 200ms or 2s (a latency also a range: 50ms..2s)',
  status: 'a status from 500 to 599',
  bytes: 'a size such as 2MB or 500KB',
};

const readers: Readonly<Record<Unit, (text: string) => number | null>> = {
  none: () => null,
  time: (text) => scaled(text, /^(\d{1,7})(ms|s)$/, { ms: 1, s: 1_000 }),
  status: (text) => (/^5\d\d$/.test(text) ? Number(text) : null),
  bytes: (text) => scaled(text, /^(\d{1,6})(KB|MB)$/, { KB: 1_000, MB: 1_000_000 }),
};

function scaled(
  text: string,
  form: RegExp,
  units: Readonly<Record<string, number>>,
): number | null {
  const [, digits, unit = ''] = form.exec(text) ?? [];
  return digits === undefined ? null : Number(digits) * (units[unit] ?? 1);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

/** The language of faults: its paths and effects. */
export function faultHints(): string[] {
  const effects = Object.entries(effectKinds);
  const width = Math.max(...effects.map(([name]) => name.length));
  return [
    'rules, separated by commas: path:effect, path:effect=value, path:effect+effect,',
    'each for one call, or with #times (payments:hang#2) for as many',
    'of the option --faults: each for every call, or with @chance (0.1: one call in ten)',
    `paths: *, ${[...operationNames].join(', ')}`,
    'effects:',
    ...effects.map(([name, { effect }]) => `  ${name.padEnd(width)}  ${effect}`),
  ];
}

/** @returns the error of invalid rules; null for valid ones. */
export function findFaultError(rules: string): string | null {
  try {
    parseFaults(rules);
    return null;
  } catch (error) {
    if (error instanceof FaultSyntaxError) return error.message;
    throw error;
  }
}
