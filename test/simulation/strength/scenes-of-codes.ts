/** Scenes of a send of a dynamic code: a charge is paid once, unless the send of it fails. */
import { reservationStatements } from '../../../src/ledger/reservation-repository.ts';
import { limitStatements } from '../../../src/ledger/spending-limit-repository.ts';
import { insertTwoPayers, moment, type Scene, type Stage } from './stage.ts';

const { earlier, made, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const code = Buffer.from('code');
const otherCode = Buffer.from('other');
const payeeCode = Buffer.from('payee');
const keyCode = Buffer.from('key-code');
/** Of a send that was stored again after a loss of commits. */
const lostCode = Buffer.alloc(0);

const lineId = 'E00000000202605241200000000000009';
const otherLineId = 'E00000000202605241200000000000008';
const freeId = '00000000-0000-4000-8000-00000000ffff';

interface Paid {
  /** The stored sends of the user, of 5.00 and the code. */
  readonly sent?: readonly Columns[];
  /** The stored sends of another user. */
  readonly foreign?: readonly Columns[];
  /** The code of the send; null: it pays a key. */
  readonly digest?: Buffer | null;
  /** The same by its payee. */
  readonly payeeDigest?: Buffer | null;
  readonly keyDigest?: Buffer | null;
  /** When the payee's institution was asked. */
  readonly askedAt?: Date;
  /** A payment of 6.00 on the statement that no send accounts for. */
  readonly line?: Columns;
  /** Whether the line is another user's. */
  readonly isForeignLine?: boolean;
}

const completed = { status: 'COMPLETED', phase: 'SETTLED', settled_at: now };
const failed = { ...completed, status: 'FAILED' };
const received = {
  operation: 'RECEIVED',
  idempotency_key: null,
  fingerprint: null,
  code_digest: null,
};

async function insertSends({ row }: Stage, user: number, sends: readonly Columns[]): Promise<void> {
  for (const changes of sends) {
    const terms = { user_id: user, amount: '5.00', code_digest: code, created_at: made };
    await row('pix_transactions', { ...terms, ...changes });
  }
}

/** What has become of the payment of a code. */
const paid = (title: string, how: Paid): Scene => ({
  statement: limitStatements.read,
  title,
  async play(stage) {
    const { row, found, fetchRows } = stage;
    const {
      sent = [],
      foreign = [],
      digest = code,
      payeeDigest = null,
      keyDigest = null,
      askedAt = now,
      line,
      isForeignLine = false,
    } = how;
    const other = Number(await row('users'));
    await insertSends(stage, other, foreign);
    await row('accounts');
    const [newest] = await found('select max(user_id) as user_id from accounts');
    const user = Number(newest);
    await insertSends(stage, user, sent);
    if (line) {
      const terms = { subject: lineId, amount: '6.00', found_at: now, blocks: 'SEND' };
      const owner = { user_id: isForeignLine ? other : user };
      await row('reconciliation_differences', { ...terms, ...owner, ...line });
    }
    const rows = await fetchRows(
      user,
      now,
      later,
      later,
      null,
      '5.00',
      digest,
      askedAt,
      payeeDigest,
      keyDigest,
    );
    return rows.map((one) => one['codeHolder']);
  },
});

/** The claim stores the code, by its address and by its payee. */
const claimed: Scene = {
  statement: reservationStatements.reserveJudged,
  title: 'a code is claimed',
  async play({ row, found, fetchRows }) {
    const { users, sessions } = await insertTwoPayers({ row, found });
    const claim = [freeId, 'key', Buffer.from('fingerprint'), '5.00', 'a@b.c', null, later, false];
    const judged = [null, null, null, code, payeeCode, keyCode, 0];
    const rows = await fetchRows(sessions[0], users[0], now, ...claim, ...judged);
    return [
      rows.map((one) => [one['reserved'], one['isCurrent']]),
      await found(`select encode(code_digest, 'hex'), encode(code_payee_digest, 'hex'),
                          encode(code_key_digest, 'hex')
                     from pix_transactions where id = '${freeId}'`),
    ];
  },
};

export const codeScenes: readonly Scene[] = [
  claimed,
  paid('a code without a payment has no holder', {}),
  paid('a code that another user pays is claimed', { foreign: [{}] }),
  paid('a charge is not claimed by another address of it', {
    sent: [{ code_digest: otherCode, code_payee_digest: payeeCode }],
    payeeDigest: payeeCode,
  }),
  paid('a charge is not claimed by another address of its key', {
    sent: [{ code_digest: otherCode, code_key_digest: keyCode }],
    keyDigest: keyCode,
  }),
  paid('a charge whose send has failed is claimed by another address of it', {
    sent: [{ ...failed, code_digest: otherCode, code_payee_digest: payeeCode }],
    payeeDigest: payeeCode,
  }),
  paid('a code beside another code is claimed', { sent: [{ code_digest: otherCode }] }),
  paid('a code that is being paid is not claimed', { sent: [{}] }),
  paid('a code that is paid is not claimed', { sent: [completed] }),
  paid('a code that is paid with another amount is not claimed', {
    sent: [{ ...completed, amount: '6.00' }],
  }),
  paid('a code whose send has failed is claimed', { sent: [failed] }),
  paid('a lost send may have paid the code', {
    sent: [{ code_digest: lostCode }],
  }),
  paid('a lost send of another amount may have paid the code', {
    sent: [{ code_digest: lostCode, amount: '6.00' }],
  }),
  paid('a lost send that has failed has not paid the code', {
    sent: [{ ...failed, code_digest: lostCode }],
  }),
  paid('a lost send that ended after the code was read may have paid it', {
    sent: [{ ...completed, code_digest: lostCode }],
    askedAt: new Date(now.getTime() + 600_000),
  }),
  paid('a lost send that ended before the code was read has not paid it', {
    sent: [{ ...completed, code_digest: lostCode }],
    askedAt: new Date(now.getTime() + 600_001),
  }),
  paid('of a lost send and the send of the code, that of the code is reported', {
    sent: [{ code_digest: lostCode, created_at: earlier }, completed, { code_digest: lostCode }],
  }),
  paid('a payment without a send may have paid the code', { line: {} }),
  paid('a payment without a send may have paid the code that was read before it', {
    line: {},
    askedAt: new Date(now.getTime() + 600_000),
  }),
  paid('a payment that was seen before the code was read has not paid it', {
    line: {},
    askedAt: new Date(now.getTime() + 600_001),
  }),
  paid('a payment that is accounted for has not paid the code', {
    line: { closed_at: now, closed_as: 'ACCEPTED' },
  }),
  paid('a line that blocks nothing has not paid the code', { line: { blocks: null } }),
  paid('a return without an order has not paid the code', { line: { blocks: 'REFUND_OUT' } }),
  paid('a payment whose send is stored has not paid the code', {
    sent: [{ ...failed, end_to_end: lineId }],
    line: {},
  }),
  paid('a payment whose id a received Pix has may have paid the code', {
    sent: [{ ...completed, ...received, end_to_end: lineId }],
    line: {},
  }),
  paid('a payment beside another send may have paid the code', {
    sent: [{ ...failed, end_to_end: otherLineId }],
    line: {},
  }),
  paid('a payment of another user has not paid the code', { line: {}, isForeignLine: true }),
  paid('beside a payment without a send, the send of the code is reported', {
    sent: [completed],
    line: {},
  }),
  paid('a key is claimed beside a payment without a send', { line: {}, digest: null }),
  paid('a key is claimed beside a lost send', {
    sent: [{ code_digest: lostCode }],
    digest: null,
  }),
];
