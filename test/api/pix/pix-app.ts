/** The service as the PIX tests use it: sends, charges, what is stored of them, and waiting. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { PixOutcome, PixPhase, PixStatus } from '../../../src/domain/pix.ts';
import {
  startTestApp,
  type TestResponse,
  type TestApp,
  type TestAppOptions,
  type TestRequest,
} from '../../support/app.ts';
import { joinSteps } from '../../../src/ledger/timeline.ts';
import type { ManualClock } from '../../support/clock.ts';
import { eventually as lookEventually } from '../../support/eventually.ts';
import type { TestUser } from '../../support/factories.ts';

/** The columns of a transaction that the tests read. */
export interface StoredPix {
  readonly id: string;
  readonly status: PixStatus;
  readonly phase: PixPhase;
  readonly outcome: PixOutcome | null;
  readonly failure_code: string | null;
  readonly amount: string;
  readonly pix_key: string;
  readonly description: string | null;
  readonly end_to_end: string | null;
  readonly transaction_identification: string | null;
  readonly provider_txid: string | null;
  readonly refunded_amount: string | null;
  readonly claimed_until: Date | null;
}

export interface PixApp extends TestApp {
  send(user: TestUser, body: unknown, request?: TestRequest): Promise<TestResponse>;
  charge(user: TestUser, body: unknown, request?: TestRequest): Promise<TestResponse>;
  view(user: TestUser, id: string, headers?: Record<string, string>): Promise<TestResponse>;
  /** The stored transaction. */
  stored(id: string): Promise<StoredPix>;
  /** How many transactions a user has. */
  countRows(user: TestUser): Promise<number>;
  /** How many orders a user has that were not refused. */
  countMade(user: TestUser): Promise<number>;
  /** The timeline, a line a row: `PAYING 1`, `ACCEPTED 1 2xx`, `SETTLED COMPLETED event`. */
  timeline(id: string): Promise<string[]>;
  /** Waits until the transaction has a final status. */
  settled(id: string): Promise<StoredPix>;
  /** The end-to-end ids of the payments that the bank has executed for a user, newest first. */
  executed(user: TestUser): Promise<string[]>;
  /** The results of the webhook items about a transaction, once there are that many. */
  resultsFor(id: string, count: number): Promise<string[]>;
  anomalies(): Promise<number>;
  /** Awaits work that waits for time: time-outs and back-offs end as soon as they have begun. */
  throughTime<T>(work: Promise<T>): Promise<T>;
  /** The same with longer waits: the sleeps of queues, the back-off of outcomes that are kept. */
  throughPolls<T>(work: Promise<T>): Promise<T>;
  /** Resolves when there is a wait of exactly that duration. */
  waiting(delayMs: number): Promise<void>;
  /** Resolves when there is no wait of exactly that duration any more. */
  released(delayMs: number): Promise<void>;
}

/** Longer than any wait of the provider layer, shorter than any other. */
const maxProviderWaitMs = 1_000;

/** The longest back-off of an outcome that is kept, and the sleeps of the queues. */
const longWaits = { maxMs: 10_000, polls: true };

/** Starts the service of a test file. */
export async function startPixApp(options: TestAppOptions = {}): Promise<PixApp> {
  const app = await startTestApp(options);
  const waits = watchWaits(app.clock);
  const post =
    (path: string) =>
    ({ token }: TestUser, body: unknown, request: TestRequest = {}): Promise<TestResponse> =>
      app.call(path, { token, key: randomUUID(), body, ...request });
  const stored = async (id: string): Promise<StoredPix> => {
    const [row] = await app.rows<StoredPix>('select * from pix_transactions where id = $1', [id]);
    assert.ok(row, 'there is no such transaction');
    return row;
  };
  return {
    ...app,
    send: post('/pix/send'),
    charge: post('/pix/charge'),
    view: ({ token }, id, headers = {}) => app.call(`/pix/${id}`, { token, headers }),
    stored,
    countRows: (user) => countRows(app, user),
    countMade: (user) => countMade(app, user),
    timeline: (id) => readTimeline(app, id),
    async settled(id) {
      await eventually(async () => (await stored(id)).status !== 'PROCESSING');
      return stored(id);
    },
    executed: (user) => executed(app, user),
    resultsFor: (id, count) => resultsFor(app, id, count),
    anomalies: async () => (await app.context.metrics.pixAnomalies.get()).values[0]?.value ?? 0,
    throughTime: (work) => throughTime(work, { clock: app.clock, waits }),
    throughPolls: (work) => throughTime(work, { clock: app.clock, waits, ...longWaits }),
    waiting: (delayMs) => eventually(() => [...waits].some((wait) => wait.delayMs === delayMs)),
    released: (delayMs) => eventually(() => [...waits].every((wait) => wait.delayMs !== delayMs)),
  };
}

async function countRows(app: TestApp, { id }: TestUser): Promise<number> {
  const rows = await app.rows('select id from pix_transactions where user_id = $1', [id]);
  return rows.length;
}

async function countMade(app: TestApp, { id }: TestUser): Promise<number> {
  const rows = await app.rows(
    `select id from pix_transactions
      where user_id = $1 and outcome is distinct from 'not_sent'`,
    [id],
  );
  return rows.length;
}

interface TimelineRow {
  readonly phase: PixPhase;
  readonly attempt: number | null;
  readonly provider_status: string | null;
  readonly note: string | null;
  readonly event_id: string | null;
}

async function readTimeline(app: TestApp, id: string): Promise<string[]> {
  const rows = await app.rows<TimelineRow>(
    `select step.* from pix_transactions t, ${joinSteps}
      where t.id = $1 order by step.id, step.place`,
    [id],
  );
  return rows.map(({ phase, attempt, provider_status: providerStatus, note, event_id: event }) =>
    [phase, attempt, providerStatus, note, event && 'event'].filter(Boolean).join(' '),
  );
}

async function executed(app: TestApp, { token }: TestUser): Promise<string[]> {
  const { status, body } = await app.call('/accounts/statement', { token });
  assert.equal(status, 200);
  const items: { type: string; endToEnd: string }[] = body.items.remote;
  return items.filter(({ type }) => type === 'PIX_PAYMENT_OUT').map(({ endToEnd }) => endToEnd);
}

interface WebhookRow {
  readonly results: readonly { readonly result: string }[];
}

async function resultsFor(app: TestApp, id: string, count: number): Promise<string[]> {
  let rows: WebhookRow[] = [];
  await eventually(async () => {
    rows = await app.rows<WebhookRow>(
      'select results from webhook_events where results @> $1::jsonb order by id',
      [JSON.stringify([{ transactionId: id }])],
    );
    return rows.length >= count;
  });
  return rows.flatMap(({ results }) => results.map(({ result }) => result));
}

interface Wait {
  readonly delayMs: number;
  /** Its stack has the code that set the timer. */
  readonly place: Error;
}

/**
 * Whether a poller set the timer, until its next look at a queue: no request waits for it, it is
 * any length up to the poller's interval, and it is set again and again.
 */
const isPoll = ({ place }: Wait): boolean => place.stack?.includes('/process/poller.') ?? false;

/** Keeps the nearest callers only: most places are never read, and a long stack takes time. */
function currentPlace(): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 4;
  const place = new Error('where');
  Error.stackTraceLimit = stackTraceLimit;
  return place;
}

/** Keeps an eye on what waits for the clock. */
function watchWaits(clock: ManualClock): ReadonlySet<Wait> {
  const waits = new Set<Wait>();
  const after = clock.after.bind(clock);
  clock.after = (delayMs, work) => {
    const wait = { delayMs, place: currentPlace() };
    waits.add(wait);
    const cancel = after(delayMs, () => {
      waits.delete(wait);
      work();
    });
    return () => {
      waits.delete(wait);
      cancel();
    };
  };
  return waits;
}

interface ThroughTimeOptions {
  readonly clock: ManualClock;
  readonly waits: ReadonlySet<Wait>;
  readonly maxMs?: number;
  /** Whether sleeps of queues end, too. */
  readonly polls?: boolean;
}

/** Ends each wait that is at most as long, until the work is done. */
async function throughTime<T>(
  work: Promise<T>,
  { clock, waits, maxMs = maxProviderWaitMs, polls = false }: ThroughTimeOptions,
): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  // Awaited at the end; until then a failure is not an unhandled one.
  done.catch(() => undefined);
  await eventually(async () => {
    if (isDone) return true;
    // Not to a time that is computed: a back-off ends between two milliseconds.
    const ends = (wait: Wait): boolean => wait.delayMs <= maxMs && (polls || !isPoll(wait));
    if ([...waits].some(ends)) await clock.advanceToNext();
    return false;
  });
  return done;
}

/** Leaves a user some of the ninety look-ups. */
export async function leaveLookUps(
  { rows, clock }: TestApp,
  lookUps: number,
  { id }: TestUser,
): Promise<void> {
  const now = clock.now();
  await rows(
    `insert into throttle_counters (key, window_started_at, attempts, expires_at)
     values ($1, $2, 1, $3) on conflict (key) do update set expires_at = excluded.expires_at`,
    [`pix-look-ups:${id}`, now, new Date(now.getTime() + (90 - lookUps) * 30_000)],
  );
}

/** Looks at a condition until it holds. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  await lookEventually(condition, String(condition));
}
