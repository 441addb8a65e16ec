/** What the schema refuses for every writer: each constraint, unique index and trigger, by name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phasesOfStatus, pixStatuses, type PixPhase } from '../../../src/domain/pix.ts';
import {
  createValidityFunction,
  transactionIsValid,
  transactionRules,
} from '../../../src/db/entities/pix-transaction-rules.ts';
import { openTestDatabase } from '../../support/open-database.ts';
import {
  charge,
  ended,
  leased,
  received,
  refusedPairs,
  refusedRows,
  refusedSiblings,
  same,
} from './refused-rows.ts';
import { at, goodRow, insertGood, insertParent, uuid, type Row, type Table } from './rows.ts';

const open = await openTestDatabase();
const { rows } = open;

const put = (table: Table, changes?: Row) => insertGood(open, table, changes);

async function isRefusedBy(constraint: string, write: Promise<unknown>): Promise<void> {
  await assert.rejects(write, (error: Error & { constraint?: string }) => {
    assert.equal(error.constraint, constraint, error.message);
    return true;
  });
}

for (const [constraint, { table, changes }] of Object.entries(refusedRows)) {
  test(`${constraint} refuses a row`, async () => {
    for (const change of changes) await isRefusedBy(constraint, put(table, change));
  });
}

for (const [constraint, cases] of Object.entries(refusedPairs)) {
  test(`${constraint} refuses a second row`, async () => {
    for (const { table, pair } of cases) {
      const [first, second] = pair();
      await put(table, first);
      await isRefusedBy(constraint, put(table, second));
    }
  });
}

for (const [constraint, { table, changes }] of Object.entries(refusedSiblings)) {
  test(`${constraint} refuses a second row of one parent`, async () => {
    const parent = await insertParent(open, table);
    await put(table, { ...parent, ...changes?.() });
    await isRefusedBy(constraint, put(table, { ...parent, ...changes?.() }));
  });
}

test('pix_transactions_status_and_phase takes the pairs of the domain and no other', async () => {
  const phases = new Set<PixPhase>(Object.values(phasesOfStatus).flat());
  for (const status of pixStatuses) {
    for (const phase of phases) {
      const settled_at = status === 'PROCESSING' ? null : at;
      const row = put('pix_transactions', { status, phase, settled_at, end_to_end: uuid() });
      if (phasesOfStatus[status].includes(phase)) await row;
      else await isRefusedBy('pix_transactions_status_and_phase', row);
    }
  }
  const unknown = put('pix_transactions', { status: 'PENDING', settled_at: at });
  await isRefusedBy('pix_transactions_status_and_phase', unknown);
});

test('a FAILED transaction becomes COMPLETED once', async () => {
  const settled = { phase: 'SETTLED', settled_at: at };
  const correct = (id: unknown) =>
    rows(`update pix_transactions set status = 'COMPLETED', corrected_at = $2 where id = $1`, [
      id,
      at,
    ]);
  const failed = await put('pix_transactions', {
    ...settled,
    status: 'FAILED',
    end_to_end: uuid(),
  });
  await correct(failed);
  const fail = `update pix_transactions set status = 'FAILED', corrected_at = null where id = $1`;
  await assert.rejects(rows(fail, [failed]), { message: 'a final transaction does not change' });
});

test('COMPLETED and FAILED do not change', async () => {
  for (const status of ['COMPLETED', 'FAILED']) {
    const settled = { status, phase: 'SETTLED', settled_at: at, end_to_end: uuid() };
    const id = await put('pix_transactions', settled);
    for (const other of ['PROCESSING', 'COMPLETED', 'FAILED']) {
      const moved = rows(
        `update pix_transactions
            set status = $2, phase = case when $2 = 'PROCESSING' then 'ACCEPTED' else 'SETTLED' end,
                settled_at = case when $2 = 'PROCESSING' then null else settled_at end
          where id = $1`,
        [id, other],
      );
      if (other === status) await moved;
      else await assert.rejects(moved, { message: 'a final transaction does not change' });
    }
  }
});

test('onboarding_applications_moves_forward keeps an application from any other move', async () => {
  const statuses = ['IN_PROGRESS', 'UNDER_ANALYSIS', 'APPROVED', 'REJECTED'];
  const moves = [
    'IN_PROGRESS UNDER_ANALYSIS',
    'UNDER_ANALYSIS APPROVED',
    'UNDER_ANALYSIS REJECTED',
  ];
  for (const from of statuses) {
    for (const to of statuses) {
      const parent = await insertParent(open, 'onboarding_applications');
      const id = await put('onboarding_applications', { ...parent, status: from });
      const moved = rows('update onboarding_applications set status = $2 where id = $1', [id, to]);
      if (from === to || moves.includes(`${from} ${to}`)) await moved;
      else await assert.rejects(moved, { message: 'an application does not move this way' });
    }
  }
});

test('operator actions are only added to', async () => {
  const id = await put('operator_actions');
  const refusal = { code: '23514', message: /operator actions are only added to/ };
  const change = `update operator_actions set operator = 'eve' where id = $1`;
  await assert.rejects(rows(change, [id]), refusal);
  await assert.rejects(rows('delete from operator_actions where id = $1', [id]), refusal);
});

test('pix_timeline_append_only refuses to change and to remove rows', async () => {
  const id = await put('pix_timeline');
  const refusal = { message: 'the timeline is only added to', code: '23514' };
  await assert.rejects(rows('update pix_timeline set note = null where id = $1', [id]), refusal);
  await assert.rejects(rows('delete from pix_timeline where id = $1', [id]), refusal);
});

test('a row is not removed while others point at it', async () => {
  for (const table of ['accounts', 'banking_sessions', 'onboarding_applications'] as const) {
    const { user_id: userId, ...parent } = await insertParent(open, table);
    await put(table, { user_id: userId, ...parent });
    const removed = rows('delete from users where id = $1', [userId]);
    await isRefusedBy(`${table}_user_id_foreign`, removed);
  }
});

test('pix_transactions_kept refuses to remove a transaction, with a timeline or without', async () => {
  const { transaction_id: transactionId } = await insertParent(open, 'pix_timeline');
  const refusal = { message: 'a transaction is not removed', code: '23514' };
  const remove = () => rows('delete from pix_transactions where id = $1', [transactionId]);
  await assert.rejects(remove(), refusal);
  await put('pix_timeline', { transaction_id: transactionId });
  await assert.rejects(remove(), refusal);
});

test('what was asked for and what was paid does not change after the end of a transaction', async () => {
  const settled = { status: 'COMPLETED', phase: 'SETTLED', settled_at: at, pix_key: 'a@b.test' };
  const facts = { end_to_end: uuid(), provider_txid: 'p-1', payee: { name: 'Ana' } };
  const id = await put('pix_transactions', { ...settled, ...facts });
  const other = await put('users');
  const change = (assignment: string, ...values: readonly unknown[]) =>
    rows(`update pix_transactions set ${assignment} where id = $1`, [id, ...values]);
  const refusal = { message: 'the facts of a transaction do not change', code: '23514' };
  for (const [assignment, ...values] of [
    ['amount = amount + 1'],
    ['user_id = $2', other],
    [`pix_key = 'c@d.test'`],
    ['pix_key = null'],
    [`idempotency_key = 'another'`],
    [`fingerprint = '\\x00'`],
    ['end_to_end = $2', uuid()],
    ['end_to_end = null'],
    [`created_at = created_at - interval '1 day'`],
    ['id = $2', uuid()],
    [`provider_txid = 'p-2'`],
    ['provider_txid = null'],
    [`payee = '{"name": "Bia"}'`],
    [`settled_at = settled_at - interval '1 day'`],
  ] as const) {
    await assert.rejects(change(assignment, ...values), refusal, assignment);
  }
  await change(`pix_key = 'erased', payee = null, description = null, updated_at = now()`);
});

test('what was refunded becomes less by the overrule of a return alone', async () => {
  const settled = { status: 'COMPLETED', phase: 'SETTLED', settled_at: at };
  const id = await put('pix_transactions', { ...received, ...settled, refunded_amount: '4.00' });
  const [{ user_id: user } = {}] = await rows(
    'select user_id from pix_transactions where id = $1',
    [id],
  );
  const given = { user_id: user, operation: 'REFUND_OUT', original_id: id, amount: '4.00' };
  const made = await put('pix_transactions', { ...given, ...settled, end_to_end: uuid() });
  const refunded = async () => {
    const sum = 'select refunded_amount from pix_transactions where id = $1';
    return (await rows<{ refunded_amount: string | null }>(sum, [id]))[0]?.refunded_amount;
  };
  const refusal = { message: 'what was refunded does not become less', code: '23514' };
  const another = await put('pix_transactions', { ...received, ...settled, user_id: user });
  const move = 'update pix_transactions set original_id = $2 where id = $1';
  await assert.rejects(rows(move, [made, another]), {
    message: 'the facts of a transaction do not change',
  });
  for (const sum of ['3.99', null]) {
    const lower = rows('update pix_transactions set refunded_amount = $2 where id = $1', [id, sum]);
    await assert.rejects(lower, refusal);
  }
  await rows(
    `update pix_transactions set status = 'FAILED', failure_code = 'OVERRULED', overruled_at = $2,
            settled_at = $2, updated_at = $2 where id = $1`,
    [made, at],
  );
  assert.equal(await refunded(), null);
});

test('a charge gets its end-to-end id when it is settled', async () => {
  const done = { status: 'COMPLETED', phase: 'SETTLED', settled_at: at };
  const id = await put('pix_transactions', { ...charge(), ...done });
  const settle = `update pix_transactions set end_to_end = $2 where id = $1`;
  await rows(settle, [id, uuid()]);
  await assert.rejects(rows(settle, [id, uuid()]), { code: '23514' });
});

test('security events do not change and are kept for a year, but for the digests of an erasure', async () => {
  const id = await put('security_events', { at: new Date() });
  const unchanged = { message: 'security events do not change', code: '23514' };
  for (const assignment of [
    `at = at - interval '2 years'`,
    `kind = 'user_enabled'`,
    `identity = 'x'`,
    `hour = at`,
    `times = 0`,
  ]) {
    const changed = rows(`update security_events set ${assignment} where id = $1`, [id]);
    await assert.rejects(changed, unchanged, assignment);
  }
  await rows('update security_events set times = times + 1 where id = $1', [id]);
  await rows(`update security_events set identity = 'erased', address = null where id = $1`, [id]);
  const kept = { message: 'security events are kept for a year', code: '23514' };
  const remove = 'delete from security_events where id = $1';
  await assert.rejects(rows(remove, [id]), kept);
  const old = await put('security_events', { at: new Date(Date.now() - 366 * 24 * 3_600_000) });
  await rows(remove, [old]);
});

test('the database says when an operator has acted, and by which role', async () => {
  const id = await put('operator_actions', { at: '2020-01-01T00:00:00Z', database_user: 'eve' });
  const [action] = await rows<{ at: Date; database_user: string; role: string }>(
    'select at, database_user, session_user::text as role from operator_actions where id = $1',
    [id],
  );
  assert.ok(action && action.at.getUTCFullYear() > 2020);
  assert.equal(action.database_user, action.role);
});

test('the sums of a transaction follow its returns, whichever statement moves them', async () => {
  const original = await put('pix_transactions', { ...received, end_to_end: uuid() });
  const sums = async () =>
    rows(
      'select refunding_amount as open, refunded_amount as made from pix_transactions where id = $1',
      [original],
    );
  const giveBack = (amount: string) =>
    put('pix_transactions', {
      operation: 'REFUND_OUT',
      original_id: original,
      end_to_end: uuid(),
      amount,
    });
  const end = (id: unknown, status: string) =>
    rows(
      `update pix_transactions set status = $2, phase = 'SETTLED', settled_at = updated_at
        where id = $1`,
      [id, status],
    );
  const [made, failed, unknown] = [
    await giveBack('2.00'),
    await giveBack('3.00'),
    await giveBack('4.00'),
  ];
  assert.deepEqual(await sums(), [{ open: '9.00', made: null }]);
  await isRefusedBy('pix_transactions_returned_at_most', giveBack('1.51'));
  await end(made, 'COMPLETED');
  assert.deepEqual(await sums(), [{ open: '7.00', made: '2.00' }]);
  await end(failed, 'FAILED');
  assert.deepEqual(await sums(), [{ open: '4.00', made: '2.00' }]);
  const correct = (id: unknown) =>
    rows(
      `update pix_transactions set status = 'COMPLETED', corrected_at = updated_at where id = $1`,
      [id],
    );
  await correct(failed);
  assert.deepEqual(await sums(), [{ open: '4.00', made: '5.00' }]);
  await end(unknown, 'FAILED');
  const last = await giveBack('5.50');
  assert.deepEqual(await sums(), [{ open: '5.50', made: '5.00' }]);
  await isRefusedBy('pix_transactions_returned_at_most', correct(unknown));
  await end(last, 'COMPLETED');
  assert.deepEqual(await sums(), [{ open: null, made: '10.50' }]);
});

/** Rows that are similar to a repeat and valid. */
const allowed: Readonly<Record<string, () => Promise<unknown>>> = {
  'two users may be without a document': () => both('users', same({ document: null })),
  'two accounts at the provider may have one number': () =>
    both('accounts', same({ agency: '0001', account_number: '777' })),
  'a user may have many sessions that ended': async () => {
    const parent = await insertParent(open, 'banking_sessions');
    await both('banking_sessions', same({ ...parent, ...ended }));
    await put('banking_sessions', parent);
  },
  'two users may have one document': () => both('users', same({ document: '39053344705' })),
  'a rejected account keeps no CPF': () =>
    both('accounts', [
      { document: '39053344705', status: 'REJECTED' },
      { document: '39053344705', status: 'ACTIVE' },
    ]),
  'two users may have the account of one company': () =>
    both('accounts', same({ document: '12345678000195', status: 'ACTIVE' })),
  'two users may use one idempotency key': () =>
    both('pix_transactions', same({ idempotency_key: 'shared' })),
  'a user may use one idempotency key for a send and for a charge': async () => {
    const parent = await insertParent(open, 'pix_transactions');
    const claim = { ...parent, idempotency_key: 'for-both' };
    await both('pix_transactions', [claim, { ...claim, ...charge() }]);
  },
  'one payment may be sent by one user and received by another': () => {
    const end_to_end = uuid();
    return both('pix_transactions', [{ end_to_end }, { ...received, end_to_end }]);
  },
  'two users may receive a PIX with one id of the provider': () =>
    both('pix_transactions', same({ ...received, received_txid: 'of-two-users' })),
  'a finished job gives its unique key free': () => {
    const unique_key = uuid();
    return both('jobs', [{ unique_key, status: 'done' }, { unique_key }]);
  },
};

async function both(table: Table, [first, second]: [Row, Row]): Promise<void> {
  await put(table, first);
  await put(table, second);
}

for (const [title, write] of Object.entries(allowed)) test(title, async () => void (await write()));

test('every table takes its good row', async () => {
  for (const table of Object.keys(goodRow) as Table[]) await put(table);
  await put('jobs', leased);
});

test('pix_open has the transactions that are not settled, and charges until they expire', async () => {
  const found = (id: unknown) =>
    rows('select has_code, expires_at from pix_open where transaction_id = $1', [id]);
  const set = (id: unknown, columns: string) =>
    rows(`update pix_transactions set ${columns} where id = $1`, [id]);
  const settled = `status = 'COMPLETED', phase = 'SETTLED', settled_at = updated_at`;

  const send = await put('pix_transactions', { end_to_end: uuid() });
  assert.deepEqual(await found(send), [{ has_code: false, expires_at: null }]);
  await set(send, `phase = 'ACCEPTED'`);
  assert.deepEqual(await found(send), [{ has_code: false, expires_at: null }]);
  await set(send, settled);
  assert.deepEqual(await found(send), []);

  for (const expires_at of [null, at]) {
    const id = await put('pix_transactions', { ...charge(), expires_at });
    assert.deepEqual(await found(id), [{ has_code: false, expires_at }]);
    await set(id, `qr_code = 'a code'`);
    assert.deepEqual(await found(id), expires_at ? [{ has_code: true, expires_at }] : []);
    await set(id, 'qr_code = null');
    assert.deepEqual(await found(id), [{ has_code: false, expires_at }]);
    await set(id, `expires_at = '2027-01-01T00:00:00Z'`);
    const later = new Date('2027-01-01T00:00:00Z');
    assert.deepEqual(await found(id), [{ has_code: false, expires_at: later }]);
    await set(id, settled);
    assert.deepEqual(await found(id), []);
  }
  assert.deepEqual(await found(await put('pix_transactions', received)), []);
});

test('pix_disputes_final_status keeps an ended dispute, and an open one from going back', async () => {
  const ends = ['ACCEPTED', 'REJECTED', 'WITHDRAWN'];
  const move = (id: string, status: string) =>
    rows('update pix_disputes set status = $2, ended_at = $3 where transaction_id = $1', [
      id,
      status,
      status === 'REQUESTED' || status === 'OPEN' ? null : at,
    ]);
  const refusal = { message: 'a dispute does not go back', code: '23514' };
  for (const end of ends) {
    const id = uuid();
    await put('pix_disputes', { transaction_id: id });
    await move(id, 'REFUSED');
    await move(id, 'REQUESTED');
    await move(id, 'OPEN');
    for (const back of ['REQUESTED', 'REFUSED']) await assert.rejects(move(id, back), refusal);
    await move(id, end);
    for (const other of ['REQUESTED', 'REFUSED', 'OPEN', ...ends.filter((one) => one !== end)]) {
      await assert.rejects(move(id, other), refusal);
    }
  }
});

test('webhook_events_attention follows the status, whichever statement writes it', async () => {
  const readAttention = async (id: unknown) =>
    (await rows('select attention from webhook_events where id = $1', [id]))[0]?.['attention'];
  const id = await put('webhook_events', { status: 'received' });
  assert.equal(await readAttention(id), null);
  for (const status of ['parked', 'anomaly', 'processed', 'orphaned', 'ignored']) {
    const expected = ['processed', 'ignored'].includes(status) ? null : status;
    await rows('update webhook_events set status = $2 where id = $1', [id, status]);
    assert.equal(await readAttention(id), expected);
    assert.equal(await readAttention(await put('webhook_events', { status })), expected);
  }
});

test('no constraint, unique index or trigger of the schema is without a test', async () => {
  const inSchema = await rows<{ name: string }>(`
    select conname as name from pg_constraint
     where connamespace = 'public'::regnamespace and contype in ('c', 'u', 'p', 'f', 'x')
     union
    select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indisunique and c.relnamespace = 'public'::regnamespace
     union
    select tgname from pg_trigger where not tgisinternal`);
  const tested = [
    ...Object.keys({ ...refusedRows, ...refusedPairs, ...refusedSiblings }),
    'pix_transactions_status_and_phase',
    'pix_transactions_changed',
    'pix_transactions_kept',
    'operator_actions_append_only',
    'operator_actions_stamped',
    'security_events_unchanged',
    'security_events_kept',
    'pix_timeline_append_only',
    'onboarding_applications_moves_forward',
    'webhook_events_attention',
    'pix_transactions_opened',
    'pix_disputes_final_status',
    'pix_transactions_return_opened',
    // They write: jobs/deliver-app-event.test.ts.
    'onboarding_applications_told',
    'pix_transactions_ended_new',
    // disputes/dispute-events.test.ts.
    'pix_disputes_moved',
    'pix_disputes_reported',
    // The migration tool's own table.
    'schema_migrations_pkey',
  ];
  const names = inSchema.flatMap(({ name }) =>
    name === transactionIsValid.name ? Object.keys(transactionRules) : [name],
  );
  assert.deepEqual(names.sort(), tested.sort());
});

test('the function with the rules of transactions is that of the sources', async () => {
  const [functionName] = transactionIsValid.expression.split('(', 1);
  const declared = createValidityFunction();
  const found = await rows<{ prosrc: string; provolatile: string }>(
    'select prosrc, provolatile from pg_proc where proname = $1',
    [functionName],
  );
  assert.deepEqual(
    found.map(({ prosrc, provolatile }) => [provolatile, `$$${prosrc}$$`]),
    [['i', declared.slice(declared.indexOf('$$'), -1)]],
  );
});
