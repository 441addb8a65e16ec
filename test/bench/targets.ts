/** The targets of the service, relative to the reference of the same run. */
import type { CaseName } from './cases/names.ts';
import type { Measurement } from './measure.ts';

/** The measurements of the same load on each server. */
export interface Quartet {
  readonly reference: Measurement;
  readonly grouped: Measurement;
  readonly least: Measurement;
  readonly ponte: Measurement;
}

export type Results = ReadonlyMap<CaseName, Quartet>;

export interface Verdict {
  /** The target in words, such as `≥ 3.5×`. */
  readonly target: string;
  readonly value: string;
  readonly isMet: boolean;
}

/** The least ratio to the rate of the reference, at many connections. */
const minRatio: Readonly<Partial<Record<CaseName, number>>> = {
  read: 5,
  replay: 5,
  send: 2.5,
  webhook: 2,
  balance: 4,
  login: 0.95,
};

/** The most CPU of a send, of the server and PostgreSQL together, in microseconds. */
const maxSendUs = 300;

/** The most bytes of PostgreSQL's log for a request. */
const mostLogBytes: Readonly<Partial<Record<CaseName, number>>> = { send: 1_700, webhook: 2_200 };

/** The least share of the practical limit. */
const minOfGrouped = 0.8;

/** The least ratio at one connection, where requests cannot share work: no worse than plain. */
const minRatioAtOne = 1;

/** The ratios to the plain reference and to the practical limits. */
export function computeRatios({ ponte, reference, grouped, least }: Quartet) {
  return {
    ofReference: ponte.perSecond / reference.perSecond,
    ofGrouped: ponte.perSecond / grouped.perSecond,
    ofLeast: ponte.perSecond / least.perSecond,
  };
}

/** @returns the targets of a case with the measured values. */
export function judgeCase(name: CaseName, results: Results, connections: number): Verdict[] {
  const measured = results.get(name);
  if (!measured) return [];
  const { ponte, reference } = measured;
  const { ofReference, ofGrouped } = computeRatios(measured);
  const least = connections === 1 ? minRatioAtOne : minRatio[name];
  const verdicts: Verdict[] = [];
  if (least !== undefined && name in minRatio) {
    const value = `${ofReference.toFixed(2)}×`;
    verdicts.push({ target: `≥ ${least}×`, value, isMet: ofReference >= least });
  }
  verdicts.push(
    {
      target: `≥ ${minOfGrouped} of grouped`,
      value: ofGrouped.toFixed(2),
      isMet: ofGrouped >= minOfGrouped,
    },
    {
      target: `p99 < ${reference.p99Ms.toFixed(1)} ms`,
      value: `${ponte.p99Ms.toFixed(1)} ms`,
      isMet: ponte.p99Ms < reference.p99Ms,
    },
  );
  if (name === 'send' && ponte.serverCpuUs !== null && ponte.databaseCpuUs !== null) {
    const us = ponte.serverCpuUs + ponte.databaseCpuUs;
    verdicts.push({
      target: `CPU ≤ ${maxSendUs} µs`,
      value: `${us.toFixed(0)} µs`,
      isMet: us <= maxSendUs,
    });
  }
  const maxBytes = mostLogBytes[name];
  if (maxBytes !== undefined) {
    verdicts.push({
      target: `log ≤ ${maxBytes} B`,
      value: `${ponte.logBytes.toFixed(0)} B`,
      isMet: ponte.logBytes <= maxBytes,
    });
  }
  const alone = results.get('read')?.ponte;
  if (name === 'read-with-logins' && alone) verdicts.push(...besideLogins(ponte, alone));
  return verdicts;
}

/** During logins reads keep at least 75 % of their rate, and less than twice their p99. */
function besideLogins(ponte: Measurement, alone: Measurement): Verdict[] {
  const kept = ponte.perSecond / alone.perSecond;
  return [
    { target: 'keeps ≥ 75 %', value: `${(kept * 100).toFixed(0)} %`, isMet: kept >= 0.75 },
    {
      target: `p99 < 2 × ${alone.p99Ms.toFixed(1)} ms`,
      value: `${ponte.p99Ms.toFixed(1)} ms`,
      isMet: ponte.p99Ms < 2 * alone.p99Ms,
    },
  ];
}

/** The measured values of the process itself. */
export interface Footprint {
  readonly readyMs: number;
  readonly idleMb: number | null;
  readonly loadedMb: number | null;
  readonly loopDelayMs: number;
  /** The delay of the plain reference, which is the target. */
  readonly referenceLoopDelayMs: number;
}

export function footprintVerdicts(footprint: Footprint): Verdict[] {
  const { readyMs, idleMb, loadedMb, loopDelayMs, referenceLoopDelayMs } = footprint;
  const memory = (mb: number | null, most: number, when: string): Verdict[] =>
    mb === null
      ? []
      : [{ target: `${when} ≤ ${most} MB`, value: `${mb.toFixed(0)} MB`, isMet: mb <= most }];
  return [
    { target: 'ready < 500 ms', value: `${readyMs.toFixed(0)} ms`, isMet: readyMs < 500 },
    ...memory(idleMb, 120, 'idle'),
    ...memory(loadedMb, 220, 'under load'),
    {
      target: `event loop ≤ ${referenceLoopDelayMs.toFixed(1)} ms`,
      value: `${loopDelayMs.toFixed(1)} ms`,
      isMet: loopDelayMs <= referenceLoopDelayMs,
    },
  ];
}
