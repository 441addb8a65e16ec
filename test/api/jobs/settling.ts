/** Webhook events, delivered to the service and settled one by one, as by the queue. */
import assert from 'node:assert/strict';
import { newEndToEndId } from '../../../src/domain/pix.ts';
import { nilUuid } from '../../../src/domain/text.ts';
import { wakeWaitingEvents } from '../../../src/settlement/event-queue-repository.ts';
import { settleQueued } from '../../../src/settlement/settle-event.ts';
import type { ItemOutcome } from '../../../src/settlement/event-reader.ts';
import { startPixApp, type PixApp, type StoredPix } from '../pix/pix-app.ts';
import type { TestApp, TestAppOptions } from '../../support/app.ts';
import { givenCustomer, logIn, type TestUser } from '../../support/factories.ts';

export interface Settlement {
  readonly eventId: string;
  /** The event's status. */
  readonly status: string;
  readonly items: readonly ItemOutcome[];
  /** When the next attempt is due, or null. */
  readonly retryAt: Date | null;
}

export interface ReceivedRow {
  readonly id: string;
  readonly amount: string;
  readonly end_to_end: string;
  readonly pix_key: string | null;
}

export interface SettlingApp extends PixApp {
  readonly customer: TestUser;
  /** A send that the provider has accepted. */
  givenSend(key?: string, amount?: number): Promise<StoredPix & { readonly end_to_end: string }>;
  /** Delivers an event over HTTP and settles it. */
  receive(payload: unknown): Promise<Settlement>;
  /** Delivers an event only, and gives its id. */
  deliver(payload: unknown): Promise<string>;
  /** Settles an event that is in the queue. */
  settle(eventId: string): Promise<Settlement>;
  /** The end-to-end id of a payment that begins at another institution. */
  newEndToEnd(): string;
  /** Registers a user's e-mail as a PIX key, which the provider lists from then on. */
  listEmail(user: TestUser): Promise<void>;
  /** BACEN's list of one PIX that came in. */
  pix(item: Record<string, unknown>): unknown;
  /** What a user has received without a charge, the smallest amount first. */
  receivedBy(user: Pick<TestUser, 'id'>): Promise<ReceivedRow[]>;
  /** The ids of the delivered events that are not settled. */
  unsettled(): Promise<string[]>;
  /** The next attempt at an event is due an hour later. */
  postpone(eventId: string): Promise<void>;
  /** When the next attempt at an event is due; undefined: it is not in the queue. */
  readDue(eventId: string): Promise<Date | undefined>;
  /** The same after a queue has looked for what events wait for. */
  readWoken(eventId: string): Promise<Date | undefined>;
}

/** Starts a service whose events the test settles by hand, with a customer. */
export async function startSettlingApp(options: TestAppOptions = {}): Promise<SettlingApp> {
  const app = await startPixApp({ environment: { JOBS: 'off', ...options.environment } });
  const customer = await givenCustomer(app, { document: '52998224725' });
  const deliver = async (payload: unknown): Promise<string> => {
    const response = await app.call('/webhooks/provider', { method: 'POST', body: payload });
    assert.equal(response.status, 200);
    return response.body.event_id;
  };
  const newEndToEnd = () => newEndToEndId('99999999', app.clock.now());
  let caller = customer;
  const settle = (eventId: string) => settleBy(app, eventId);
  const listEmail = async ({ token }: TestUser): Promise<void> => {
    const created = await app.call('/pix/keys', { token, body: { key_type: 'E_MAIL' } });
    assert.equal(created.status, 201);
    assert.equal((await app.call('/pix/keys', { token })).status, 200);
  };
  await listEmail(customer);
  return {
    ...app,
    customer,
    deliver,
    settle,
    receive: async (payload) => settle(await deliver(payload)),
    async givenSend(key, amount = 10.5) {
      const body = { pix_key: 'ana@example.com', amount };
      const request = key === undefined ? {} : { key };
      let response = await app.send(caller, body, request);
      // The time that a test lets pass may be longer than a token lasts.
      if (response.status === 401) {
        caller = { ...customer, token: await logIn(app, customer.email) };
        response = await app.send(caller, body, request);
      }
      assert.equal(response.body.status, 'PROCESSING', JSON.stringify(response.body));
      const stored = await app.stored(response.body.transaction_id);
      assert.ok(stored.end_to_end !== null);
      return { ...stored, end_to_end: stored.end_to_end };
    },
    newEndToEnd,
    listEmail,
    pix: (item) => ({
      pix: [{ horario: '2026-05-24T12:00:00.000Z', endToEndId: newEndToEnd(), ...item }],
    }),
    receivedBy: ({ id }) =>
      app.rows<ReceivedRow>(
        `select id, amount, end_to_end, pix_key from pix_transactions
          where user_id = $1 and operation = 'RECEIVED' and status = 'COMPLETED' order by amount`,
        [id],
      ),
    async unsettled() {
      const rows = await app.rows<{ id: string }>(
        `select id from webhook_events where status = 'received'`,
      );
      return rows.map(({ id }) => id);
    },
    async postpone(eventId) {
      await wakeWaitingEvents(app.context, nilUuid);
      await app.rows(
        `update webhook_queue set due_at = due_at + interval '1 hour' where event_id = $1`,
        [eventId],
      );
    },
    readDue: (eventId) => readDue(app, eventId),
    async readWoken(eventId) {
      await wakeWaitingEvents(app.context, nilUuid);
      return readDue(app, eventId);
    },
  };
}

async function readDue(app: Pick<TestApp, 'rows'>, eventId: string): Promise<Date | undefined> {
  const [queued] = await app.rows<{ due_at: Date }>(
    'select due_at from webhook_queue where event_id = $1',
    [eventId],
  );
  return queued?.due_at;
}

/** Attempts an event, as the queue does when it is due. */
export async function settleBy(
  app: Pick<TestApp, 'clock' | 'rows' | 'context'>,
  eventId: string,
): Promise<Settlement> {
  const dueAt = new Date(app.clock.now().getTime() + 10_000);
  await app.rows('update webhook_queue set due_at = $2, waits = waits + 1 where event_id = $1', [
    eventId,
    dueAt,
  ]);
  const [known] = await app.rows<{ since: Date; waits: number }>(
    `select coalesce(waiting_since, received_at) as since, coalesce(waits, 0) as waits
       from webhook_events
       left join webhook_queue on event_id = id where id = $1`,
    [eventId],
  );
  assert.ok(known, 'the event is stored');
  const { since: waitingSince, waits } = known;
  await settleQueued(app.context, { eventId, dueAt, waitingSince, waits, failures: 0 });
  const [event] = await app.rows<{ status: string; results: ItemOutcome[] }>(
    'select status, results from webhook_events where id = $1',
    [eventId],
  );
  assert.ok(event, 'the event is stored');
  const retryAt = (await readDue(app, eventId)) ?? null;
  return { eventId, status: event.status, items: event.results, retryAt };
}

/** The result of an item: `applied`, or `anomaly: amount_mismatch`. */
export function results({ items }: Settlement): string[] {
  return items.map(({ result, reason }) =>
    reason === undefined ? result : `${result}: ${reason}`,
  );
}

/** Checks the ends in a timeline: one, or a failure that was corrected. */
export function assertEnds(timeline: readonly string[], status: string): void {
  const ends = timeline.filter((line) => line.startsWith('SETTLED'));
  const isCorrected = status === 'COMPLETED' && ends.length > 1;
  const corrected = ['SETTLED FAILED event', 'SETTLED corrected event'];
  const ended = status === 'PROCESSING' ? [] : [`SETTLED ${status} event`];
  assert.deepEqual(ends, isCorrected ? corrected : ended);
}

/** A flat event of a payment that was confirmed; of one that failed, with a listed code. */
export function confirmed(changes: Record<string, unknown>): Record<string, unknown> {
  const isFailed = changes['status'] === 'ERROR';
  const error = isFailed ? { error: { code: 'AC03' } } : {};
  return { event: 'PIX_PAYMENT_OUT', status: 'CONFIRMED', ...error, ...changes };
}
