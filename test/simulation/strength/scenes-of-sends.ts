/** Scenes of the statements that move a transaction, and of those that find one. */
import { moveStatements } from '../../../src/ledger/move-repository.ts';
import { paymentStatements } from '../../../src/ledger/payment-repository.ts';
import { transactionStatements } from '../../../src/ledger/pix-transaction-repository.ts';
import { sweepStatements } from '../../../src/ledger/sweep-repository.ts';
import { identifyPayment, recordReceived } from '../../../src/ledger/transaction-repository.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const endToEnd = 'E00000000202605241200000000000001';
const otherEndToEnd = 'E00000000202605241200000000000002';
const key = 'key';

const under = (phase: string): Columns => ({ phase, end_to_end: endToEnd, idempotency_key: key });
const settled = {
  ...under('SETTLED'),
  status: 'COMPLETED',
  outcome: 'accepted',
  settled_at: now,
};
const charge = {
  operation: 'CHARGE',
  transaction_identification: 'a'.repeat(26),
  idempotency_key: key,
};
const openPhases = ['RESERVED', 'RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN'];

/** Inserts a send. @param status the status of the customer's account. */
async function send({ row, found }: Stage, changes: Columns, status = 'ACTIVE'): Promise<unknown> {
  await row('accounts', { status });
  const [userId] = await found('select max(user_id) as user_id from accounts');
  return row('pix_transactions', { ...changes, user_id: Number(userId) });
}

/** Inserts an event that is parked until a transaction has the id. */
async function parked({ row }: Stage, idValue: string, changes: Columns = {}): Promise<unknown> {
  const eventId = await row('webhook_events', { status: 'parked', ...changes });
  await row('webhook_waits', { id_value: idValue, event_id: eventId });
  await row('webhook_queue', { event_id: eventId, due_at: later });
  return eventId;
}

const takeOver = (title: string, changes: Columns): Scene => ({
  statement: transactionStatements.takeOver,
  title,
  async play({ row, call }) {
    const id = await row('pix_transactions', changes);
    await row('pix_transactions');
    return call(id, later, now);
  },
});

const repeat = (
  title: string,
  { claim = later, account = 'ACTIVE', ...changes }: Columns,
  before?: (stage: Stage) => Promise<unknown>,
): Scene => ({
  statement: paymentStatements.repeat,
  title,
  async play(stage) {
    const payment = { ...under('PAYING'), claimed_until: later, ...changes };
    const id = await send(stage, payment, String(account));
    await send(stage, { ...payment, end_to_end: otherEndToEnd, idempotency_key: 'x' });
    await before?.(stage);
    const response = ['5xx', 503, 'CODE', 'after_unknown'];
    const noted = await stage.call(id, claim, now, 2, ...response);
    const columns = 'phase, attempt, provider_status, http_status, provider_code, note';
    return [noted, ...(await stage.found(`select ${columns} from pix_timeline`))];
  },
});

const unjudged: Scene = {
  statement: paymentStatements.step,
  title: 'a send whose payee was not judged is not taken to PAYING',
  async play(stage) {
    const id = await send(stage, { ...under('RESERVED'), payee_class: 'unknown' });
    const moved = await stage.call(id, 'PAYING', endToEnd, null, now, later, 1, null, 'person');
    return [moved, ...(await stage.found('select phase, payee_class from pix_transactions'))];
  },
};

const step = (from: string, to: string): Scene => ({
  statement: paymentStatements.step,
  title: `a send in ${from} takes the step to ${to}, or does not`,
  async play(stage) {
    const id = await send(stage, from === 'SETTLED' ? settled : under(from));
    await send(stage, { idempotency_key: 'other' });
    const moved = await stage.call(id, to, endToEnd, 'bank-1', now, later, 1, null);
    const noted = await stage.found('select phase, attempt, provider_status from pix_timeline');
    const rows = await stage.found('select phase, outcome from pix_transactions');
    return [moved, ...rows, ...noted];
  },
});

const each = <Value>(value: Value): Value[] => [value, value];

/** Accepted sends of two users, each with a bucket of look-ups, beside the bucket of a third. */
const lookUpsBack = (
  title: string,
  statement: Scene['statement'],
  further: (endToEnds: string[]) => unknown[][],
): Scene => ({
  statement,
  title: `${title} gives look-ups back, or does not`,
  async play(stage) {
    const ids = [
      await send(stage, under('PAYING')),
      await send(stage, { ...under('PAYING'), end_to_end: otherEndToEnd, idempotency_key: 'x' }),
    ];
    const users = await stage.found('select user_id from pix_transactions order by user_id');
    for (const userId of [...users, '0']) {
      await stage.row('throttle_counters', { key: `pix-look-ups:${userId}`, expires_at: later });
    }
    await stage.callBatch(ids, ...further([endToEnd, otherEndToEnd]), [1, 3]);
    return stage.found('select expires_at::text from throttle_counters order by expires_at');
  },
});

const acceptingTwo = lookUpsBack('an acceptance', paymentStatements.step, (endToEnds) => [
  each('ACCEPTED'),
  endToEnds,
  ['bank-1', 'bank-2'],
  each(now),
  each(later),
  each(1),
  each(null),
  each(null),
]);

const completingTwo = lookUpsBack('a completion', moveStatements.move, (endToEnds) => [
  each('{PAYING}'),
  each('SETTLED'),
  each('COMPLETED'),
  endToEnds,
  each('accepted'),
  each(null),
  each(null),
  each(null),
  each(null),
  each(null),
  each(now),
  each('[]'),
]);

const move = (
  title: string,
  [changes, phases, status = 'PROCESSING']: readonly [Columns, string, string?],
): Scene => ({
  statement: moveStatements.move,
  title,
  async play({ row, call, found, notifications }) {
    const id = await row('pix_transactions', changes);
    await row('pix_transactions');
    const moved = await call(
      id,
      phases,
      status === 'PROCESSING' ? 'UNKNOWN' : 'SETTLED',
      status,
      endToEnd,
      'unknown',
      null,
      'bank-1',
      null,
      null,
      null,
      now,
      '[{"phase": "UNKNOWN"}, {"phase": "SETTLED"}]',
    );
    const noted = await found('select phase, provider_txid from pix_timeline');
    return [
      moved,
      ...(await found('select phase from pix_transactions')),
      ...noted,
      notifications.map(({ length }) => length),
    ];
  },
});

const identify = (title: string, changes: Columns): Scene => ({
  statement: identifyPayment,
  title,
  async play({ row, call, found }) {
    const id = await row('pix_transactions', changes);
    await row('pix_transactions', {
      ...charge,
      ...paid,
      transaction_identification: 'b'.repeat(26),
    });
    const identified = await call(id, otherEndToEnd, now, await row('webhook_events'));
    return [identified, ...(await found('select end_to_end is null from pix_transactions'))];
  },
});

const paid = { status: 'COMPLETED', phase: 'SETTLED', settled_at: now, idempotency_key: 'paid' };

const anomaly = (title: string, changes: Columns): Scene => ({
  statement: transactionStatements.storeAnomaly,
  title,
  async play({ row, call, found }) {
    const [id, other] = [await row('pix_transactions'), await row('pix_transactions')];
    const [event, another] = [await row('webhook_events'), await row('webhook_events')];
    const noted = { transaction_id: id, event_id: event, phase: 'ANOMALY', note: 'reason' };
    const { foreign, late, ...columns } = changes;
    if (foreign) Object.assign(noted, { transaction_id: other });
    if (late) Object.assign(noted, { event_id: another });
    await row('pix_timeline', { ...noted, ...columns });
    const answered = await call(id, now, event, 'reason');
    return [answered, ...(await found('select note from pix_timeline'))];
  },
});

/** Two calls in one batch. */
const bothNoted: Scene = {
  statement: transactionStatements.storeAnomaly,
  title: 'two anomalies at once: only the new one is answered',
  async play({ row, callBatch, found }) {
    const ids = [await row('pix_transactions'), await row('pix_transactions')];
    const event = await row('webhook_events');
    const noted = { event_id: event, phase: 'ANOMALY', note: 'reason' };
    await row('pix_timeline', { ...noted, transaction_id: ids[0] });
    const both = <Value>(value: Value): Value[] => [value, value];
    const answered = await callBatch(ids, both(now), both(event), both('reason'));
    return [answered, ...(await found('select note from pix_timeline'))];
  },
};

const received = (title: string, date: Date | null): Scene => ({
  statement: recordReceived,
  title,
  async play(stage) {
    await send(stage, {});
    const [userId] = await stage.found('select max(user_id) as user_id from accounts');
    const event = await stage.row('webhook_events');
    await stage.row('webhook_events', { received_at: earlier });
    const facts = [Number(userId), '1.00', 'a@b.c', endToEnd, 'bank-1', now, event, date];
    await stage.call(freeId, ...facts);
    return stage.found(`select created_at = '2026-05-24 11:00Z' as reported,
                               created_at = '2026-05-24 12:00Z' as received
                          from pix_transactions where operation = 'RECEIVED'`);
  },
});

/** A received PIX without an end-to-end id, after one with the provider's id `bank-1`. */
const unidentified: readonly Scene[] = [
  ['a PIX without an end-to-end id is recorded', 'bank-2', true],
  ['a PIX with a known id of the provider is recorded once', 'bank-1', true],
  ['a PIX of an event that is not stored is recorded', 'bank-2', false],
].map(([title, txid, isStored]) => ({
  statement: recordReceived,
  title: String(title),
  async play(stage) {
    await send(stage, {});
    const [userId] = await stage.found('select max(user_id) as user_id from accounts');
    const event = await stage.row('webhook_events');
    const facts = [Number(userId), '1.00', null, null];
    const record = (id: string, ...ids: unknown[]): Promise<number> =>
      stage.call(id, ...facts, ids[0], now, ids[1], null);
    await record(freeId.replace('f', 'e'), 'bank-1', event);
    const recorded = await record(freeId, txid, isStored ? event : freeId);
    const rows = `select provider_txid, received_txid from pix_transactions
                   where operation = 'RECEIVED' order by provider_txid`;
    return [recorded, ...(await stage.found(rows))];
  },
}));

const touch: Scene = {
  statement: sweepStatements.touchUnconfirmed,
  title: 'only sends that were looked up move to the end of the queue',
  async play({ row, call, found }) {
    const ids: unknown[] = [];
    for (const [place, phase] of openPhases.entries()) {
      const ownId = `${endToEnd.slice(0, -1)}${place + 3}`;
      ids.push(await row('pix_transactions', { phase, end_to_end: ownId }));
    }
    ids.push(await row('pix_transactions', settled));
    await row('pix_transactions', { phase: 'UNKNOWN', end_to_end: otherEndToEnd });
    await call(ids, now);
    return found(`select phase, updated_at = '2026-05-24 12:01Z' as t from pix_transactions
                   order by phase, t`);
  },
};

const stale = (title: string, changes: Columns): Scene => ({
  statement: sweepStatements.findStale,
  title,
  async play({ row, call }) {
    await row('pix_transactions', { created_at: earlier, updated_at: earlier, ...changes });
    return call(['RESERVED', 'PAYING'], moment.now, now, 5);
  },
});

const unconfirmed = (title: string, changes: Columns): Scene => ({
  statement: sweepStatements.findUnconfirmed,
  title,
  async play(stage) {
    const { session = {}, since, noted, ...columns } = changes;
    const old = { ...under('UNKNOWN'), created_at: earlier, updated_at: earlier };
    const id = await send(stage, { ...old, ...columns });
    const [userId] = await stage.found('select max(user_id) as user_id from accounts');
    await stage.row('banking_sessions', { user_id: Number(userId), ...(session as Columns) });
    await stage.row('banking_sessions');
    const phase = noted ?? columns['phase'] ?? 'UNKNOWN';
    if (since) await stage.row('pix_timeline', { transaction_id: id, phase, at: since });
    const other = await send(stage, { idempotency_key: 'other' });
    await stage.row('pix_timeline', { transaction_id: other, phase: 'UNKNOWN', at: longAgo });
    return stage.call(now, moment.now, 5);
  },
});

/** An id that no row has. */
const freeId = '00000000-0000-4000-8000-00000000ffff';

/** A time long before all others. */
const longAgo = new Date(earlier.getTime() - 30 * 24 * 3_600_000);

export const sendScenes: readonly Scene[] = [
  takeOver('a send that no process works on is taken over', {}),
  takeOver('a send whose claim has lapsed is taken over', { claimed_until: earlier }),
  takeOver('a send that a running process works on is not taken over', { claimed_until: later }),
  ...['PAYING', 'ACCEPTED', 'UNKNOWN'].map((phase) =>
    takeOver(`a send in ${phase} is not taken over`, under(phase)),
  ),
  takeOver('a send in RESOLVED is taken over', under('RESOLVED')),
  takeOver('a finished send is not taken over', settled),
  unjudged,
  acceptingTwo,
  completingTwo,
  repeat('a payment is repeated', {}),
  repeat('a payment whose claim has just lapsed is not repeated', {
    claimed_until: earlier,
    claim: earlier,
  }),
  repeat('a payment of a blocked account is not repeated', { account: 'BLOCKED' }),
  repeat('a failure that waits for the payment stops it', {}, (stage) => parked(stage, endToEnd)),
  repeat('a failure that names the key alone stops it', {}, (stage) => parked(stage, key)),
  repeat('an event that waits for another id does not stop it', {}, (stage) =>
    parked(stage, 'something else'),
  ),
  repeat(
    'an event with the key that is older than the send does not stop it',
    {},
    async (stage) => {
      await parked(stage, key, { received_at: earlier });
      return stage.row('webhook_events');
    },
  ),
  ...[...openPhases, 'SETTLED'].flatMap((phase) => [
    step(phase, 'PAYING'),
    step(phase, 'ACCEPTED'),
  ]),
  {
    statement: paymentStatements.step,
    title: 'a send of a blocked account does not enter PAYING',
    async play(stage) {
      const id = await send(stage, { idempotency_key: key }, 'BLOCKED');
      return stage.call(id, 'PAYING', endToEnd, null, now, later, 1, null);
    },
  },
  {
    statement: paymentStatements.step,
    title: 'a send with another end-to-end id does not enter ACCEPTED',
    async play(stage) {
      const id = await send(stage, { ...under('PAYING'), end_to_end: otherEndToEnd });
      return stage.call(id, 'ACCEPTED', endToEnd, 'bank-1', now, null, 1, null);
    },
  },
  move('a transaction with another end-to-end id is not moved', [
    { ...under('PAYING'), end_to_end: otherEndToEnd },
    '{PAYING}',
  ]),
  move('a transaction in a listed phase is moved', [{}, '{RESERVED,PAYING}']),
  move('a final status is reported', [under('UNKNOWN'), '{UNKNOWN}', 'COMPLETED']),
  ...['FAILED', 'COMPLETED'].flatMap((status) => [
    move(`a send is ${status} that its payee may not have`, [
      { ...under('UNKNOWN'), reached_payee: false },
      '{UNKNOWN}',
      status,
    ]),
    move(`a send that its payee has is ${status}, or is not moved`, [
      { ...under('UNKNOWN'), reached_payee: true },
      '{UNKNOWN}',
      status,
    ]),
  ]),
  move('a transaction in another phase is not moved', [under('ACCEPTED'), '{RESERVED,PAYING}']),
  identify('the payment of a charge is noted', { ...charge, ...paid }),
  identify('an open charge is not identified', charge),
  identify('a charge is identified once', { ...charge, ...paid, end_to_end: endToEnd }),
  identify('a send is not identified', { ...settled, end_to_end: null }),
  bothNoted,
  anomaly('a contradiction is noted once', {}),
  anomaly('a contradiction of another transaction is noted too', { foreign: true }),
  anomaly('a contradiction of another event is noted too', { late: true }),
  anomaly('a contradiction for another reason is noted too', { note: 'other' }),
  anomaly('a note of a phase is not a contradiction', { phase: 'SETTLED' }),
  ...unidentified,
  received('a PIX has the date of its event', earlier),
  received('a date in the distant past is not accepted', longAgo),
  touch,
  stale('a send that no process has touched is found', {}),
  stale('a recently touched send is not found', { updated_at: later }),
  stale('a new send is not found', { created_at: later }),
  stale('a send that a process works on is not found', { claimed_until: later }),
  stale('a send whose claim has lapsed is found', { claimed_until: earlier }),
  stale('a send in another phase is not found', under('UNKNOWN')),
  stale('a charge with its code is not found', { ...charge, qr_code: 'code' }),
  unconfirmed('a send with an unknown outcome is looked up', {}),
  unconfirmed('an accepted send is looked up', under('ACCEPTED')),
  unconfirmed('the time in another phase does not count', {
    since: longAgo,
    noted: 'PAYING',
    updated_at: moment.made,
  }),
  unconfirmed('a new accepted send is not looked up', {
    ...under('ACCEPTED'),
    created_at: later,
  }),
  unconfirmed('a send in PAYING is not looked up', under('PAYING')),
  unconfirmed('a charge is not looked up', { ...charge, phase: 'UNKNOWN' }),
  unconfirmed('a send in an ended session is not looked up', {
    session: { status: 'ENDED', ended_at: now, sealed_token: null },
  }),
  unconfirmed('a send with an expired token is not looked up', {
    session: { token_expires_at: earlier },
  }),
  unconfirmed('a send that has waited for long is looked up seldom', {
    since: longAgo,
    updated_at: moment.made,
  }),
];
