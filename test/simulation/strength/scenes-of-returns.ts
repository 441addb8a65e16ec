/** Scenes of the statements that reserve returns, and that find those of users. */
import { lostSendStatements } from '../../../src/ledger/lost-send-repository.ts';
import { returnReservationStatements } from '../../../src/ledger/return-reservation-repository.ts';
import { findReturns } from '../../../src/ledger/transaction-repository.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const endToEnd = 'E00000000202605241200000000000001';
const otherEndToEnd = 'E00000000202605241200000000000002';
const returnId = 'D1116575620260524120012345678901';
/** The return id of the same return a minute later, of another one, and of another institution. */
const laterReturnId = 'D1116575620260524120112345678901';
const otherReturnId = 'D1116575620260524120012345678902';
const foreignReturnId = 'D2222222220260524120012345678901';
const freeId = '00000000-0000-4000-8000-00000000ffff';
const otherFreeId = '00000000-0000-4000-8000-00000000fffe';
const key = 'key';
const longAgo = new Date(now.getTime() - 90 * 24 * 60 * 60 * 1000 - 1);

const keyless = { idempotency_key: null, fingerprint: null };
const done = { phase: 'SETTLED', status: 'COMPLETED', settled_at: earlier };
const received: Columns = { ...done, ...keyless, operation: 'RECEIVED', end_to_end: endToEnd };
const charge = { operation: 'CHARGE', transaction_identification: 'a'.repeat(26) };
const charged = { ...done, ...charge, end_to_end: endToEnd };
const sent = { ...done, end_to_end: endToEnd };

interface Facts {
  /** The transactions of the user; the first is returned. Null: there is no such transaction. */
  readonly of?: readonly Columns[] | null;
  /** Returns or refunds of the first. */
  readonly refunds?: readonly Columns[];
  readonly isForeign?: boolean;
  readonly amount?: string;
  readonly account?: Columns;
  /** The banking session, or null for another user's. */
  readonly session?: Columns | null;
  readonly isPaused?: boolean;
}

const open = {
  operation: 'REFUND_OUT',
  phase: 'UNKNOWN',
  outcome: 'unknown',
  end_to_end: otherReturnId,
  amount: '2.00',
};
const reported = { ...done, ...keyless, operation: 'REFUND_OUT' };

async function givenUser({ row, found }: Stage, account: Columns): Promise<number> {
  const names = { agency: '1', account_number: '2', document: '93541134780' };
  await row('accounts', { ...names, ...account });
  const [newest] = await found('select max(user_id) as user_id from accounts');
  return Number(newest);
}

const reserve = (title: string, facts: Facts = {}): Scene => ({
  statement: returnReservationStatements.reserve,
  title,
  async play(stage) {
    const { row, found } = stage;
    const { of = [received], refunds = [], account = {}, session = {}, amount = '4.00' } = facts;
    const user = await givenUser(stage, account);
    const own = await row('banking_sessions', { user_id: user, ...session });
    const foreign = await row('banking_sessions');
    if (facts.isPaused) await row('pix_pauses', { ended_at: null, ended_by: null });
    const owner = facts.isForeign ? {} : { user_id: user };
    const ids: unknown[] = [];
    for (const { isOthers, ...columns } of of ?? []) {
      ids.push(await row('pix_transactions', { ...(isOthers ? {} : owner), ...columns }));
    }
    for (const { nth = 0, ...columns } of refunds) {
      await row('pix_transactions', { ...owner, original_id: ids[Number(nth)], ...columns });
    }
    const rows = await stage.fetchRows(
      session ? own : foreign,
      user,
      now,
      freeId,
      key,
      Buffer.from('fingerprint'),
      amount,
      ids[0] ?? otherFreeId,
      returnId,
      'OTHER',
      later,
      false,
    );
    const answered = rows.map((one) => [
      one['reserved'],
      one['amount'],
      one['block'],
      one['unreturnable'],
      one['leftAmount'],
      one['isCurrent'],
      one['originalEndToEnd'],
    ]);
    return [answered, ...(await found(stored))];
  },
});

const stored = `
  select t.operation, t.amount, t.phase, t.end_to_end, t.description, t.refunding_amount,
         original.operation as of
    from pix_transactions t left join pix_transactions original on original.id = t.original_id
   order by t.operation, t.amount, t.phase, t.end_to_end`;

/** Two users at once: each has its own payment. */
const together: Scene = {
  statement: returnReservationStatements.reserve,
  title: 'two returns at once belong to their own payments',
  async play(stage) {
    const users = [await givenUser(stage, {}), await givenUser(stage, { document: '16899535009' })];
    const sessions: unknown[] = [];
    const originals: unknown[] = [];
    for (const [nth, user] of users.entries()) {
      sessions.push(await stage.row('banking_sessions', { user_id: user }));
      const of = { ...received, user_id: user, end_to_end: nth ? otherEndToEnd : endToEnd };
      originals.push(
        await stage.row('pix_transactions', { ...of, refunded_amount: nth ? null : '3.00' }),
      );
    }
    const both = <Value>(value: Value): Value[] => [value, value];
    const rows = await stage.fetchBatch(
      sessions,
      users,
      both(now),
      [freeId, otherFreeId],
      both(key),
      both(Buffer.from('fingerprint')),
      ['8.00', '9.00'],
      originals,
      [returnId, otherReturnId],
      both('OTHER'),
      both(later),
      both(false),
    );
    const answered = rows.map((one) => [one['ordinal'], one['reserved'], one['leftAmount']]);
    return [answered, ...(await stage.found(stored))];
  },
};

const unrelated: Columns = { ...received, end_to_end: 'E00000000202605241200000000000003' };

const again: Columns = { phase: 'PAYING', note: 'after_unknown' };

interface FoundFacts {
  readonly original?: Columns;
  /** A step of the return that is stored last, and of another transaction. */
  readonly step?: Columns;
  readonly otherStep?: Columns;
  /** A loss of commits. */
  readonly loss?: Columns;
}

const find = (title: string, rows: readonly Columns[], facts: FoundFacts = {}): Scene => ({
  statement: findReturns,
  title,
  async play(stage) {
    const { original = received, step, otherStep, loss } = facts;
    const id = await stage.row('pix_transactions', original);
    let last: unknown;
    for (const columns of rows) {
      last = await stage.row('pix_transactions', { original_id: id, ...open, ...columns });
    }
    const between = { ...received, end_to_end: otherEndToEnd };
    const other = await stage.row('pix_transactions', between);
    const otherReturn = { ...open, original_id: other, end_to_end: foreignReturnId };
    const otherId = await stage.row('pix_transactions', otherReturn);
    if (step) await stage.row('pix_timeline', { transaction_id: last, ...step });
    if (otherStep) await stage.row('pix_timeline', { transaction_id: otherId, ...otherStep });
    if (loss) await stage.row('pix_pauses', loss);
    const found = await stage.fetchRows(endToEnd, returnId);
    return found.map((one) => [one['endToEnd'], one['phase'], one['repeated']]);
  },
});

const known = (title: string, rows: readonly Columns[]): Scene => ({
  statement: lostSendStatements.findReturns,
  title,
  async play(stage) {
    const user = await givenUser(stage, {});
    const id = await stage.row('pix_transactions', { ...received, user_id: user });
    for (const columns of rows) {
      await stage.row('pix_transactions', { user_id: user, original_id: id, ...open, ...columns });
    }
    const found = await stage.fetchRows(user, [returnId]);
    return found.map((one) => [one['endToEnd'], one['phase']]);
  },
});

export const returnScenes: readonly Scene[] = [
  reserve('a return is reserved with its id'),
  reserve('all that is left is returned', { of: [{ ...received, refunded_amount: '6.50' }] }),
  reserve('more than is left is not returned', { of: [{ ...received, refunded_amount: '6.51' }] }),
  reserve('an open return counts', { of: [{ ...received, refunding_amount: '6.51' }] }),
  reserve('a foreign transaction is not found', { isForeign: true }),
  reserve('an unknown transaction is not found', { of: null }),
  reserve('a send is not returned', { of: [sent] }),
  reserve('an open charge is not returned', {
    of: [{ ...charge, phase: 'ACCEPTED', qr_code: 'code' }],
  }),
  reserve('a paid charge is returned', { of: [charged] }),
  reserve('the return of a Pix that completed a charge is one of the charge', {
    of: [received, charged],
  }),
  reserve('what was returned of the charge counts for its Pix', {
    of: [received, { ...charged, refunded_amount: '6.51' }],
  }),
  reserve('what the sender got back does not count', {
    of: [received, { ...sent, refunded_amount: '10.00' }],
  }),
  reserve('a Pix of 90 days ago is returned', {
    of: [{ ...received, created_at: new Date(longAgo.getTime() + 1) }],
  }),
  reserve('a Pix of more than 90 days ago is not returned', {
    of: [{ ...received, created_at: longAgo }],
  }),
  reserve('a charge counts from its payment', {
    of: [{ ...charged, created_at: new Date(longAgo.getTime() - 86_400_000) }],
  }),
  reserve('a charge that was paid more than 90 days ago is not returned', {
    of: [{ ...charged, created_at: longAgo, settled_at: longAgo }],
  }),
  reserve('the holder of the key is found', {
    refunds: [{ ...open, idempotency_key: key }],
  }),
  reserve('another key is not the holder', {
    refunds: [{ ...open, idempotency_key: 'other' }],
  }),
  reserve('a reported refund with the id of the return is its holder', {
    refunds: [{ ...reported, end_to_end: laterReturnId, amount: '2.00' }],
  }),
  reserve('a reported refund with another id is not', {
    refunds: [{ ...reported, end_to_end: otherReturnId, amount: '2.00' }],
  }),
  reserve('a reported refund of another institution is not', {
    refunds: [{ ...reported, end_to_end: foreignReturnId, amount: '2.00' }],
  }),
  reserve('a reported refund of another payment is not', {
    of: [received, { ...received, end_to_end: otherEndToEnd }],
    refunds: [{ ...reported, end_to_end: laterReturnId, amount: '2.00', nth: 1 }],
  }),
  reserve('what was returned of a charge that failed does not count', {
    of: [received, { ...charged, status: 'FAILED', refunded_amount: '9.00' }],
  }),
  reserve('the return is not one of the charge of another user', {
    of: [received, { ...charged, isOthers: true }],
  }),
  reserve('a blocked account returns nothing', { account: { status: 'BLOCKED' } }),
  reserve('no key is claimed for a local account', { account: { provider: 'local' } }),
  reserve('no key is claimed in the session of another user', { session: null }),
  reserve('no key is claimed in an ended session', {
    session: { status: 'ENDED', ended_at: now, sealed_token: null },
  }),
  reserve('nothing is returned during a pause', { isPaused: true }),
  together,
  find('the returns of a payment are found', [{}, { end_to_end: returnId }]),
  find('a reported refund is none of them', [{ ...reported, end_to_end: otherReturnId }]),
  find('a reported refund with the id is none of them', [{ ...reported, end_to_end: returnId }]),
  find('a return with the id is found, whatever it returns', [{ end_to_end: returnId }], {
    original: unrelated,
  }),
  find('a return of another payment is not found', [{}], { original: unrelated }),
  find('a return that was repeated is shown as such', [{}], { step: again }),
  find('a return that was stored again is shown as repeated', [{}], {
    step: { ...again, note: 'found_after_loss' },
  }),
  find('a return with one attempt is not repeated', [{}], { step: { ...again, note: null } }),
  find('a note of another step is no repeat', [{}], { step: { ...again, phase: 'UNKNOWN' } }),
  find('a repeat of another return is not its own', [{}], { otherStep: again }),
  find('a return that was made is not repeated', [done], { step: again }),
  find('a return around a loss is shown as repeated', [{}], { loss: { lost_since: earlier } }),
  find('a return long before a loss is not', [{}], {
    loss: { lost_since: later, ended_at: later },
  }),
  find('a return long after a loss is not', [{}], {
    loss: { began_at: longAgo, lost_since: longAgo, ended_at: longAgo },
  }),
  known('an open return is found, whatever its id', [{}]),
  known('a made return is found by its id', [{ ...done, end_to_end: returnId }]),
  known('a made return with another id is not found', [done]),
  known('a reported refund is found by its id', [{ ...reported, end_to_end: returnId }]),
];
