/**
 * Three servers and two workers on one database receive and settle the provider's events. Two of
 * them die in the middle, and one is frozen: every acknowledged event is applied exactly once.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { createTestDatabase, serverUrl, type TestDatabase } from '../support/db.ts';
import { eventually } from '../support/eventually.ts';
import { settingsFor, startService, type ServiceProcess } from './service-process.ts';

const eventCount = 2_000;
/** The number of events that are posted twice. */
const repeatedCount = eventCount / 10;
/** The number of concurrent posts. */
const atOnce = 32;
/** The number of acknowledged events after which processes die. */
const beforeDeath = 400;

/** How long others leave an event alone whose attempt has begun. */
const attemptSeconds = 10;

/** The polling interval of a queue without notifications, and a margin for a busy machine. */
const pollSeconds = 5;
const busySeconds = 30;

/** The number of events that one process takes from the queue at the same time. */
const room = 64;
/** The number of locked transactions: more than the two workers have room for. */
const heldEvents = 8 * room;

interface Event {
  readonly transactionId: string;
  readonly endToEnd: string;
  readonly payload: string;
}

const events: readonly Event[] = Array.from({ length: eventCount }, (_, index) => {
  const endToEnd = `E11165756202611210000${String(index).padStart(11, '0')}`;
  const payload = { type: 'pix', status: 'CONFIRMED', endToEndId: endToEnd, amount: 10.01 };
  return { transactionId: randomUUID(), endToEnd, payload: JSON.stringify(payload) };
});

/** The service's response to one delivery of an event. */
interface Acknowledgement {
  readonly eventId: string;
  readonly duplicate: boolean;
}

let database: TestDatabase;
let client: pg.Client;

const skip = serverUrl ? false : 'runs on PostgreSQL; set DATABASE_URL';

describe(
  'events that come to several processes, two of which die, while one is frozen',
  { skip, timeout: 120_000 },
  () => {
    before(async () => {
      database = await createTestDatabase();
      client = new pg.Client({ connectionString: database.databaseUrl });
      await client.connect();
      await recordEnds();
      await givenAcceptedSends();
    });

    after(async () => {
      await client.end();
      await database.drop();
    });

    it('are applied once each, and the dead and the frozen leave nothing undone', async (t) => {
      const { servers, workers } = await startAll(t);
      const release = await holdTransactions(events.slice(0, heldEvents));
      const desk = new Desk(await Promise.all(servers.map((server) => server.ready())));
      const [dyingServer, dyingWorker, frozen] = [servers[0], workers[0], workers[1]];
      const posting = desk.post([...events.slice(0, heldEvents), ...shuffled(deliveries())]);
      await eventually(() => desk.acknowledged >= beforeDeath, 'the first acknowledgements');
      await eventually(allAreInTheMiddle, 'processes in the middle of attempts');
      frozen?.signal('SIGSTOP');
      dyingServer?.signal('SIGKILL');
      dyingWorker?.signal('SIGKILL');
      await Promise.all([dyingServer?.ended, dyingWorker?.ended]);
      const diedAt = new Date();
      await release();
      await posting;
      await eventually(nothingIsQueued, 'the end of all events');
      frozen?.signal('SIGCONT');
      frozen?.signal('SIGTERM');
      assert.equal((await frozen?.ended)?.code, 0);

      assertAcknowledgements(desk.acknowledgements);
      await assertAppliedOnce();
      await assertTakenOver(diedAt);
    });
  },
);

/** A settled event leaves the queue: a trigger records how often it was taken from there. */
async function recordEnds(): Promise<void> {
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query(`
    create table ends (attempts int, at timestamptz);
    grant select on ends to public;
    create function note_end() returns trigger language plpgsql security definer as $$
      begin
        insert into ends values (old.attempts, clock_timestamp());
        return old;
      end $$;
    create trigger note_end before delete on webhook_queue for each row
      execute function note_end()`);
  await owner.end();
}

/** Starts two servers that also settle events, one server that does not, and two workers. */
async function startAll(
  t: TestContext,
): Promise<{ readonly servers: ServiceProcess[]; readonly workers: ServiceProcess[] }> {
  const environment = {
    ...settingsFor(database),
    // This test never calls the provider.
    PROVIDER_STUB: 'false',
    PROVIDER_BASE_URL: 'http://127.0.0.1:1',
  };
  const servers = ['inline', 'inline', 'off'].map((place) =>
    startService(t, { ...environment, JOBS: place }),
  );
  const workers = [1, 2].map(() => startService(t, environment, 'worker'));
  await Promise.all([...servers, ...workers].map((process) => process.ready()));
  return { servers, workers };
}

/** @returns every event, some of them twice. */
function deliveries(): Event[] {
  return [...events.slice(heldEvents), ...events.slice(-repeatedCount)];
}

/** Shuffles the items in the same way in every run. */
function shuffled(items: readonly Event[]): Event[] {
  const order = items.map((item, index) => ({ item, place: (index * 7_919) % items.length }));
  return order.sort((one, other) => one.place - other.place).map(({ item }) => item);
}

/** The provider: posts each event to the servers in turn, until one answers 200. */
class Desk {
  readonly acknowledgements = new Map<Event, Acknowledgement[]>();
  acknowledged = 0;
  readonly #urls: readonly string[];
  #turn = 0;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  async post(all: readonly Event[]): Promise<void> {
    const waiting = all.values();
    const poster = async (): Promise<void> => {
      for (const event of waiting) await this.#postUntilTaken(event);
    };
    await Promise.all(Array.from({ length: atOnce }, poster));
  }

  async #postUntilTaken(event: Event): Promise<void> {
    const taken = await eventually(() => this.#postOnce(event), 'a server that takes an event');
    this.acknowledgements.set(event, [...(this.acknowledgements.get(event) ?? []), taken]);
    this.acknowledged += 1;
  }

  /** @returns null when the server has died. */
  async #postOnce({ payload }: Event): Promise<Acknowledgement | null> {
    this.#turn += 1;
    const url = this.#urls[this.#turn % this.#urls.length];
    try {
      const response = await fetch(`${url}/api/v1/webhooks/provider`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: payload,
      });
      const body = (await response.json()) as { event_id: string; duplicate: boolean };
      assert.equal(response.status, 200, JSON.stringify(body));
      return { eventId: body.event_id, duplicate: body.duplicate };
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return null;
    }
  }
}

async function rows<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
  return (await client.query(sql, [...parameters])).rows as Row[];
}

/** Inserts sends that the provider has accepted, and whose final status it will report. */
async function givenAcceptedSends(): Promise<void> {
  await rows(
    `with payer as (
       insert into users (name, email, password_hash, created_at, updated_at)
       values ('Payer', 'payer@example.com', '', now(), now()) returning id
     ), sent as (
       insert into pix_transactions
              (id, user_id, operation, idempotency_key, fingerprint, status, phase, outcome, amount,
               end_to_end, created_at, updated_at)
       select one.id, payer.id, 'SEND', one.end_to_end, '', 'PROCESSING', 'ACCEPTED', 'accepted',
              10.01, one.end_to_end, now(), now()
         from payer, unnest($1::uuid[], $2::text[]) as one (id, end_to_end)
       returning id
     )
     insert into pix_timeline (transaction_id, phase, at) select id, 'ACCEPTED', now() from sent`,
    [events.map(({ transactionId }) => transactionId), events.map(({ endToEnd }) => endToEnd)],
  );
}

/**
 * Locks transactions, so that a process that settles their events waits in the middle.
 * @returns a function that releases the locks.
 */
async function holdTransactions(held: readonly Event[]): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: database.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  const ids = held.map(({ transactionId }) => transactionId);
  await holder.query('select from pix_transactions where id = any($1) for update', [ids]);
  return () => holder.end();
}

async function allAreInTheMiddle(): Promise<boolean> {
  const [begun] = await rows<{ events: number; taken: number }>(
    `select count(*)::int as events, count(*) filter (where attempts > 0)::int as taken
       from webhook_queue where due_at > now()`,
  );
  return begun !== undefined && begun.events >= heldEvents / 2 && begun.taken >= room;
}

async function nothingIsQueued(): Promise<boolean> {
  return (await rows('select from webhook_queue')).length === 0;
}

/** Asserts that at most one delivery of each event is called new, all others duplicates. */
function assertAcknowledgements(all: ReadonlyMap<Event, readonly Acknowledgement[]>): void {
  assert.equal(all.size, eventCount);
  let lost = 0;
  for (const acknowledgements of all.values()) {
    assert.equal(new Set(acknowledgements.map(({ eventId }) => eventId)).size, 1);
    const first = acknowledgements.filter(({ duplicate }) => !duplicate);
    assert.ok(first.length <= 1, 'two deliveries of an event were both called new');
    lost += 1 - first.length;
  }
  // The dead server had stored these events, but died before it could acknowledge them.
  assert.ok(lost <= atOnce, `${lost} events were never called new`);
  const repeated = [...all.values()].filter((acknowledgements) => acknowledgements.length === 2);
  assert.equal(repeated.length, repeatedCount);
}

/** Asserts that others took up the events that the dead and the frozen had begun. */
async function assertTakenOver(diedAt: Date): Promise<void> {
  const [taken] = await rows<{ events: number; seconds: number }>(
    `select count(*) filter (where attempts > 1)::int as events,
            extract(epoch from max(at) - $1)::float as seconds
       from ends`,
    [diedAt],
  );
  assert.ok(taken && taken.events > 0, 'events were taken over');
  const withinSeconds = attemptSeconds + pollSeconds + busySeconds;
  assert.ok(taken.seconds <= withinSeconds, `the last one was done after ${taken.seconds} s`);
}

async function assertAppliedOnce(): Promise<void> {
  assert.deepEqual(
    await rows(
      `select status, phase, settled, count(*)::int as transactions
         from (select t.status, t.phase,
                      (select count(*)::int from pix_timeline line
                        where line.transaction_id = t.id and line.phase = 'SETTLED') as settled
                 from pix_transactions t) t
        group by status, phase, settled`,
    ),
    [{ status: 'COMPLETED', phase: 'SETTLED', settled: 1, transactions: eventCount }],
  );
  assert.deepEqual(
    await rows('select status, count(*)::int as events from webhook_events group by status'),
    [{ status: 'processed', events: eventCount }],
  );
  assert.deepEqual(
    await rows(
      `select e.results->0->>'transactionId' as reported, t.id as settled
         from webhook_events e join pix_timeline line on line.event_id = e.id
         join pix_transactions t on t.id = line.transaction_id
        where e.results->0->>'transactionId' is distinct from t.id::text`,
    ),
    [],
  );
}
