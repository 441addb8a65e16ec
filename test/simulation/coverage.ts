/**
 * The coverage of the seeds: how often each event, and each fault, occurred to a payment in each
 * phase. It is parsed from the trace of a history, and added to its tally.
 *
 * Two hundred seeds cover every event that is possible in a phase, and every fault of an attempt.
 * Rare or missing: a stop or a clock jump between a move and the next event; a step for a payment
 * in UNKNOWN, except by a late statement; an event for a payment that was refused.
 */
import type { Verdict } from './simulate.ts';

const phases = 'before RESERVED PAYING ACCEPTED UNKNOWN REJECTED SETTLED'.split(' ');

/** The patterns by which the trace shows the events of a payment. */
const events = {
  reserve: /^P\d+ db pix-reserve-send(?:-judged)?\b/,
  'take over': /^P\d+ db pix-take-over\b/,
  step: /^P\d+ db pix-step\b/,
  attempt: /^P\d+ calls the bank: pay /,
  repeat: /^P\d+ db pix-repeat\b/,
  move: /^P\d+ db (?:pix-move|webhook-finish)\b/,
  'event stored': /^P\d+ db webhook-store\b/,
  'event read': /^P\d+ db pix-candidates\b/,
  'sweep finds': /^P\d+ db pix-(?:stale|unconfirmed)\b/,
  completed: /^webhook arrives: completed of E\d+$/,
  failed: /^webhook arrives: failed of E\d+$/,
  'posted again': /^webhook arrives: (?:completed|failed) of E\d+ again$/,
  settles: /^bank settles E\d+/,
  refunded: /^webhook arrives: refund of E\d+/,
} as const;

type Event = keyof typeof events;

/** The patterns by which the trace shows a fault during an event. */
const faultsOfEvent = {
  'not sent': /no_connection$|given up before it left$/,
  'lost before': /→ not done, (?!no_connection|simulated|timeout|Conn|Query)\w+$/,
  'lost after': /→ (?!not done).*, (?:server_error|reset|cut|silence|html|foreign_ids)$/,
  doubled: /, doubled$/,
  database: /→ (?:.*, (?:simulated|timeout exceeded|Connection|Query)|on its way$)/,
} as const;

/** The patterns of faults of a process or of the whole database, after the last event. */
const faultsAfterEvent = {
  dies: /^P\d+ dies$/,
  stops: /^P\d+ stops$/,
  frozen: /^P\d+ is frozen /,
  clock: /^the clock of P\d+ /,
  window: /^(?:outage|read-only window|full disk) of |^the database fails over/,
} as const;

const faults = ['none', ...Object.keys(faultsOfEvent), ...Object.keys(faultsAfterEvent)];

interface Payment {
  phase: string;
  /** The last event, its process, and its line in the trace. */
  event: Event | null;
  process: string | null;
  at: number;
}

/** Adds the coverage of a history to its tally. */
export function withCoverage(verdict: Verdict): Verdict {
  const tally = new Map(verdict.tally);
  const payments = new Map<string, Payment>();
  for (const [at, line] of verdict.trace.entries()) {
    const text = line.replace(/^ *[\d.]+ /, '');
    const process = /\bP\d+\b/.exec(text)?.[0] ?? null;
    const event = nameIn(events, text);
    const fault = nameIn<string>(event ? faultsOfEvent : faultsAfterEvent, text);
    if (event === null && fault === null) continue;
    const named = paymentsIn(text, payments);
    const met = named.length > 0 ? named : inHand(payments, process);
    // A statement that names no payment most likely belongs to the last one.
    for (const payment of event ? met.slice(0, named.length || 1) : met) {
      if (event) Object.assign(payment, { event, process, at });
      if (payment.event === null) continue;
      const key = [payment.phase, payment.event, fault ?? 'none'].join(separator);
      tally.set(key, (tally.get(key) ?? 0) + 1);
    }
    for (const [, name = '', phase = ''] of text.matchAll(/\b(tx\d+)(?: E\d+)? ([A-Z]+) [A-Z]+/g)) {
      const known = payments.get(name);
      if (known) known.phase = phase;
    }
  }
  return { ...verdict, tally };
}

const separator = ' × ';

function nameIn<Name extends string>(patterns: Patterns<Name>, text: string): Name | null {
  const names = Object.keys(patterns) as Name[];
  return names.find((name) => patterns[name].test(text)) ?? null;
}

type Patterns<Name extends string> = Readonly<Record<Name, RegExp>>;

/** The payments that a line names. */
function paymentsIn(text: string, payments: Map<string, Payment>): readonly Payment[] {
  const found = new Set<Payment>();
  for (const [ids] of text.matchAll(/\btx\d+(?: E\d+)?|\bE\d+/g)) {
    const names = ids.split(' ');
    const known = names.map((name) => payments.get(name)).find((one) => one !== undefined);
    const payment = known ?? { phase: 'before', event: null, process: null, at: 0 };
    for (const name of names) payments.set(name, payment);
    found.add(payment);
  }
  return [...found];
}

/** The open payments whose last event was in a process, the latest first; null: in any. */
function inHand(payments: Map<string, Payment>, process: string | null): readonly Payment[] {
  return [...new Set(payments.values())]
    .filter((one) => !finalPhases.has(one.phase) && (process === null || one.process === process))
    .toSorted((one, other) => other.at - one.at);
}

const finalPhases: ReadonlySet<string> = new Set(['REJECTED', 'SETTLED']);

/** The coverage as a table, with a list of what never occurred. */
export function coverageText(tally: ReadonlyMap<string, number>): string {
  const lines = [formatRow(['phase', 'event', ...faults])];
  const never: string[] = [];
  for (const phase of phases) {
    const missed: string[] = [];
    for (const event of Object.keys(events) as Event[]) {
      const counts = faults.map((fault) => tally.get([phase, event, fault].join(separator)) ?? 0);
      if (counts.every((count) => count === 0)) {
        missed.push(event);
        continue;
      }
      lines.push(formatRow([phase, event, ...counts.map((count) => String(count || '.'))]));
      const rest = faults.filter((one, place) => counts[place] === 0 && canStrike(one, event));
      const isOpen = phase !== 'before' && !finalPhases.has(phase);
      if (isOpen && rest.length > 0)
        never.push(`never in ${phase}: ${event} with ${rest.join(', ')}`);
    }
    if (missed.length > 0) never.push(`never in ${phase}: ${missed.join(', ')}`);
  }
  return [...lines, ...never].join('\n');
}

function formatRow([phase = '', event = '', ...counts]: readonly string[]): string {
  return phase.padEnd(10) + event.padEnd(13) + counts.map((one) => one.padStart(12)).join('');
}

/** Whether a key of a tally belongs to the coverage. */
export function isCoverage(key: string): boolean {
  return key.includes(separator);
}

/** Whether a fault can occur in an event: on the wire, in the database, or in a process. */
function canStrike(fault: string, event: Event): boolean {
  const isOfDatabase = events[event].source.includes(' db ');
  if (['none', 'window'].includes(fault)) return true;
  if (fault === 'database') return isOfDatabase;
  return fault in faultsAfterEvent ? isOfDatabase || event === 'attempt' : event === 'attempt';
}
