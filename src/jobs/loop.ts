/**
 * The job loop: claims due jobs, runs them, settles what became of them. It is written once; a job
 * is only its `run`.
 *
 * A claimed job is held under a lease that a heartbeat renews. A process that dies stops renewing,
 * and any other loop puts its jobs back once the lease has run out. The loop sleeps until a
 * notification, the next job that is due, or a poll, which finds what a lost notification told.
 */
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import * as queries from '../db/queries/jobs.ts';
import type { ClaimRow, JobRow } from '../db/queries/jobs.ts';
import type { Job, JobHandler, JobResult, JobTable } from './job.ts';

export interface LoopOptions {
  readonly context: Context;
  readonly jobs: JobTable;
  /** How long a claimed job is safe from other loops without a heartbeat. */
  readonly leaseMs?: number;
  /** The longest sleep. With the lease it bounds how long a dead process's job waits. */
  readonly pollMs?: number;
  readonly concurrency?: number;
  /** Spreads retries; between 0 and 1. */
  readonly random?: () => number;
}

/** After so many failed runs a job is dead: listed, and retried only by an operator. */
const maxAttempts = 8;

const firstRetryMs = 1_000;
const longestRetryMs = 5 * 60_000;

/** The loop of one process; any number of processes may have one on the same database. */
export class JobLoop {
  readonly #context: Context;
  readonly #jobs: JobTable;
  readonly #leaseMs: number;
  readonly #pollMs: number;
  readonly #concurrency: number;
  readonly #random: () => number;
  readonly #worker = randomUUID();
  readonly #running = new Map<string, Promise<void>>();
  #state: 'new' | 'running' | 'stopping' = 'new';
  #healthy = false;
  #releaseDueMs = -Infinity;
  #round: Promise<void> | null = null;
  #roundAsked = false;
  #cancelSleep: () => void = () => undefined;
  #cancelHeartbeat: () => void = () => undefined;
  #stopListening: () => Promise<void> = () => Promise.resolve();

  constructor(options: LoopOptions) {
    this.#context = options.context;
    this.#jobs = options.jobs;
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#pollMs = options.pollMs ?? 5_000;
    this.#concurrency = options.concurrency ?? 64;
    this.#random = options.random ?? Math.random;
  }

  /** Whether the last look at the queue succeeded. */
  get healthy(): boolean {
    return this.#state === 'running' && this.#healthy;
  }

  async start(): Promise<void> {
    this.#state = 'running';
    await this.#ensurePeriodicJobs();
    this.#stopListening = await this.#context.db.listen(queries.jobsChannel, () => this.wake());
    this.#beat();
    this.wake();
    await this.#round;
  }

  /** Looks at the queue now. */
  wake(): void {
    if (this.#state !== 'running') return;
    if (this.#round) {
      this.#roundAsked = true;
      return;
    }
    this.#cancelSleep();
    this.#round = this.#look().finally(() => {
      this.#round = null;
      const again = this.#roundAsked;
      this.#roundAsked = false;
      if (again) this.wake();
    });
  }

  /** Stops claiming and waits for the jobs that run. It may be called twice. */
  async stop(): Promise<void> {
    this.#state = 'stopping';
    this.#cancelSleep();
    await this.#stopListening().catch(() => undefined);
    await this.#round;
    await Promise.allSettled(this.#running.values());
    this.#cancelHeartbeat();
  }

  get #periodicKinds(): string[] {
    return Object.keys(this.#jobs).filter((kind) => this.#jobs[kind]?.everyMs !== undefined);
  }

  async #ensurePeriodicJobs(): Promise<void> {
    const { clock, db } = this.#context;
    const now = clock.now();
    for (const kind of this.#periodicKinds) {
      const { canWait = false, everyMs = 0 } = this.#jobs[kind] ?? {};
      const firstRunAt = canWait ? new Date(now.getTime() + everyMs) : now;
      await db.query(queries.ensurePeriodic, [kind, `every:${kind}`, firstRunAt, now]);
    }
  }

  /** One look at the queue: claims as much as there is room for, and sets the next alarm. */
  async #look(): Promise<void> {
    try {
      await this.#releaseLapsed();
      const nextDueMs = await this.#claim();
      this.#sleepUntil(Math.min(this.#releaseDueMs, nextDueMs));
      this.#healthy = true;
    } catch (error) {
      this.#healthy = false;
      this.#context.log.error({ error }, 'the job queue could not be read');
      this.#sleepUntil(this.#context.clock.now().getTime() + this.#pollMs);
    }
  }

  /** Once a poll is often enough, however often the loop is woken in between. */
  async #releaseLapsed(): Promise<void> {
    const { clock, db } = this.#context;
    const now = clock.now();
    if (now.getTime() < this.#releaseDueMs) return;
    await db.query(queries.releaseLapsed, [
      now,
      maxAttempts,
      this.#worker,
      [...this.#running.keys()],
      this.#periodicKinds,
    ]);
    this.#releaseDueMs = now.getTime() + this.#pollMs;
  }

  /** @returns when the next job is due, in ms since 1970; Infinity if there is none, or no room. */
  async #claim(): Promise<number> {
    const room = this.#concurrency - this.#running.size;
    // A full loop is woken by the job that ends.
    if (room <= 0) return Infinity;
    const { clock, db } = this.#context;
    const now = clock.now();
    const leasedUntil = new Date(now.getTime() + this.#leaseMs);
    const rows = await db.query<ClaimRow>(queries.claimJobs, [
      this.#worker,
      leasedUntil,
      now,
      room,
      Object.keys(this.#jobs),
    ]);
    for (const row of rows) if (row.id !== null) this.#launch(row);
    return rows[0]?.next_run_at?.getTime() ?? Infinity;
  }

  /** To a time, not for one: what the look itself took must not make the next one late. */
  #sleepUntil(dueMs: number): void {
    this.#cancelSleep();
    if (this.#state !== 'running') return;
    const { clock } = this.#context;
    const delayMs = Math.max(0, dueMs - clock.now().getTime());
    this.#cancelSleep = clock.after(delayMs, () => this.wake());
  }

  #beat(): void {
    this.#cancelHeartbeat = this.#context.clock.after(this.#leaseMs / 3, () => {
      void this.#renew().finally(() => this.#beatAgain());
    });
  }

  #beatAgain(): void {
    if (this.#state === 'running' || this.#running.size > 0) this.#beat();
  }

  async #renew(): Promise<void> {
    if (this.#running.size === 0) return;
    const { clock, db, log } = this.#context;
    const leasedUntil = new Date(clock.now().getTime() + this.#leaseMs);
    try {
      await db.query(queries.renewLeases, [this.#worker, leasedUntil, [...this.#running.keys()]]);
    } catch (error) {
      log.error({ error }, 'the leases of running jobs could not be renewed');
    }
  }

  #launch(row: JobRow): void {
    const job: Job = { id: row.id, kind: row.kind, payload: row.payload, attempt: row.attempts };
    const work = this.#run(job).finally(() => {
      this.#running.delete(job.id);
      this.wake();
    });
    this.#running.set(job.id, work);
  }

  async #run(job: Job): Promise<void> {
    const handler = this.#jobs[job.kind];
    const { metrics, log } = this.#context;
    try {
      const result = await this.#work(job, handler);
      await this.#succeeded(job, handler, result);
      metrics.jobs.inc({ kind: job.kind, result: 'done' });
    } catch (error) {
      metrics.jobs.inc({ kind: job.kind, result: 'failed' });
      log.error({ error, jobId: job.id, kind: job.kind, attempt: job.attempt }, 'a job failed');
      await this.#failed(job, handler, error).catch((cause: unknown) => {
        // The lease runs out, and the job is taken up again.
        log.error({ error: cause, jobId: job.id }, 'a failed job was not put back');
      });
    }
  }

  #work(job: Job, handler: JobHandler | undefined): Promise<JobResult> {
    if (!handler) throw new Error('no handler for this kind of job');
    return handler.run(this.#context, job);
  }

  async #succeeded(job: Job, handler: JobHandler | undefined, result: JobResult): Promise<void> {
    const runAgainAt = result?.runAgainAt ?? this.#nextPeriod(handler);
    if (runAgainAt) return this.#requeue(job, { runAt: runAgainAt, attempts: 0, error: null });
    await this.#finish(job, 'done', null);
  }

  async #failed(job: Job, handler: JobHandler | undefined, error: unknown): Promise<void> {
    const name = error instanceof Error ? error.name : 'unknown';
    const nextPeriod = this.#nextPeriod(handler);
    if (nextPeriod) return this.#requeue(job, { runAt: nextPeriod, attempts: 0, error: name });
    if (job.attempt >= maxAttempts) return this.#finish(job, 'dead', name);
    const runAt = new Date(this.#context.clock.now().getTime() + this.#backOffMs(job.attempt));
    await this.#requeue(job, { runAt, attempts: job.attempt, error: name });
  }

  #nextPeriod(handler: JobHandler | undefined): Date | null {
    if (handler?.everyMs === undefined) return null;
    return new Date(this.#context.clock.now().getTime() + handler.everyMs);
  }

  /** Exponential, with half of it left to chance so that what failed together comes back apart. */
  #backOffMs(attempt: number): number {
    const fullMs = Math.min(longestRetryMs, firstRetryMs * 2 ** (attempt - 1));
    return fullMs / 2 + (this.#random() * fullMs) / 2;
  }

  async #finish(job: Job, status: 'done' | 'dead', error: string | null): Promise<void> {
    const { clock, db } = this.#context;
    await db.query(queries.finishJob, [job.id, this.#worker, status, error, clock.now()]);
  }

  async #requeue(
    job: Job,
    again: { runAt: Date; attempts: number; error: string | null },
  ): Promise<void> {
    const { clock, db } = this.#context;
    const { runAt, attempts, error } = again;
    await db.query(queries.requeueJob, [job.id, this.#worker, runAt, attempts, error, clock.now()]);
  }
}
