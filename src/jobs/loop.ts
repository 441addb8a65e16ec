/**
 * The job loop: claims due jobs and runs them. It is written once; a job is only its `run`.
 *
 * A claimed job is held under a lease that a heartbeat renews. A process that dies stops renewing,
 * and any other loop puts its jobs back once the lease has run out.
 */
import { randomUUID } from 'node:crypto';
import type { Context } from '../context/context.ts';
import {
  bringPeriodicJobsForward,
  claimJobs,
  ensurePeriodicJob,
  jobsChannel,
  releaseLapsedJobs,
  renewLeases,
  type Lease,
  type RunningJobs,
} from './job-repository.ts';
import { Poller } from '../process/poller.ts';
import { maxRunMs, type JobTable, type LeasedJob } from './job.ts';
import { JobRuns, maxAttempts } from './runner.ts';

export interface LoopOptions {
  readonly context: Context;
  readonly jobs: JobTable;
  /** How long a claimed job is safe from other loops without a heartbeat. */
  readonly leaseMs?: number;
  /** The longest sleep. With the lease it bounds how long a dead process's job waits. */
  readonly pollMs?: number;
  /** How many jobs of a kind it takes from the queue at a time, unless the kind says otherwise. */
  readonly concurrency?: number;
  /** Spreads retries; between 0 and 1. */
  readonly random?: () => number;
}

interface Begun {
  readonly kind: string;
  readonly worker: string;
  readonly beganAtMs: number;
  readonly isStuck: boolean;
}

/** The loop of one process; any number of processes may have one on the same database. */
export class JobLoop {
  readonly #context: Context;
  readonly #jobs: JobTable;
  readonly #leaseMs: number;
  readonly #pollMs: number;
  readonly #concurrency: number;
  readonly #runs: JobRuns;
  readonly #worker = randomUUID();
  /** How many leases it has had: each has a holder of its own. */
  #leases = 0;
  readonly #running = new Map<string, Promise<void>>();
  /** The lease of each running job, when it began, and whether it is stuck. */
  readonly #begun = new Map<string, Begun>();
  readonly #poller: Poller;
  #healthy = false;
  /** The kinds of which the last claim found as many as there was room for: more may be due. */
  #full = new Set<string>();
  /** How many claimed jobs of each kind are running. */
  readonly #claimed = new Map<string, number>();
  #releaseDueMs = -Infinity;
  #cancelHeartbeat: () => void = () => undefined;
  #stopListening: () => Promise<void> = () => Promise.resolve();

  constructor(options: LoopOptions) {
    this.#context = options.context;
    this.#jobs = options.jobs;
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#pollMs = options.pollMs ?? 5_000;
    this.#concurrency = options.concurrency ?? 64;
    const { context, jobs, random = Math.random } = options;
    this.#runs = new JobRuns({ context, jobs, random });
    const { clock } = context;
    this.#poller = new Poller({ clock, pollMs: this.#pollMs, poll: () => this.#poll() });
  }

  /** Whether the queue could be read the last time. */
  get healthy(): boolean {
    return this.#poller.isRunning && this.#healthy;
  }

  async start(): Promise<void> {
    await this.#ensurePeriodicJobs();
    this.#stopListening = await this.#context.db.listen(jobsChannel, () => this.wake());
    this.#beat();
    await this.#poller.start();
  }

  /** Reads the queue now. */
  wake(): void {
    this.#poller.wake();
  }

  /** Stops claiming and waits for the jobs that run. It may be called twice. */
  async stop(): Promise<void> {
    const stopped = this.#poller.stop();
    await this.#stopListening().catch(() => undefined);
    await stopped;
    await Promise.allSettled(this.#running.values());
    this.#cancelHeartbeat();
  }

  get #periodicKinds(): string[] {
    return Object.keys(this.#jobs).filter((kind) => this.#jobs[kind]?.everyMs !== undefined);
  }

  async #ensurePeriodicJobs(): Promise<void> {
    const now = this.#context.clock.now();
    for (const kind of this.#periodicKinds) {
      const { canWait = false, everyMs = 0 } = this.#jobs[kind] ?? {};
      const firstRunAt = canWait ? new Date(now.getTime() + everyMs) : now;
      await ensurePeriodicJob(this.#context, kind, firstRunAt);
    }
  }

  /** Reads the queue once, and claims as much as there is room for. */
  async #poll(): Promise<number> {
    try {
      await this.#releaseLapsed();
      const nextDueMs = await this.#claim();
      this.#healthy = true;
      return Math.min(this.#releaseDueMs, nextDueMs);
    } catch (error) {
      this.#healthy = false;
      // What is due is not known: each job that ends polls again.
      this.#full = new Set(Object.keys(this.#jobs));
      this.#context.log.error({ error }, 'the job queue could not be read');
      return Infinity;
    }
  }

  /** At most once per poll interval. */
  async #releaseLapsed(): Promise<void> {
    const now = this.#context.clock.now();
    const dueInMs = this.#releaseDueMs - now.getTime();
    // Due later than a poll interval: the wall clock has been ahead.
    if (dueInMs > 0 && dueInMs <= this.#pollMs) return;
    await this.#bringPeriodicJobsForward(now);
    await releaseLapsedJobs(this.#context, {
      maxAttempts,
      running: this.#leased([...this.#running.keys()]),
      periodicKinds: this.#periodicKinds,
    });
    this.#releaseDueMs = now.getTime() + this.#pollMs;
  }

  async #bringPeriodicJobsForward(now: Date): Promise<void> {
    const latest = this.#periodicKinds.map((kind) => {
      const { everyMs = 0 } = this.#jobs[kind] ?? {};
      return [kind, new Date(now.getTime() + everyMs)] as const;
    });
    await bringPeriodicJobsForward(this.#context, new Map(latest));
  }

  /** @returns when the next job is due, in ms since 1970; Infinity if there is none, or no room. */
  async #claim(): Promise<number> {
    const rooms = new Map(Object.keys(this.#jobs).map((kind) => [kind, this.#room(kind)]));
    this.#full = new Set([...rooms.keys()].filter((kind) => rooms.get(kind) === 0));
    const kinds = [...rooms.keys()].filter((kind) => !this.#full.has(kind));
    // A full loop is woken by the job that ends.
    if (kinds.length === 0) return Infinity;
    for (const kind of this.#full) rooms.delete(kind);
    const { jobs, nextRunAt } = await claimJobs(this.#context, this.#newLease(), rooms);
    for (const job of jobs) this.#runClaimed(job);
    for (const kind of kinds) {
      const found = jobs.filter((job) => job.kind === kind).length;
      if (found === rooms.get(kind)) this.#full.add(kind);
    }
    // Jobs that ended during this poll have woken no one.
    if ([...this.#full].some((kind) => this.#room(kind) > 0)) this.wake();
    return nextRunAt?.getTime() ?? Infinity;
  }

  /** How many more jobs of a kind it may take. */
  #room(kind: string): number {
    const most = this.#jobs[kind]?.concurrency ?? this.#concurrency;
    return Math.max(0, most - (this.#claimed.get(kind) ?? 0));
  }

  #runClaimed(job: LeasedJob): void {
    const { kind } = job;
    const count = (change: number): void =>
      void this.#claimed.set(kind, (this.#claimed.get(kind) ?? 0) + change);
    count(1);
    this.#watch(job, this.#runs.run(job), () => count(-1));
  }

  #newLease(): Lease {
    const leasedUntil = new Date(this.#context.clock.now().getTime() + this.#leaseMs);
    this.#leases += 1;
    return { worker: `${this.#worker}/${this.#leases}`, leasedUntil };
  }

  #beat(): void {
    this.#cancelHeartbeat = this.#context.clock.after(this.#leaseMs / 3, () => {
      void this.#renew().finally(() => this.#beatAgain());
    });
  }

  #beatAgain(): void {
    if (this.#poller.isRunning || this.#running.size > 0) this.#beat();
  }

  async #renew(): Promise<void> {
    if (this.#running.size === 0) return;
    try {
      const leasedUntil = new Date(this.#context.clock.now().getTime() + this.#leaseMs);
      await renewLeases(this.#context, this.#leased(this.#renewable()), leasedUntil);
    } catch (error) {
      this.#context.log.error({ error }, 'the leases of running jobs could not be renewed');
    }
  }

  /** Jobs with the holders of their leases. */
  #leased(ids: readonly string[]): RunningJobs {
    const workers = ids.flatMap((id) => this.#begun.get(id)?.worker ?? []);
    return { ids, workers: [...new Set(workers)] };
  }

  /** The running jobs whose run is not stuck. */
  #renewable(): string[] {
    const nowMs = this.#context.clock.now().getTime();
    for (const [id, begun] of this.#begun) {
      const { kind, beganAtMs, isStuck } = begun;
      const maxMs = this.#jobs[kind]?.maxMs ?? maxRunMs;
      if (isStuck || nowMs - beganAtMs <= maxMs) continue;
      this.#begun.set(id, { ...begun, isStuck: true });
      this.#context.metrics.stuckJobs.inc({ kind });
      this.#context.log.error({ jobId: id, kind, maxMs }, 'a job is stuck: its lease runs out');
    }
    return [...this.#running.keys()].filter((id) => !this.#begun.get(id)?.isStuck);
  }

  /** @param run resolves to whether the job may be back in the queue. */
  #watch(job: LeasedJob, run: Promise<boolean>, release: () => void): void {
    const watched = run.then((mayBeQueued) => {
      // A job that lost its lease may run here a second time by now.
      if (this.#running.get(job.id) === watched) {
        this.#running.delete(job.id);
        this.#begun.delete(job.id);
      }
      release();
      if (mayBeQueued || this.#full.has(job.kind)) this.wake();
    });
    this.#running.set(job.id, watched);
    const beganAtMs = this.#context.clock.now().getTime();
    const { id, kind, worker } = job;
    this.#begun.set(id, { kind, worker, beganAtMs, isStuck: false });
  }
}
