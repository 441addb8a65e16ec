/** Scenes of the statements that correct a FAILED transaction that was paid. */
import { correctionStatements } from '../../../src/ledger/correction-repository.ts';
import { moment, type Scene } from './stage.ts';

const { earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const endToEnd = 'E00000000202605241200000000000001';
const otherEndToEnd = 'E00000000202605241200000000000002';
const thirdEndToEnd = 'E00000000202605241200000000000003';
const id = '00000000-0000-4000-8000-00000000ffff';
const otherId = '00000000-0000-4000-8000-00000000fffd';
const failed = { id, phase: 'SETTLED', status: 'FAILED', end_to_end: endToEnd, settled_at: later };
const sent = { ...failed, pix_key: 'loja@example.com', outcome: 'rejected', failure_code: 'AC03' };
const charge = {
  operation: 'CHARGE',
  end_to_end: null,
  pix_key: null,
  transaction_identification: 'a'.repeat(26),
};
const keyless = { idempotency_key: null, fingerprint: null };
const settledPix = {
  ...keyless,
  operation: 'RECEIVED',
  phase: 'SETTLED',
  status: 'COMPLETED',
  settled_at: now,
};
const originalId = '00000000-0000-4000-8000-00000000ef00';
const otherOriginalId = '00000000-0000-4000-8000-00000000ef01';

interface Facts {
  readonly stored?: Columns;
  /** Another transaction of the same user. */
  readonly other?: Columns;
  /** The transactions of another user. */
  readonly foreign?: readonly Columns[];
  readonly endToEnd?: string | null;
}

const correction = (title: string, facts: Facts): Scene => ({
  statement: correctionStatements.correct,
  title,
  async play(stage) {
    const { other, foreign = [] } = facts;
    await stage.row('pix_transactions', { ...sent, ...facts.stored });
    const [user] = await stage.found(`select user_id from pix_transactions`);
    const owner = { user_id: Number(user) };
    if (other) await stage.row('pix_transactions', { ...owner, ...again, ...other });
    const others = { user_id: await stage.row('users') };
    for (const one of foreign) await stage.row('pix_transactions', { ...others, ...again, ...one });
    const asked = facts.endToEnd === undefined ? endToEnd : facts.endToEnd;
    const rows = await stage.fetchRows(id, asked, 'bank-1', later, null, 'corrected');
    return [
      rows.map((row) => row['paidAgainBy'] === null),
      ...(await stage.found(
        `select status, phase, outcome, end_to_end, provider_txid, corrected_at is null as is_first,
                paid_again_by is null as is_once from pix_transactions where id = '${id}'`,
      )),
      ...(await stage.found(`select status from pix_transactions where id <> '${id}'`)),
      ...(await stage.found(`select phase, note, provider_txid from pix_timeline`)),
      stage.notifications.map(({ length }) => length),
      ...(await stage.found(`select count(*) from app_events where type = 'pix.completed'`)),
    ];
  },
});

/** A later send of the same user, key and amount. */
const again = {
  pix_key: sent.pix_key,
  phase: 'ACCEPTED',
  end_to_end: otherEndToEnd,
  created_at: now,
} as const;

/** A failed return of 10.50 of a received Pix of 30.00; beside it that of a Pix which waits. */
const awaiting = (title: string, sums: Columns, asked: Columns = {}): Scene => ({
  statement: correctionStatements.awaitsReturns,
  title,
  async play({ row, fetchRows }) {
    const pairs = [
      [originalId, endToEnd, id, 'D1', { ...sums }, asked],
      [otherOriginalId, otherEndToEnd, otherId, 'D2', { refunding_amount: '25.00' }, {}],
    ] as const;
    for (const [of, paidAs, returned, returnId, changes, as] of pairs) {
      const received = { ...settledPix, id: of, end_to_end: paidAs, amount: '30.00' };
      await row('pix_transactions', { ...received, ...changes });
      const names = { id: returned, original_id: of, end_to_end: returnId };
      const key = { idempotency_key: returnId, operation: 'REFUND_OUT' };
      await row('pix_transactions', { ...failed, ...key, ...names, ...as });
    }
    return (await fetchRows(id)).map((found) => found['id'] === id);
  },
});

const waits: readonly Scene[] = [
  awaiting('no return is open', { refunded_amount: '5.00' }),
  awaiting('an open return blocks', { refunding_amount: '25.00' }),
  awaiting('what is returned leaves room', {
    refunded_amount: '19.50',
    refunding_amount: '10.50',
  }),
  awaiting('what is returned leaves no room', {
    refunded_amount: '20.00',
    refunding_amount: '10.00',
  }),
  awaiting(
    'a refund to the user',
    { refunding_amount: '25.00' },
    { operation: 'REFUND_IN', ...keyless },
  ),
];

export const correctionScenes: readonly Scene[] = [
  ...waits,
  correction('a failed send was made', {}),
  correction('a failed send was made under another end-to-end id', { endToEnd: otherEndToEnd }),
  correction('a failed send was made, by another source', { endToEnd: null }),
  correction('an open send is not corrected', {
    stored: { phase: 'UNKNOWN', status: 'PROCESSING', settled_at: null, failure_code: null },
  }),
  correction('a completed send is not corrected', {
    stored: { status: 'COMPLETED', failure_code: null },
  }),
  correction('a failed charge was paid', {
    stored: charge,
  }),
  correction('a failed refund is not corrected', {
    stored: { ...keyless, operation: 'RECEIVED' },
  }),
  correction('the customer has paid again', { other: {} }),
  correction('the customer has paid again, and that has failed', {
    other: { phase: 'SETTLED', status: 'FAILED', settled_at: later },
  }),
  correction('the customer had paid before', { other: { created_at: earlier } }),
  correction('the customer has paid another key', { other: { pix_key: 'outra@example.com' } }),
  correction('the customer has paid another amount', { other: { amount: '10.51' } }),
  correction('the customer has paid the same code with another amount', {
    stored: { code_digest: Buffer.from('code') },
    other: { amount: '10.51', code_digest: Buffer.from('code') },
  }),
  correction('the customer has paid another code with another amount', {
    stored: { code_digest: Buffer.from('code') },
    other: { amount: '10.51', code_digest: Buffer.from('other') },
  }),
  correction('another customer has paid', { foreign: [{}] }),
  correction('another customer has paid twice', {
    foreign: [{}, { created_at: later, end_to_end: thirdEndToEnd }],
  }),
  correction('another failed send is not corrected', {
    foreign: [{ ...failed, id: otherId, end_to_end: null, created_at: earlier }],
  }),
  correction('the payee of a failed charge has paid with its key', {
    stored: { ...charge, pix_key: sent.pix_key },
    other: {},
  }),
  correction('the customer has received the same amount', {
    other: {
      ...keyless,
      operation: 'RECEIVED',
      phase: 'SETTLED',
      status: 'COMPLETED',
      settled_at: later,
    },
  }),
];
