/** Scenes of a send of a dynamic code: a charge is paid once, unless the send of it fails. */
import { reservationStatements } from '../../../src/ledger/reservation-repository.ts';
import { insertTwoPayers, moment, type Scene, type Stage } from './stage.ts';

const { earlier, made, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const code = Buffer.from('code');
const otherCode = Buffer.from('other');
const payeeCode = Buffer.from('payee');
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
  /** When the payee's institution was asked. */
  readonly askedAt?: Date;
  readonly key?: string;
  readonly limit?: string | null;
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

/** A send of 5.00. */
const send = (title: string, how: Paid): Scene => ({
  statement: reservationStatements.reserveForSession,
  title,
  async play(stage) {
    const { row, found, fetchRows } = stage;
    const {
      sent = [],
      foreign = [],
      digest = code,
      payeeDigest = null,
      askedAt = now,
      key = 'key',
      limit = null,
      line,
      isForeignLine = false,
    } = how;
    const other = Number(await row('users'));
    await insertSends(stage, other, foreign);
    await row('accounts', { agency: '1', account_number: '2', document: '93541134780' });
    const [newest] = await found('select max(user_id) as user_id from accounts');
    const user = Number(newest);
    const session = await row('banking_sessions', { user_id: user });
    await insertSends(stage, user, sent);
    if (line) {
      const terms = { end_to_end: lineId, amount: '6.00', found_at: now };
      const owner = { user_id: isForeignLine ? other : user };
      await row('pix_unaccounted_lines', { ...terms, ...owner, ...line });
    }
    const claim = [freeId, key, Buffer.from('fingerprint'), '5.00', 'a@b.c', null, later, false];
    const limits = [limit, limit, false, made, false, made];
    const rows = await fetchRows(
      session,
      user,
      now,
      ...claim,
      ...limits,
      digest,
      askedAt,
      payeeDigest,
    );
    const columns = ['reserved', 'is_current', 'code_holder', 'amount'];
    return [
      rows.map((one) => columns.map((column) => one[column])),
      await found(`select encode(code_digest, 'hex') as code from pix_transactions
                    where id = '${freeId}'`),
      await found('select version from pix_limits'),
    ];
  },
});

/** Two sends of one code and one user, and one of another user. */
const batch: Scene = {
  statement: reservationStatements.reserveForSession,
  title: 'of one code and user, a batch reserves one send',
  async play({ row, found, fetchBatch }) {
    const { users, sessions } = await insertTwoPayers({ row, found });
    const calls = [0, 0, 1];
    const each = (value: unknown): unknown[] => calls.map(() => value);
    const rows = await fetchBatch(
      calls.map((user) => sessions[user]),
      calls.map((user) => users[user]),
      each(now),
      calls.map((_, place) => freeId.replace('ffff', `000${place}`)),
      calls.map((_, place) => `key-${place}`),
      ...[Buffer.from('fingerprint'), '5.00', 'a@b.c', null, later, false].map(each),
      ...[null, null, false, made, false, made].map(each),
      ...[code, now, null, null, null].map(each),
    );
    return [
      rows.map((one) => [one['reserved'], one['is_current'], one['code_holder']]),
      await found('select version from pix_limits order by user_id'),
    ];
  },
};

export const codeScenes: readonly Scene[] = [
  send('a code is claimed', {}),
  send('a code that another user pays is claimed', { foreign: [{}] }),
  send('a charge is not claimed by another address of it', {
    sent: [{ code_digest: otherCode, code_payee_digest: payeeCode }],
    payeeDigest: payeeCode,
  }),
  send('a charge whose send has failed is claimed by another address of it', {
    sent: [{ ...failed, code_digest: otherCode, code_payee_digest: payeeCode }],
    payeeDigest: payeeCode,
  }),
  send('a code beside another code is claimed', { sent: [{ code_digest: otherCode }] }),
  send('a code that is being paid is not claimed', { sent: [{}] }),
  send('a code that is paid is not claimed', { sent: [completed] }),
  send('a code that is paid with another amount is not claimed', {
    sent: [{ ...completed, amount: '6.00' }],
  }),
  send('a code whose send has failed is claimed', { sent: [failed] }),
  send('the holder of a key is found with its code', {
    sent: [{ idempotency_key: 'mine' }],
    key: 'mine',
  }),
  send('a lost send may have paid the code', {
    sent: [{ code_digest: lostCode }],
  }),
  send('a lost send of another amount may have paid the code', {
    sent: [{ code_digest: lostCode, amount: '6.00' }],
  }),
  send('a lost send that has failed has not paid the code', {
    sent: [{ ...failed, code_digest: lostCode }],
  }),
  send('a lost send that ended after the code was read may have paid it', {
    sent: [{ ...completed, code_digest: lostCode }],
    askedAt: new Date(now.getTime() + 600_000),
  }),
  send('a lost send that ended before the code was read has not paid it', {
    sent: [{ ...completed, code_digest: lostCode }],
    askedAt: new Date(now.getTime() + 600_001),
  }),
  send('of a lost send and the send of the code, that of the code is reported', {
    sent: [{ code_digest: lostCode, created_at: earlier }, completed, { code_digest: lostCode }],
  }),
  send('a payment without a send may have paid the code', { line: {} }),
  send('a payment without a send may have paid the code that was read before it', {
    line: {},
    askedAt: new Date(now.getTime() + 600_000),
  }),
  send('a payment that was seen before the code was read has not paid it', {
    line: {},
    askedAt: new Date(now.getTime() + 600_001),
  }),
  send('a payment that is accounted for has not paid the code', { line: { accounted_at: now } }),
  send('a return without an order has not paid the code', { line: { end_to_end: `D${lineId}` } }),
  send('a payment whose send is stored has not paid the code', {
    sent: [{ ...failed, end_to_end: lineId }],
    line: {},
  }),
  send('a payment whose id a received Pix has may have paid the code', {
    sent: [{ ...completed, ...received, end_to_end: lineId }],
    line: {},
  }),
  send('a payment beside another send may have paid the code', {
    sent: [{ ...failed, end_to_end: otherLineId }],
    line: {},
  }),
  send('a payment of another user has not paid the code', { line: {}, isForeignLine: true }),
  send('beside a payment without a send, the send of the code is reported', {
    sent: [completed],
    line: {},
  }),
  send('a key is claimed beside a payment without a send', { line: {}, digest: null }),
  send('a key is claimed beside a lost send', {
    sent: [{ code_digest: lostCode }],
    digest: null,
  }),
  send('a code within the limit is claimed', { limit: '5.00' }),
  send('a code over the limit is not claimed', { limit: '4.99' }),
  batch,
];
