/**
 * Faults of the database: it is unavailable for seconds, is read-only, has a full disk, refuses
 * single statements, or executes a statement after the process has given it up.
 */
import { isDatabaseTrouble } from '../../src/db/unavailable.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { FaultProfile } from './fault-profile.ts';

const writing = /\b(?:insert into|update \w|delete from|for (?:no key )?update|for share)\b/i;

const writers = new Map<string, boolean>();

/** Whether a read-only server refuses the statement: it writes, or it locks rows. */
export function writes(text: string): boolean {
  const isWriter = writers.get(text) ?? writing.test(text);
  writers.set(text, isWriter);
  return isWriter;
}

/** The error that a process gets instead of a response, in the driver's words. */
export class DatabaseFault extends Error {
  readonly code: string | undefined;

  /** @param code an SQLSTATE or a network error code; undefined: the error has only a message. */
  constructor(code: string | undefined, message = `simulated: ${code}`) {
    // The stack of a simulated fault is not used, and capturing it is slow.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'DatabaseFault';
    this.code = code;
  }
}

/** Whether the database has failed, as the service reports it to the app. */
export function isOutage(error: unknown): boolean {
  return error instanceof DatabaseFault && isDatabaseTrouble(error);
}

/** The outcome of a statement that is on its way to the server. */
export interface StatementFate {
  /** Whether the server executes it, `lateMs` after the process has given it up. */
  readonly isDone: boolean;
  /** The error that the process gets; null: it gets the response. */
  readonly error: DatabaseFault | null;
  readonly late?: { readonly givenUpAfterMs: number; readonly lateMs: number };
}

/** A period in which the database accepts no statements, or no writes. */
interface Window {
  readonly kind: 'outage' | 'read-only window' | 'full disk';
  /** The only process that is cut off; null: all processes are. */
  readonly process: Owner | null;
  /** The step at which it began. */
  readonly beganAt: number;
  readonly untilMs: number;
}

export interface DatabaseFaultsOptions {
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  /** An embedded database has no network, and no other process locks its rows. */
  readonly isOnServer: boolean;
  /** Called when the processes that were cut off are connected again. */
  readonly reconnected: (process: Owner | null) => void;
}

const windowsMs = [1_000, 3_000, 10_000, 30_000] as const;

/** The shortest time between two windows. */
const quietMs = 20_000;

/** The probability that a statement under way at the beginning of an outage was executed. */
const doneBefore = 0.3;

/** The SQLSTATEs of refused statements, which are rolled back (PostgreSQL, appendix A). */
const refusals = ['40P01', '55P03', '57014', '40001', '53300', '57P01'] as const;

/** The driver's time-outs for a response, one for each of the service's two pools. */
const readTimeoutsMs = [8_000, 35_000] as const;

/** The longest delay of a statement whose connection was closed. */
const latestMs = 30_000;

const done: StatementFate = { isDone: true, error: null };

export class DatabaseFaults {
  readonly #options: DatabaseFaultsOptions;
  readonly #owner: Owner = { name: 'database' };
  #window: Window | null = null;
  /** No window begins before this time, so that the service makes progress. */
  #quietUntilMs = -Infinity;

  constructor(options: DatabaseFaultsOptions) {
    this.#options = options;
  }

  /** A process is about to take a step: the database may fail meanwhile. */
  strike(process: Owner): void {
    const { scheduler, profile, isOnServer } = this.#options;
    const { chance } = scheduler;
    if (this.#window || scheduler.nowMs < this.#quietUntilMs) return;
    if (!chance.happens(profile().databaseWindows)) return;
    const kind = isOnServer
      ? chance.pick(['outage', 'outage', 'read-only window', 'full disk'] as const)
      : 'full disk';
    const isPartial = kind === 'outage' && chance.happens(0.4);
    this.open(kind, isPartial ? process : null);
  }

  /** Begins a window in which the database fails. */
  open(kind: Window['kind'], process: Owner | null): void {
    const { scheduler, reconnected } = this.#options;
    const durationMs = scheduler.chance.pick(windowsMs);
    const untilMs = scheduler.nowMs + durationMs;
    const window: Window = { kind, process, beganAt: scheduler.taken, untilMs };
    this.#window = window;
    this.#quietUntilMs = untilMs + quietMs;
    scheduler.count(`${kind}s${process ? ' of one process' : ''}`);
    scheduler.note(`${kind} of ${process?.name ?? 'all'} for ${durationMs} ms`);
    scheduler.after(this.#owner, durationMs, () => {
      if (this.#window !== window) return;
      this.#window = null;
      scheduler.note(`the ${kind} is over`);
      if (kind === 'outage') reconnected(process);
    });
  }

  /** Whether a process cannot reach the database. */
  isCutOff(process: Owner): boolean {
    const window = this.#window;
    if (window?.kind !== 'outage') return false;
    return window.process === null || window.process === process;
  }

  /**
   * Decides the result of a statement.
   * @param request the statement, its process, and the step at which it was sent.
   */
  chooseFate(request: {
    readonly owner: Owner;
    readonly requestedAt: number;
    readonly text: string;
  }) {
    const fate = this.#inWindow(request) ?? this.#alone(request.text);
    if (fate.error) this.#options.scheduler.count(`statements: ${describeFate(fate)}`);
    return fate;
  }

  #inWindow({
    owner,
    requestedAt,
    text,
  }: {
    readonly owner: Owner;
    readonly requestedAt: number;
    readonly text: string;
  }): StatementFate | null {
    const { chance } = this.#options.scheduler;
    const window = this.#window;
    if (window === null) return null;
    if (window.kind !== 'outage') {
      if (!writes(text)) return null;
      const code = window.kind === 'full disk' ? '53100' : '25006';
      return { isDone: false, error: new DatabaseFault(code) };
    }
    if (!this.isCutOff(owner)) return null;
    if (requestedAt < window.beganAt) {
      return { isDone: chance.happens(doneBefore), error: brokenConnection(chance.below(3)) };
    }
    return { isDone: false, error: noConnection(chance.below(3)) };
  }

  #alone(text: string): StatementFate {
    const { scheduler, profile, isOnServer } = this.#options;
    const { chance } = scheduler;
    const { refusals: refused, lateCommits, databaseFaults } = profile();
    if (chance.happens(databaseFaults)) {
      return { isDone: chance.happens(0.5), error: new DatabaseFault('ECONNRESET') };
    }
    if (!isOnServer) return done;
    if (chance.happens(refused)) {
      return { isDone: false, error: new DatabaseFault(chance.pick(refusals)) };
    }
    if (!writes(text) || !chance.happens(lateCommits)) return done;
    const late = {
      givenUpAfterMs: chance.pick(readTimeoutsMs),
      lateMs: chance.below(latestMs),
    };
    return { isDone: true, error: new DatabaseFault(undefined, 'Query read timeout'), late };
  }
}

function describeFate({ error, isDone, late }: StatementFate): string {
  if (late) return 'done after the time-out';
  return `${error?.code ?? error?.message}${isDone ? ' after' : ''}`;
}

function brokenConnection(variant: number): DatabaseFault {
  if (variant === 0) return new DatabaseFault('57P01');
  if (variant === 1) return new DatabaseFault(undefined, 'Connection terminated unexpectedly');
  return new DatabaseFault('ECONNRESET');
}

function noConnection(variant: number): DatabaseFault {
  if (variant === 0) return new DatabaseFault('57P03');
  if (variant === 1) {
    return new DatabaseFault(undefined, 'timeout exceeded when trying to connect');
  }
  return new DatabaseFault('ECONNREFUSED');
}
