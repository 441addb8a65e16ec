/**
 * Compares the database in memory with PostgreSQL beyond the histories: every statement of the
 * service, on the tables of a history, and every constraint of the schema.
 */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { named, runAny } from '../support/intercepted.ts';
import type { Statement } from '../../src/db/database.ts';
import { isConstraintViolation } from '../../src/db/unavailable.ts';
import { nilUuid } from '../../src/domain/text.ts';
import { maxUuid } from '../../src/domain/timed-uuid.ts';
import { createTestDatabase } from '../support/db.ts';
import { simulate } from '../simulation/simulate.ts';
import { openStore } from '../simulation/store.ts';

const database = await createTestDatabase();
const { dataDir: folder, ownerUrl: databaseUrl } = database;
const store = await openStore({ engine: 'both', folder, databaseUrl });
after(async () => {
  await store.close();
  await database.drop();
});

const now = new Date('2026-06-01T12:00:00.000Z');
const later = new Date('2026-06-01T12:00:30.000Z');
const inAMinute = new Date('2026-06-01T12:01:00.000Z');
const longAgo = new Date('2026-01-01T00:00:00.000Z');
const ids = [
  '019d0000-0000-7000-8000-000000000001',
  '019d0000-0000-7000-8000-000000000002',
  '019d0000-0000-7000-8000-000000000003',
  '019d0000-0000-7000-8000-000000000004',
  '019d0000-0000-7000-8000-000000000005',
] as const;

const returnIds = [
  '019d0000-0000-7000-8000-000000000011',
  '019d0000-0000-7000-8000-000000000012',
  '019d0000-0000-7000-8000-000000000013',
  '019d0000-0000-7000-8000-000000000014',
];

/** Rows of a history, as parameters. */
const known: Record<string, unknown> = {};

before(async () => {
  await simulate(store, 29);
  const [customer] = store.customers;
  const sessions = await store.rows<{ id: string; sealed_token: Buffer }>(
    `select id, sealed_token from banking_sessions where user_id = $1 and status = 'ACTIVE'`,
    [customer?.id],
  );
  const sends = await store.rows<{ id: string; end_to_end: string; idempotency_key: string }>(
    `select id, end_to_end, idempotency_key, fingerprint from pix_transactions
      where user_id = $1 and end_to_end is not null order by id limit 1`,
    [customer?.id],
  );
  const events = await store.rows<{ id: string }>('select id from webhook_events order by id');
  const jobs = await store.rows<{ id: string }>('select id from jobs order by id');
  Object.assign(known, { customer, session: sessions[0], send: sends[0] });
  Object.assign(known, { events: events.map(({ id }) => id), jobs: jobs.map(({ id }) => id) });
  assert.ok(sessions[0] && sends[0] && events[0] && jobs[0], 'the history has stored too few rows');
  await store.differences();
});

async function agrees(work: () => Promise<unknown>, what: string): Promise<void> {
  await work().catch((error: unknown) => {
    const { name } = error as Error;
    assert.ok(name !== 'NotModelled' && name !== 'AssertionError', `${what}: ${String(error)}`);
  });
  assert.deepEqual(await store.differences(), [], what);
}

/** All statements that a module exports, at any depth. */
function statementsIn(value: unknown, seen = new Set<unknown>()): Statement[] {
  if (value === null || typeof value !== 'object' || seen.has(value)) return [];
  seen.add(value);
  if ('text' in value && 'name' in value && typeof value.text === 'string') {
    return [value as Statement];
  }
  return Object.values(value).flatMap((one) => statementsIn(one, seen));
}

/** The prefix of statements that no history runs: they encrypt stored data with a new key. */
const leftOut = 'seal-again-';

const foldersOfStatements = [
  'auth',
  'accounts',
  'disputes',
  'pix',
  'pix-keys',
  'ledger',
  'settlement',
  'onboarding',
  'jobs',
  'process',
  'retention',
  'operator',
];

async function everyStatement(): Promise<Statement[]> {
  const root = join(import.meta.dirname, '../../src');
  const found: Statement[] = [];
  for (const part of foldersOfStatements) {
    for (const file of await readdir(join(root, part))) {
      if (!file.endsWith('.ts')) continue;
      const module = (await import(join(root, part, file))) as object;
      found.push(...statementsIn({ ...module }));
    }
  }
  const byName = new Map(found.map((one) => [one.name, one]));
  return [...byName.values()].filter(({ name }) => !name.startsWith(leftOut));
}

test('every exported statement is modelled, and answers null parameters alike', async () => {
  const statements = await everyStatement();
  assert.ok(statements.length > 60);
  for (const statement of statements) {
    const places = [...statement.text.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place));
    const parameters = Array<null>(Math.max(0, ...places)).fill(null);
    await agrees(() => runAny(store.db, statement, named(statement, parameters)), statement.name);
  }
});

type Case = readonly [name: string, parameters: () => readonly unknown[]];

const of = (name: string) => known[name] as never as Record<string, unknown> & unknown[];
const user = (): unknown => of('customer')['id'];
const session = (): unknown => of('session')['id'];
const sentKey = (): unknown => of('send')['idempotency_key'];

const charge: readonly unknown[] = ['CHARGE', 'charge-1', Buffer.from('a'), '12.30', null, null];
const entry = JSON.stringify([{ phase: 'SETTLED', event_id: ids[2], note: 'COMPLETED' }]);
const moves = (...ofTransactions: (readonly [id: string, from: string])[]): string =>
  JSON.stringify(
    ofTransactions.map(([id, from_phases]) => ({
      id,
      from_phases,
      phase: 'SETTLED',
      status: 'COMPLETED',
      outcome: 'accepted',
      timeline: [{ phase: 'SETTLED', event_id: ids[2], note: 'COMPLETED' }],
    })),
  );
const jobKinds = ['settle-webhook', 'sweep-pix'];
/** The attention, the ids and the times of a filter of events. */
const anyTime = [null, nilUuid, maxUuid, longAgo, null, null];
const attempts = JSON.stringify([{ key: 'login:1', weight: 2, expires_at: later }]);

/** The life of a dispute, with what its statements refuse. */
function disputeStory(): Case[] {
  const id = () => of('send')['id'];
  const asked = (at: Date): unknown[] => [user(), id(), longAgo, 'SCAM', Buffer.from('x'), at];
  return [
    ['dispute-payment', () => [user(), id()]],
    ['dispute-request', () => asked(now)],
    ['dispute-request', () => asked(later)],
    ['dispute-claim', () => [id(), 'REQUESTED', now, later]],
    ['dispute-claim', () => [id(), 'REQUESTED', now, later]],
    ['dispute-call-ended', () => [id(), 'REQUESTED', later, false, true, now]],
    ['dispute-request', () => asked(later)],
    ['dispute-pending', () => [later, 10]],
    ['dispute-reported', () => [id(), 'OPEN', later]],
    ['dispute-request-withdrawal', () => [user(), id(), later]],
    ['dispute-pending', () => [new Date('2026-06-02'), 10]],
    ['dispute-event', () => [id(), null, 'OPEN', later]],
    ['dispute-event', () => [null, of('send')['end_to_end'], 'REJECTED', later]],
    ['dispute-event', () => [id(), of('send')['end_to_end'], 'ACCEPTED', later]],
    ['dispute-find', () => [user(), id()]],
  ];
}

/** The statements of the operations of the service, one after the other. */
const story: readonly Case[] = [
  ['find-principal', () => [session(), user(), now]],
  ['pix-view', () => [session(), user(), now, of('send')['id']]],
  ['pix-find-replay', () => [session(), user(), now, sentKey(), of('send')['fingerprint']]],
  ['pix-find-replay', () => [session(), user(), now, sentKey(), Buffer.from('other')]],
  ['pix-reserve', () => [ids[0], user(), ...charge, 'txid-1', later, now, null]],
  ['pix-reserve', () => [ids[1], user(), ...charge, 'txid-2', later, now, null]],
  [
    'pix-reserve',
    () => [ids[1], user(), ...charge.with(1, 'charge-2'), 'txid-1', later, now, null],
  ],
  [
    'pix-move',
    () => [
      ids[0],
      '{RESERVED}',
      'ACCEPTED',
      'PROCESSING',
      null,
      'accepted',
      null,
      'provider-1',
      'qr',
      'copy',
      null,
      now,
      '[{"phase":"ACCEPTED","attempt":1}]',
      0,
    ],
  ],
  [
    'webhook-store',
    () => [
      ids[2],
      Buffer.from('hash'),
      Buffer.from('{}'),
      now,
      later,
      'E9',
      of('send')['end_to_end'],
      of('send')['idempotency_key'],
      'txid-1',
      'x',
    ],
  ],
  [
    'webhook-store',
    () => [
      ids[3],
      Buffer.from('hash'),
      Buffer.from('{}'),
      now,
      now,
      null,
      null,
      null,
      null,
      'provider-1',
    ],
  ],
  ['webhook-find', () => [ids[2]]],
  [
    'pix-candidates',
    () => [of('send')['end_to_end'], of('send')['idempotency_key'], 'txid-1', 'x'],
  ],
  ['pix-candidates', () => [null, null, null, 'provider-1']],
  [
    'pix-move',
    () => [
      ids[0],
      '{ACCEPTED}',
      'SETTLED',
      'COMPLETED',
      null,
      null,
      null,
      'provider-2',
      null,
      null,
      null,
      later,
      entry,
      1,
    ],
  ],
  [
    'pix-move',
    () => [
      ids[0],
      '{SETTLED}',
      'REJECTED',
      'FAILED',
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      later,
      entry,
      0,
    ],
  ],
  ['pix-identify', () => [ids[0], 'E1', later, ids[2]]],
  ['pix-identify', () => [ids[0], 'E2', later, ids[2]]],
  ['find-payees', () => ['52998224725', '0001', '1007', 'a@b.test', true]],
  ['find-payees', () => [null, null, null, '52998224725', false]],
  ['account-keys-keep', () => [1, ['a@b.test', 'with "quotes", and commas'], '0']],
  ['account-keys-version', () => []],
  ['find-payees', () => [null, null, null, 'a@b.test', true]],
  ['account-keys-add', () => [1, ['a@b.test', 'c@b.test'], '1']],
  ['account-keys-keep', () => [2, ['a@b.test', 'd@b.test'], '1']],
  ['account-keys-keep', () => [1, ['a@b.test', 'c@b.test', 'e@b.test'], '1']],
  ['account-keys-add', () => [1, ['f@b.test'], '1']],
  ['account-keys-forget', () => [1, 'a@b.test']],
  ['account-keys-forget', () => [1, 'c@b.test']],
  ['account-keys-restore', () => [1, 'c@b.test', '6']],
  ['account-keys-restore', () => [1, 'd@b.test', '7']],
  ['account-keys-restore', () => [1, 'c@b.test', '7']],
  [
    'pix-received',
    () => [ids[1], user(), '1.00', 'key', 'E3', 'provider-3', later, ids[2], longAgo],
  ],
  ['pix-received', () => [ids[3], user(), '1.00', 'key', 'E3', 'provider-3', later, ids[2], now]],
  [
    'pix-refund',
    () => [ids[4], of('send')['id'], 'REFUND_IN', '1.00', 'D1', 'r', later, ids[2], now, 'E1'],
  ],
  ...disputeStory(),
  ...['0.40', '0.40', '0.70'].map((amount, n): Case => {
    const key = ['return-1', 'return-1', 'return-2'][n] ?? '';
    const claim = [returnIds[n], key, Buffer.from('a'), amount, ids[1], `D${n}`, 'OTHER'];
    return ['pix-reserve-return', () => [session(), user(), now, ...claim, later, true]];
  }),
  ['pix-returns', () => ['E3', 'D0']],
  ['pix-known-returns', () => [user(), ['D0', 'D9']]],
  ...['0.60', '0.61'].map((amount, n): Case => {
    const refund = [ids[1], 'REFUND_OUT', amount, `D9${n}`, 'r', later, ids[2], now, 'E3'];
    return ['pix-refund', () => [returnIds[2 + n], ...refund]];
  }),
  ['pix-list', () => [user(), longAgo, later, 3]],
  [
    'webhook-park',
    () => {
      const results = '[{"index":0,"result":"parked"}]';
      return [ids[2], 'parked', results, null, null, now, '["E9","key-9"]', later, now];
    },
  ],
  [
    'webhook-finish',
    () => [ids[2], 'processed', '[]', null, now, later, now, moves([ids[0], '{SETTLED}'])],
  ],
  ['pix-reserve', () => [ids[3], user(), ...charge.with(1, 'key-9'), 'txid-9', later, now, later]],
  ['webhook-queue-take', () => [later, inAMinute, later, [ids[3]], 5]],
  ['webhook-queue-take', () => [inAMinute, later, later, [], 5]],
  ['webhook-queue-postpone', () => [ids[2], now, inAMinute, 'E']],
  ['webhook-queue-postpone', () => [ids[2], later, inAMinute, 'E']],
  ['inspect-event', () => [ids[2]]],
  ...[now, later].map((begunAt): Case => {
    return [
      'webhook-park',
      () => [ids[2], 'parked', '[]', begunAt, now, later, '[]', inAMinute, now],
    ];
  }),
  ...[later, inAMinute].map((begunAt): Case => {
    const moved = moves([ids[3], '{RESERVED}']);
    return [
      'webhook-finish',
      () => [ids[2], 'processed', '[]', begunAt, later, inAMinute, later, moved],
    ];
  }),
  ['webhook-queue-remove', () => [ids[2]]],
  ['webhook-queue-add', () => [ids[2], later, null]],
  ['webhook-queue-add', () => [ids[2], now, later]],
  ['jobs-claim', () => ['worker', later, later, jobKinds, [5, 5]]],
  ['jobs-renew', () => [['worker'], later, of('jobs')]],
  ['jobs-release-lapsed', () => [new Date('2026-06-02'), 1, ['another'], [], ['sweep-pix']]],
  ['jobs-claim', () => ['worker', later, new Date('2026-06-03'), jobKinds, [5, 5]]],
  ['jobs-release-lapsed', () => [new Date('2026-06-04'), 1, ['another'], [], ['sweep-pix']]],
  [
    'jobs-enqueue',
    () => ['settle-webhook', `{"eventId":"${ids[2]}"}`, `webhook:${ids[2]}`, now, now],
  ],
  ['jobs-ensure-periodic', () => ['sweep-pix', 'every:sweep-pix', longAgo, now]],
  ['jobs-bring-forward', () => [['every:sweep-pix'], [longAgo]]],
  ['jobs-retry', () => [of('jobs'), now]],
  ['inspect-job-statuses', () => [of('jobs')]],
  ['inspect-dead-jobs', () => [null, 0, 10]],
  ['inspect-job-stats', () => [later]],
  ['backlog-read', () => [later, now, now]],
  ['inspect-pix', () => [user(), null, null, later, null, null, null, 100]],
  ['inspect-pix-stuck', () => [...Array<null>(7).fill(null), 100, later, later, later]],
  ['inspect-pix-one', () => [of('send')['id'], now]],
  ['inspect-pix-timeline', () => [of('send')['id'], 100]],
  ['inspect-events', () => [null, null, nilUuid, maxUuid, longAgo, later, of('events'), 100]],
  ['inspect-events-page', () => ['processed', ...anyTime, nilUuid, 100]],
  ['inspect-events-count', () => [null, ...anyTime, nilUuid, 3]],
  ['inspect-events-of-transaction', () => [of('send')['id'], 100]],
  ['inspect-events-of-transaction', () => [ids[0], 100]],
  ['inspect-event', () => [ids[2]]],
  ['inspect-events-known', () => [of('events')]],
  ['pix-stale', () => [['UNKNOWN', 'RESERVED'], later, later, 100]],
  ['pix-unconfirmed', () => [later, later, 100]],
  ['pix-expired', () => [later, now, 100]],
  ['pix-touch-unconfirmed', () => [[of('send')['id']], later]],
  ['pix-anomaly', () => [of('send')['id'], later, ids[2], 'a reason']],
  ['pix-anomaly', () => [of('send')['id'], later, ids[2], 'a reason']],
  ['throttle-count', () => [attempts, now]],
  ['throttle-count', () => [attempts, later]],
  ['throttle-read', () => ['["login:1"]', now]],
  ['renew-session', () => [ids[0], user(), Buffer.from('t'), later, now, 'none', Buffer.from('d')]],
  ['retention-sessions', () => [later, 10]],
  ['sealed-token', () => [session()]],
  ['renew-session', () => [ids[1], user(), Buffer.from('t'), null, now, 'none', Buffer.from('d')]],
  ['expire-session', () => [ids[1], Buffer.from('other'), now]],
  ['end-session', () => [ids[1], user(), now]],
  ['retention-throttle', () => [later, 10]],
  ['retention-payloads', () => [later, 10]],
  ['retention-jobs', () => [new Date('2027-01-01'), 10]],
  ['retention-uploads', () => [later, 10]],
  ['pix-take-over', () => [ids[3], later, new Date('2026-06-05')]],
];

/** Runs a statement of the story, which only a constraint may refuse. */
async function answered(statement: Statement, parameters: readonly unknown[]): Promise<void> {
  await runAny(store.db, statement, named(statement, parameters)).catch((error: unknown) => {
    assert.ok(isConstraintViolation(error), `${statement.name}: ${String(error)}`);
  });
}

test('the statements of the operations are answered and stored alike', async () => {
  const statements = new Map((await everyStatement()).map((one) => [one.name, one]));
  for (const [name, parameters] of story) {
    const statement = statements.get(name);
    if (!statement) continue;
    await agrees(() => answered(statement, parameters()), name);
  }
  const unknown = story.filter(([name]) => !statements.has(name)).map(([name]) => name);
  assert.deepEqual(unknown, []);
});

/** Each statement breaks one constraint of the schema. */
const refused = [
  `insert into users (name) values ('a')`,
  `insert into users (name, email, password_hash, created_at, updated_at)
   values ('a', 'ANA@simulation.test', '', '2026-06-01', '2026-06-01')`,
  `update users set status = 'GONE'`,
  `delete from users`,
  `update pix_transactions set amount = 0`,
  `update pix_transactions set amount = 99999999999999.99`,
  `update pix_transactions set status = 'PROCESSING', phase = 'UNKNOWN', settled_at = null`,
  `update pix_transactions set user_id = 999`,
  `update pix_transactions set end_to_end = 'one for all'`,
  `update pix_timeline set note = 'changed'`,
  `delete from pix_timeline`,
  `delete from pix_transactions where phase = 'SETTLED'`,
  `insert into webhook_waits (id_value, event_id)
   values ('a', '019d0000-0000-7000-8000-00000000ffff')`,
  `update jobs set status = 'running'`,
  `update jobs set unique_key = 'the same', status = 'queued', leased_by = null,
                   leased_until = null, finished_at = null`,
  `insert into banking_sessions (id, user_id, status, created_at, renewed_at)
   select '019d0000-0000-7000-8000-00000000ffff', min(id), 'ACTIVE', '2026-06-01', '2026-06-01'
     from users`,
  `update accounts set status = 'OPEN'`,
  `select 'no uuid'::uuid`,
  `select 'x'::int`,
  `select interval '1 day' / 0 is null`,
  `insert into throttle_counters (key, window_started_at, attempts, expires_at)
   values ('k', '2026-06-01', 1, '2026-06-01'), ('k', '2026-06-01', 1, '2026-06-01')
       on conflict (key) do update set attempts = 2`,
  `insert into throttle_counters (key, window_started_at, attempts, expires_at)
   values ('k', '2026-06-01', 1, '2026-06-01') on conflict (attempts) do nothing`,
  `select nothing from users`,
  `select * from nowhere`,
];

test('both databases refuse a statement with the same SQLSTATE and constraint', async () => {
  for (const text of refused) {
    await agrees(async () => {
      await store.rows(text);
      assert.fail(`it was not refused: ${text}`);
    }, text);
  }
});

test('a subquery is executed again when a row changes that its WITH reads', async () => {
  const text = `
    select a.id, l.s
      from (values (7)) b (x), (values (1), (2)) a (id),
           lateral (with c as (select a.id as y) select (select sum(y + b.x) from c) as s) l
     order by a.id`;
  await agrees(() => store.rows(text), 'a subquery that reads a WITH');
});

test('a deletion cascades in both', async () => {
  await agrees(() => store.rows('delete from webhook_events'), 'webhook_waits');
  assert.deepEqual(await store.rows('select * from webhook_waits'), []);
});

test('a restore loses the commits since the snapshot, and no others', async () => {
  const snapshot = store.snapshot();
  const count = 'select count(*)::int as events from webhook_events';
  const kept = await store.rows(count);
  const text = `
    insert into webhook_events (id, payload_hash, status, received_at)
    values ($1, $2, 'received', $3)`;
  await store.rows(text, [ids[1], Buffer.from('lost'), now]);
  await store.restore(snapshot);
  assert.deepEqual(await store.rows(count), kept);
  await store.rows(text, [ids[1], Buffer.from('lost'), now]);
  assert.deepEqual(await store.differences(), []);
});
