/** Scenes of the statements that record refunds, and that find charges which have expired. */
import { recordRefund } from '../../../src/ledger/refund-repository.ts';
import { sweepStatements } from '../../../src/ledger/sweep-repository.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const endToEnd = 'E00000000202605241200000000000001';
const otherEndToEnd = 'E00000000202605241200000000000002';
const returnId = 'D0000000020260524120000000000001';
const freeId = '00000000-0000-4000-8000-00000000ffff';
const otherFreeId = '00000000-0000-4000-8000-00000000fffe';
const done = { phase: 'SETTLED', status: 'COMPLETED', settled_at: now };
const sent = { ...done, end_to_end: endToEnd };
const keyless = { idempotency_key: null, fingerprint: null };
const received = { ...sent, ...keyless, operation: 'RECEIVED' };
const charged = { ...sent, operation: 'CHARGE', transaction_identification: 'a'.repeat(26) };

interface Facts {
  readonly originals: readonly Columns[];
  /** The operation of the refund, which refunds the first of the originals. */
  readonly operation?: 'REFUND_IN' | 'REFUND_OUT';
  readonly amount?: string;
  /** An earlier refund of the first of the originals, or of the one with a number. */
  readonly before?: Columns;
  readonly beforeOf?: number;
  readonly at?: Date | null;
  readonly hasEvent?: boolean;
}

const refund = (title: string, facts: Facts): Scene => ({
  statement: recordRefund,
  title,
  async play(stage) {
    const { originals, operation = 'REFUND_IN', amount = '4.00', before, at = null } = facts;
    const ids: unknown[] = [];
    for (const columns of originals) ids.push(await stage.row('pix_transactions', columns));
    if (before) {
      const refunded = { original_id: ids[facts.beforeOf ?? 0], end_to_end: returnId };
      const known = { ...keyless, operation, ...refunded, ...done };
      await stage.row('pix_transactions', { ...known, ...before });
    }
    const event = await stage.row('webhook_events', { received_at: later });
    await stage.row('webhook_events', { received_at: earlier });
    const eventId = facts.hasEvent === false ? freeId : event;
    const rows = await stage.fetchRows(
      freeId,
      ids[0],
      operation,
      amount,
      returnId,
      'bank-1',
      now,
      eventId,
      at,
      endToEnd,
    );
    const answered = rows.map((row) => [
      row['storedId'] === freeId,
      row['knownId'] !== null,
      row['isSame'],
      row['isMade'],
      row['fits'],
      row['mayFit'],
    ]);
    return [answered, ...(await stored(stage))];
  },
});

async function stored({ found }: Stage): Promise<readonly unknown[]> {
  return [
    ...(await found(`select operation, amount, refunded_amount, refunding_amount, provider_txid,
                            created_at = '2026-05-24 13:00Z' as received,
                            created_at = '2026-05-24 12:01Z' as reported,
                            updated_at = '2026-05-24 12:01Z' as changed
                       from pix_transactions order by operation, amount, refunded_amount`)),
    ...(await found(`select l.phase, l.note, l.provider_txid, l.event_id is null as bare,
                            t.operation
                       from pix_timeline l join pix_transactions t on t.id = l.transaction_id
                      order by t.operation, l.note`)),
  ];
}

/** Two calls in one batch: refunds of two payments, each with its own return id. */
const together: Scene = {
  statement: recordRefund,
  title: 'two refunds at once belong to their own payments',
  async play(stage) {
    const ids = [
      await stage.row('pix_transactions', { ...sent, refunded_amount: '6.50' }),
      await stage.row('pix_transactions', {
        ...done,
        end_to_end: otherEndToEnd,
        amount: '3.00',
        refunded_amount: '1.00',
      }),
    ];
    const event = await stage.row('webhook_events', { received_at: later });
    const both = <Value>(value: Value): Value[] => [value, value];
    await stage.callBatch(
      [freeId, otherFreeId],
      ids,
      both('REFUND_IN'),
      both('4.00'),
      [returnId, returnId.replace('D', 'D1')],
      both(null),
      both(now),
      both(event),
      both(null),
      [endToEnd, otherEndToEnd],
    );
    return stored(stage);
  },
};

/** @param session the banking session of the owner. */
const expired = (title: string, changes: Columns, session: Columns = {}): Scene => ({
  statement: sweepStatements.findExpired,
  title,
  async play({ row, fetchRows, found }) {
    const waiting = { operation: 'CHARGE', transaction_identification: 'a'.repeat(26) };
    const issued = { ...waiting, phase: 'ACCEPTED', expires_at: earlier };
    await row('pix_transactions', { ...issued, ...changes });
    const [userId] = await found('select user_id from pix_transactions');
    await row('banking_sessions', { user_id: Number(userId), ...session });
    await row('banking_sessions');
    const rows = await fetchRows(moment.made, now, 5);
    return rows.map((one) => one['sessionId'] !== null);
  },
});

const ended = { status: 'ENDED', ended_at: now, sealed_token: null };

export const refundScenes: readonly Scene[] = [
  refund('a refund is recorded beside its payment', { originals: [sent] }),
  refund('a refund has the date of its event', { originals: [sent], at: now }),
  refund('a date in the distant past is not accepted', { originals: [sent], at: new Date(0) }),
  refund('a date in the future is not accepted', {
    originals: [sent],
    at: new Date('2026-06-24Z'),
  }),
  refund('refunds add up', { originals: [{ ...sent, refunded_amount: '6.50' }] }),
  refund('a refund of more than the payment is refused', {
    originals: [{ ...sent, refunded_amount: '6.51' }],
  }),
  refund('an open payment is not refunded', {
    originals: [{ phase: 'ACCEPTED', end_to_end: endToEnd }],
  }),
  refund('a refund of an event that is not stored is recorded', {
    originals: [sent],
    hasEvent: false,
  }),
  refund('a recorded refund is found', { originals: [sent], before: { amount: '4.00' } }),
  refund('a refund with another amount is not a repeat', {
    originals: [sent],
    before: { amount: '5.00' },
  }),
  refund('a return id of another payment is not a repeat', {
    originals: [{ ...sent, end_to_end: otherEndToEnd }, sent],
    before: { amount: '4.00' },
  }),
  refund('a refund in the other direction is a different one', {
    originals: [sent],
    before: { amount: '4.00', operation: 'REFUND_OUT' },
  }),
  refund('a reversal without a return id gets that of its refund', {
    originals: [{ ...sent, refunded_amount: '4.00' }],
    before: { amount: '4.00', end_to_end: null },
  }),
  refund('a reversal of another payment does not', {
    originals: [sent, { ...sent, end_to_end: otherEndToEnd, refunded_amount: '4.00' }],
    before: { amount: '4.00', end_to_end: null },
    beforeOf: 1,
  }),
  refund('a PIX and the charge that it completed share one sum', {
    originals: [received, { ...charged, refunded_amount: '6.51' }],
    operation: 'REFUND_OUT',
  }),
  refund('the send of the other side does not count', {
    originals: [received, { ...sent, refunded_amount: '10.00' }],
    operation: 'REFUND_OUT',
  }),
  refund('a refund that fits only without an open return waits', {
    originals: [{ ...received, refunded_amount: '3.00', refunding_amount: '3.51' }],
    operation: 'REFUND_OUT',
  }),
  refund('a refund that fits beside an open return is recorded', {
    originals: [{ ...received, refunded_amount: '3.00', refunding_amount: '3.50' }],
    operation: 'REFUND_OUT',
  }),
  refund('an open return of the charge counts for its PIX', {
    originals: [received, { ...charged, refunding_amount: '6.51' }],
    operation: 'REFUND_OUT',
  }),
  refund('a refund over the payment does not wait for an open return', {
    originals: [{ ...received, refunded_amount: '6.51', refunding_amount: '1.00' }],
    operation: 'REFUND_OUT',
  }),
  refund('an open return with the id is not a recorded refund', {
    originals: [received],
    operation: 'REFUND_OUT',
    before: {
      amount: '4.00',
      idempotency_key: 'key',
      fingerprint: Buffer.from('fingerprint'),
      phase: 'UNKNOWN',
      outcome: 'unknown',
      status: 'PROCESSING',
      settled_at: null,
    },
  }),
  together,
  expired('an expired charge is found', {}),
  expired('a charge that expires at that time is found', { expires_at: moment.made }),
  expired('a charge that expires later is not found', { expires_at: now }),
  expired('a static charge is not found', { expires_at: null }),
  expired('a charge without a code is not found', { phase: 'RESERVED' }),
  expired('a paid charge is not found', done),
  expired('an ended session does not read a statement', {}, ended),
  expired(
    'a session with an expired token does not read a statement',
    {},
    {
      token_expires_at: earlier,
    },
  ),
  expired('a session whose token is valid reads a statement', {}, { token_expires_at: later }),
];
