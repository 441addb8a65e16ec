/** The audit: real histories pass, and each broken rule is found. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it, mock } from 'node:test';
import { newEndToEndId, newReturnId } from '../../../src/domain/pix.ts';
import { sweepPix } from '../../../src/settlement/sweep-pix.ts';
import { auditPix, type PixAudit } from '../../../src/operator/pix-audit.ts';
import { auditedInvariants } from '../../../src/operator/audit-repository.ts';
import type { Invariant } from '../../../src/operator/pix-invariants-repository.ts';
import { resolvePix, riskOfCompleting, riskOfFailing } from '../../../src/operator/pix-resolve.ts';
import { ProviderError } from '../../../src/provider/errors.ts';
import type { PaymentReceipt } from '../../../src/provider/provider.ts';
import { confirmed, startSettlingApp } from '../jobs/settling.ts';
import { queueJob } from '../jobs/loops.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { isPlainJson, refused, unwatched } from './asking.ts';

const app = await startSettlingApp();
const { context, ownerRows: rows } = app;

const minuteMs = 60_000;
const audit = (): Promise<PixAudit> => auditPix.run(context, {}, unwatched);
const sweep = () =>
  sweepPix.run(context, { id: '0', kind: 'sweep-pix', payload: {}, attempt: 1, worker: 'test' });

/** The broken rows of an audit, as `rule id`. */
const brokenIn = ({ invariants }: PixAudit): string[] =>
  invariants.flatMap(({ name, rows: broken }) => broken.map(({ id }) => `${name} ${id}`));

async function sendTo(
  pixKey: string,
  options: { amount?: number; key?: string; user?: TestUser } = {},
): Promise<Given> {
  const { amount = 10.5, key = randomUUID(), user = app.customer } = options;
  await app.throughTime(app.send(user, { pix_key: pixKey, amount }, { key }));
  const [row] = await rows<Given>(
    `select id, end_to_end, user_id from pix_transactions
      where user_id = $1 and idempotency_key = $2`,
    [user.id, key],
  );
  assert.ok(row);
  return row;
}

const update = (id: string, assignments: string, parameters: readonly unknown[] = []) =>
  rows(`update pix_transactions set ${assignments} where id = $1`, [id, ...parameters]);

/** A send whose process died in a phase, before the payment arrived. */
async function leaveIn(phase: string): Promise<void> {
  const lost = new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_TIMEOUT',
    statusClass: 'timeout',
  });
  const payment = mock.method(context.provider, 'pay', () => Promise.reject(lost));
  const { id } = await sendTo('ana@example.com');
  payment.mock.restore();
  await rows(`delete from pix_timeline where transaction_id = $1`, [id]);
  const kept = { RESERVED: 1, RESOLVED: 2, PAYING: 3 }[phase] ?? 0;
  for (const one of ['RESERVED', 'RESOLVED', 'PAYING'].slice(0, kept)) await note(id, one);
  await update(id, `phase = $2, outcome = null, provider_txid = null`, [phase]);
}

const note = (id: string, phase: string, changes: Readonly<Record<string, unknown>> = {}) => {
  const row = { transaction_id: id, phase, at: app.clock.now(), ...changes };
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  return rows(
    `insert into pix_timeline (${columns.join(', ')}) values (${places.join(', ')})`,
    Object.values(row),
  );
};

/** Every way in which a transaction ends here, and those that are open. */
async function everythingThatHappens(): Promise<void> {
  for (const { end_to_end: endToEnd } of [
    await sendTo('ana@example.com'),
    await sendTo('lost@ponte.test'),
  ]) {
    await app.receive(confirmed({ endToEnd }));
    await app.receive(confirmed({ endToEnd, status: 'ERROR' }));
  }
  const failing = await sendTo('lost@ponte.test');
  // After a repeat a failure waits for the word that the payment was made.
  await app.clock.skip(15 * minuteMs);
  await app.receive(confirmed({ endToEnd: failing.end_to_end, status: 'ERROR' }));
  for (const key of ['notfound', 'unavailable', 'reject', 'silent', 'lost', 'timeout', 'html']) {
    await sendTo(`${key}@ponte.test`);
  }
  await sendTo('ana@example.com', { amount: 10_000.01 });
  const user = await givenCustomer(app, { email: 'expired@ponte.test' });
  await sendTo('ana@example.com', { user });
  await completeAtOnce('COMPLETED');
  for (const phase of ['RESERVED', 'RESOLVED', 'PAYING']) await leaveIn(phase);
  const decided = { reason: 'the bank says so' };
  const failed = {
    ...decided,
    as: 'failed' as const,
    confirm: riskOfFailing,
    despiteStatement: true,
  };
  const completed = { ...decided, as: 'completed' as const, confirm: riskOfCompleting };
  await resolvePix.run(
    context,
    { id: (await sendTo('silent@ponte.test')).id, ...failed },
    unwatched,
  );
  await resolvePix.run(
    context,
    { id: (await sendTo('lost@ponte.test')).id, ...completed },
    unwatched,
  );
  await everyCharge();
  await expiredCharge();
  await refundedSend();
  await contradictedAndParked();
  await app.receive(confirmed({ endToEnd: `E${'0'.repeat(31)}` }));
  await app.deliver({ event: 'NEWS' });
  await queueJob(app, 'test', {
    status: 'running',
    leased_by: randomUUID(),
    leased_until: new Date(app.clock.now().getTime() + 30_000),
  });
  await app.clock.advance(2 * minuteMs);
  await sweep();
}

/** A send whose final status is in the provider's response. */
async function completeAtOnce(status: 'COMPLETED'): Promise<void> {
  const { pay } = context.provider;
  const noted = mock.method(
    context.provider,
    'pay',
    async (...order: Parameters<typeof pay>): Promise<PaymentReceipt> => ({
      ...(await pay(...order)),
      status,
    }),
  );
  await sendTo('ana@example.com');
  noted.mock.restore();
}

async function everyCharge(): Promise<void> {
  const charge = async (): Promise<string> => {
    const made = await app.charge(app.customer, { type: 'dynamic', amount: 5 });
    const { transaction_identification: txid } = await app.stored(made.body.transaction_id);
    return txid ?? '';
  };
  await charge();
  const txid = await charge();
  const paid = (endToEnd: string) =>
    app.receive({ event: 'PIX_RECEIVED', endToEnd, txid, status: 'PAID', amount: 5 });
  await paid(`E1${'0'.repeat(30)}`);
  await paid(`E2${'0'.repeat(30)}`);
  const toldWithoutId = await charge();
  await app.receive({ event: 'CHARGE_COMPLETED', txid: toldWithoutId });
  await app.receive({
    event: 'PIX_RECEIVED',
    endToEnd: newEnd(),
    txid: toldWithoutId,
    status: 'PAID',
  });
}

const newEnd = () => newEndToEndId('99999999', app.clock.now());

/** Of the two items of an event one contradicts a payment, and the other one waits for its own. */
async function contradictedAndParked(): Promise<Given> {
  const { end_to_end: endToEnd } = await sendTo('silent@ponte.test');
  const { eventId, status } = await app.receive([
    confirmed({ endToEnd, amount: 99 }),
    confirmed({ endToEnd: newEnd() }),
  ]);
  assert.equal(status, 'anomaly');
  return event(eventId);
}

/**
 * How a rule is broken: first the row as it comes about, then, once nothing guards it any more,
 * what spoils it.
 */
interface Break {
  readonly rule: string;
  readonly prepare: () => Promise<Given>;
  readonly spoil: (prepare: Given) => Promise<unknown>;
}

interface Given {
  readonly id: string;
  readonly end_to_end: string;
  readonly user_id: number;
}

const accepted = () => sendTo('silent@ponte.test');
const lost = () => sendTo('lost@ponte.test');
const completed = async (): Promise<Given> => {
  const send = await accepted();
  await app.receive(confirmed({ endToEnd: send.end_to_end }));
  return send;
};
const failedAndReceived = async (): Promise<Given> => {
  const send = await accepted();
  const { end_to_end: endToEnd } = send;
  await app.receive(confirmed({ endToEnd, status: 'ERROR' }));
  const payee = await givenCustomer(app);
  await app.listEmail(payee);
  await app.receive({ event: 'PIX_RECEIVED', endToEnd, amount: 10.5, key: payee.email });
  return send;
};
const event = (id: string): Given => ({ id, end_to_end: '', user_id: 0 });
const received = async () => event(await app.deliver({ event: 'NEWS', id: randomUUID() }));

const end = (id: string, status: string, phase: string) =>
  update(id, `status = $2, phase = $3, settled_at = $4`, [status, phase, app.clock.now()]);

const remove = (id: string, where = 'true') =>
  rows(`delete from pix_timeline where transaction_id = $1 and ${where}`, [id]);

/** A send of which a part came back. */
async function refundedSend(): Promise<Given> {
  const send = await completed();
  const returnId = newReturnId('99999999', app.clock.now());
  const refund = { endToEnd: send.end_to_end, returnId, amount: 4, status: 'CONFIRMED' };
  const { status } = await app.receive({ event: 'PIX_REFUND_IN', ...refund });
  assert.equal(status, 'processed');
  return send;
}

/** The refund of a send. */
async function refunded(): Promise<Given> {
  const { id } = await refundedSend();
  const [refund] = await rows<Given>(
    'select id, end_to_end, user_id from pix_transactions where original_id = $1',
    [id],
  );
  assert.ok(refund);
  return refund;
}

/** A charge that the sweep has ended, exactly a day after its expiry. */
async function expiredCharge(): Promise<Given> {
  const made = await app.charge(app.customer, { type: 'dynamic', amount: 5 });
  const { id } = await app.stored(made.body.transaction_id);
  const expiredAt = new Date(app.clock.now().getTime() - 24 * 60 * minuteMs);
  await update(id, 'expires_at = $2', [expiredAt]);
  await sweep();
  assert.equal((await app.stored(id)).status, 'FAILED');
  return event(id);
}

let namesake: Given;
let twin: Given;

const breaks: readonly Break[] = [
  { rule: 'amount_positive', prepare: accepted, spoil: ({ id }) => update(id, 'amount = 0') },
  {
    rule: 'key_once',
    prepare: async () => {
      namesake = await sendTo('silent@ponte.test', { key: 'the-same' });
      return sendTo('silent@ponte.test', { key: 'the-same', user: await givenCustomer(app) });
    },
    spoil: ({ user_id }) => update(namesake.id, 'user_id = $2', [user_id]),
  },
  {
    rule: 'end_to_end_once',
    prepare: async () => {
      twin = await accepted();
      return accepted();
    },
    spoil: ({ end_to_end }) => update(twin.id, 'end_to_end = $2', [end_to_end]),
  },
  {
    rule: 'status_and_phase',
    prepare: completed,
    spoil: async ({ id }) => {
      await update(id, `status = 'COMPLETED', phase = 'ACCEPTED'`);
      await remove(id, `phase = 'SETTLED'`);
    },
  },
  { rule: 'end_dated', prepare: completed, spoil: ({ id }) => update(id, 'settled_at = null') },
  {
    rule: 'end_dated',
    prepare: accepted,
    spoil: ({ id }) => update(id, 'settled_at = $2', [app.clock.now()]),
  },
  { rule: 'timeline_begins', prepare: refunded, spoil: ({ id }) => remove(id) },
  { rule: 'timeline_agrees', prepare: lost, spoil: ({ id }) => remove(id) },
  {
    rule: 'timeline_agrees',
    prepare: accepted,
    spoil: ({ id }) => update(id, `phase = 'UNKNOWN'`),
  },
  {
    rule: 'end_to_end_before_paying',
    prepare: accepted,
    spoil: ({ id }) => update(id, 'end_to_end = null'),
  },
  { rule: 'paying_first', prepare: accepted, spoil: ({ id }) => remove(id, `phase = 'PAYING'`) },
  {
    rule: 'paying_once',
    prepare: accepted,
    spoil: async ({ id }) => {
      await note(id, 'PAYING', { attempt: 2 });
      await note(id, 'ACCEPTED');
    },
  },
  {
    rule: 'completed_reported',
    prepare: accepted,
    spoil: async ({ id }) => {
      await end(id, 'COMPLETED', 'SETTLED');
      await note(id, 'SETTLED', { note: 'process_died' });
    },
  },
  {
    rule: 'correction_noted',
    prepare: accepted,
    spoil: async ({ id }) => {
      await end(id, 'FAILED', 'SETTLED');
      await note(id, 'SETTLED', { note: 'operator ana: the bank says so' });
      await update(id, `status = 'COMPLETED', outcome = 'accepted', corrected_at = $2`, [
        app.clock.now(),
      ]);
    },
  },
  {
    rule: 'overrule_noted',
    prepare: completed,
    spoil: ({ id }) =>
      update(id, `status = 'FAILED', outcome = 'rejected', overruled_at = $2`, [app.clock.now()]),
  },
  {
    rule: 'failed_reported',
    prepare: lost,
    spoil: async ({ id }) => {
      await end(id, 'FAILED', 'SETTLED');
      await note(id, 'SETTLED', { note: 'abandoned' });
    },
  },
  {
    rule: 'failed_reported',
    prepare: lost,
    spoil: async ({ id }) => {
      await end(id, 'FAILED', 'SETTLED');
      await note(id, 'SETTLED', { note: 'found_in_statement' });
    },
  },
  ...(
    [
      ['REJECTED', { provider_status: '5xx' }],
      ['REJECTED', {}],
      ['SETTLED', { provider_status: 'reset', note: 'not_sent' }],
    ] as const
  ).map(([phase, noted]): Break => ({
    rule: 'failed_reported',
    prepare: lost,
    spoil: async ({ id }) => {
      await end(id, 'FAILED', phase);
      await note(id, phase, noted);
    },
  })),
  {
    rule: 'doubt_kept',
    prepare: accepted,
    spoil: async ({ id }) => {
      await remove(id, `phase = 'ACCEPTED'`);
      await update(id, 'provider_txid = null');
      await note(id, 'PAYING', { attempt: 2, provider_status: '5xx', note: 'after_unknown' });
      await end(id, 'FAILED', 'REJECTED');
      await note(id, 'REJECTED', { attempt: 2, provider_status: '4xx' });
    },
  },
  {
    rule: 'failed_for_a_reason',
    prepare: () => sendTo('notfound@ponte.test'),
    spoil: ({ id }) => rows('update pix_timeline set note = null where transaction_id = $1', [id]),
  },
  {
    rule: 'expired_after_grace',
    prepare: expiredCharge,
    spoil: ({ id }) => update(id, `expires_at = expires_at + interval '1 minute'`),
  },
  {
    rule: 'expired_after_grace',
    prepare: expiredCharge,
    spoil: ({ id }) => update(id, 'expires_at = null'),
  },
  {
    rule: 'refund_of_payment',
    prepare: refunded,
    spoil: ({ id }) => update(id, `operation = 'REFUND_OUT'`),
  },
  {
    rule: 'refund_of_payment',
    prepare: refunded,
    spoil: async ({ id }) => update(id, 'user_id = $2', [(await givenCustomer(app)).id]),
  },
  {
    rule: 'refunds_within_amount',
    prepare: refundedSend,
    spoil: ({ id }) => update(id, 'refunded_amount = null'),
  },
  {
    rule: 'refunds_within_amount',
    prepare: refundedSend,
    spoil: ({ id }) => rows('update pix_transactions set amount = 11 where original_id = $1', [id]),
  },
  {
    rule: 'money_back_shown',
    prepare: completed,
    spoil: ({ id }) => note(id, 'ANOMALY', { note: 'statement_reversed' }),
  },
  {
    rule: 'failed_not_received',
    prepare: failedAndReceived,
    spoil: ({ id }) => remove(id, `phase = 'ANOMALY'`),
  },
  {
    rule: 'provider_id_noted',
    prepare: accepted,
    spoil: ({ id }) => update(id, `provider_txid = 'another'`),
  },
  {
    rule: 'cause_stored',
    prepare: accepted,
    spoil: ({ id }) => note(id, 'ANOMALY', { event_id: randomUUID(), note: 'amount_mismatch' }),
  },
  {
    rule: 'final_is_final',
    prepare: completed,
    spoil: ({ id }) => note(id, 'SETTLED', { note: 'COMPLETED' }),
  },
  {
    rule: 'final_is_final',
    prepare: completed,
    spoil: ({ id }) => note(id, 'SETTLED', { note: 'IDENTIFIED', event_id: randomUUID() }),
  },
  {
    rule: 'open_is_found',
    prepare: accepted,
    spoil: ({ id }) => rows('delete from pix_open where transaction_id = $1', [id]),
  },
  {
    rule: 'outcome_agrees',
    prepare: completed,
    spoil: ({ id }) => update(id, `outcome = 'unknown'`),
  },
  {
    rule: 'outcome_agrees',
    prepare: accepted,
    spoil: ({ id }) => update(id, `outcome = 'not_sent'`),
  },
  {
    rule: 'received_is_settled',
    prepare: received,
    spoil: ({ id }) => rows('delete from webhook_queue where event_id = $1', [id]),
  },
  {
    rule: 'parked_is_retried',
    prepare: async () => event((await app.receive(confirmed({ endToEnd: randomUUID() }))).eventId),
    spoil: ({ id }) => rows('delete from webhook_queue where event_id = $1', [id]),
  },
  {
    rule: 'parked_is_retried',
    prepare: contradictedAndParked,
    spoil: ({ id }) => rows('delete from webhook_queue where event_id = $1', [id]),
  },
  {
    rule: 'waiting_is_kept',
    prepare: contradictedAndParked,
    spoil: ({ id }) => rows('update webhook_events set payload = null where id = $1', [id]),
  },
  {
    rule: 'waiting_is_kept',
    prepare: received,
    spoil: ({ id }) => rows('update webhook_events set payload = null where id = $1', [id]),
  },
  {
    rule: 'leases_held',
    prepare: async () =>
      event(
        await queueJob(app, 'test', {
          status: 'running',
          leased_by: randomUUID(),
          leased_until: new Date(app.clock.now().getTime() - 2 * minuteMs),
        }),
      ),
    spoil: ({ id }) =>
      rows(`update jobs set leased_until = leased_until - interval '1 millisecond' where id = $1`, [
        id,
      ]),
  },
];

/** What the schema itself holds; without it every rule can be broken. */
async function takeTheGuardsAway(): Promise<void> {
  for (const table of ['pix_transactions', 'pix_timeline']) {
    await rows(`alter table ${table} disable trigger user`);
  }
  const checks = await rows<{ conname: string }>(
    `select conname from pg_constraint
      where conrelid = 'pix_transactions'::regclass and contype in ('c', 'u')`,
  );
  for (const { conname } of checks) {
    await rows(`alter table pix_transactions drop constraint ${conname}`);
  }
  await rows('drop index pix_transactions_end_to_end_unique');
}

describe('what really happens', () => {
  before(async () => {
    await rows('alter table pix_timeline disable trigger user');
    await everythingThatHappens();
    await rows('alter table pix_timeline enable trigger user');
  });

  it('breaks no rule', async () => {
    const result = await audit();
    assert.deepEqual(brokenIn(result), []);
    assert.equal(result.ok, true);
    assert.deepEqual(result.checked, { transactions: 26, events: 14, jobs: 1 });
    isPlainJson(result);
  });

  it('is audited page by page, and reports its progress', async () => {
    const progress: (readonly [number, number])[] = [];
    await auditPix.run(
      context,
      {},
      { ...unwatched, progress: (...parts) => void progress.push(parts) },
    );
    assert.deepEqual(progress.at(-1), [41, 41]);
  });

  it('is not audited by a service that stops', async () => {
    const stopping = AbortSignal.abort();
    await refused(auditPix.run({ ...context, stopping }, {}, unwatched), /the service stops/);
  });
});

describe('a rule that is broken', () => {
  const broken: { readonly rule: string; readonly id: string }[] = [];
  let passed: PixAudit;
  let found: PixAudit;

  before(async () => {
    const rowsGiven: (readonly [Break, Given])[] = [];
    for (const one of breaks) rowsGiven.push([one, await one.prepare()]);
    passed = await audit();
    await takeTheGuardsAway();
    for (const [{ rule, spoil }, row] of rowsGiven) {
      await spoil(row);
      broken.push({ rule, id: row.id });
    }
    found = await audit();
  });

  it('makes the audit fail, which has passed before', () => {
    assert.deepEqual(brokenIn(passed), []);
    assert.equal(found.ok, false);
  });

  const isFound = ({ name, says }: Invariant): void => {
    const ids = broken.filter(({ rule }) => rule === name).map(({ id }) => id);
    assert.ok(ids.length > 0, `no test breaks ${name}`);
    const result = found.invariants.find((one) => one.name === name);
    for (const id of ids) {
      const row = result?.rows.find((one) => one.id === id);
      assert.ok(row, `${name} does not find ${id}`);
      assert.ok(row.found.length > 0);
    }
    assert.equal(result?.says, says);
  };

  for (const one of Object.values(auditedInvariants).flat()) {
    it(`is found: ${one.says}`, () => isFound(one));
  }

  it('is found in the rows that break it, and in no other', () => {
    const ids = new Set(broken.map(({ id }) => id));
    const others = brokenIn(found).filter((one) => !ids.has(one.split(' ')[1] ?? ''));
    assert.deepEqual(others, [`key_once ${namesake.id}`, `end_to_end_once ${twin.id}`]);
  });

  it('is counted in full and listed up to a hundred rows, over two pages', async () => {
    await rows(
      `insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
              phase, amount, created_at, updated_at)
       select gen_random_uuid(), $1, 'SEND', n::text, '', 'PROCESSING', 'RESERVED', 0, $2, $2
         from generate_series(1, 1100) n`,
      [app.customer.id, app.clock.now()],
    );
    const { checked, invariants } = await audit();
    assert.ok(checked.transactions > 1100);
    const amounts = invariants.find(({ name }) => name === 'amount_positive');
    assert.equal(amounts?.broken, 1101);
    assert.equal(amounts.rows.length, 100);
  });
});
