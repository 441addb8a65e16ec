/** Scenes of a send of a dynamic code: a charge is paid once, unless the send of it fails. */
import { reservationStatements } from '../../../src/pix/reservation-repository.ts';
import { insertTwoPayers, moment, type Scene, type Stage } from './stage.ts';

const { earlier, made, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const code = Buffer.from('code');
const otherCode = Buffer.from('other');
/** Of a send that was stored again after a loss of commits. */
const lostCode = Buffer.alloc(0);

const freeId = '00000000-0000-4000-8000-00000000ffff';

interface Paid {
  /** The stored sends of the user, of 5.00 and the code. */
  readonly sent?: readonly Columns[];
  /** The stored sends of another user. */
  readonly foreign?: readonly Columns[];
  /** The code of the send; null: it pays a key. */
  readonly digest?: Buffer | null;
  /** When the payee's institution was asked. */
  readonly askedAt?: Date;
  readonly key?: string;
  readonly limit?: string | null;
}

const completed = { status: 'COMPLETED', phase: 'SETTLED', settled_at: now };
const failed = { ...completed, status: 'FAILED' };

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
      askedAt = now,
      key = 'key',
      limit = null,
    } = how;
    await insertSends(stage, Number(await row('users')), foreign);
    await row('accounts', { agency: '1', account_number: '2', document: '93541134780' });
    const [newest] = await found('select max(user_id) as user_id from accounts');
    const user = Number(newest);
    const session = await row('banking_sessions', { user_id: user });
    await insertSends(stage, user, sent);
    const claim = [freeId, key, Buffer.from('fingerprint'), '5.00', 'a@b.c', null, later, false];
    const limits = [limit, limit, false, made, false, made];
    const rows = await fetchRows(session, user, now, ...claim, ...limits, digest, askedAt);
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
      ...[code, now].map(each),
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
  send('a key is claimed beside a lost send', {
    sent: [{ code_digest: lostCode }],
    digest: null,
  }),
  send('a code within the limit is claimed', { limit: '5.00' }),
  send('a code over the limit is not claimed', { limit: '4.99' }),
  batch,
];
