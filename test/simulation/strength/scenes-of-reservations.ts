/** Scenes of the statements that claim an idempotency key. */
import { reservationStatements } from '../../../src/ledger/reservation-repository.ts';
import { limitScenes } from './scenes-of-limits.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const key = 'key';

/** An id that no row has. */
const freeId = '00000000-0000-4000-8000-00000000ffff';

const txid = 'a'.repeat(26);

interface Reserved {
  readonly account?: Columns;
  /** The banking session, or null for another user's. */
  readonly session?: Columns | null;
  readonly userStatus?: string;
  /** Whether the key has a holder, beside other transactions that must not be found. */
  readonly isHeld?: boolean;
  /** The end-to-end id of a fresh look-up. */
  readonly endToEnd?: string;
  /** Another send that has this end-to-end id. */
  readonly used?: string;
}

const reserving = {
  charge: reservationStatements.reserve,
  send: reservationStatements.reserveForSession,
  judged: reservationStatements.reserveJudged,
} as const;

/** Transactions that differ from the holder of the key in one column, and the holder: of 4.00. */
async function insertHolders(
  { row }: Stage,
  user: number,
  verb: keyof typeof reserving,
): Promise<void> {
  const charge = (digit: string): Columns => ({
    operation: 'CHARGE',
    transaction_identification: digit.repeat(26),
  });
  const send = (): Columns => ({ operation: 'SEND', transaction_identification: null });
  const [same, other] = verb === 'charge' ? [charge, send] : [send, charge];
  const own = { idempotency_key: key, user_id: user };
  await row('pix_transactions', { ...same('1'), idempotency_key: key, amount: '1.00' });
  await row('pix_transactions', { ...own, ...other('2'), amount: '2.00' });
  await row('pix_transactions', { ...own, ...same('3'), idempotency_key: 'other', amount: '3.00' });
  await row('pix_transactions', { ...own, ...same('4'), amount: '4.00' });
}

/** Claims a key for a charge, or for a send in a session. */
const reserve = (title: string, verb: keyof typeof reserving, how: Reserved): Scene => ({
  statement: reserving[verb],
  title,
  async play(stage) {
    const { row, found } = stage;
    const { account = {}, session = {}, userStatus = 'ACTIVE' } = how;
    await row('accounts', { status: 'BLOCKED' });
    const names = { agency: '1', account_number: '2', document: '93541134780' };
    await row('accounts', { ...names, ...account });
    const [newest] = await found('select max(user_id) as user_id from accounts');
    const user = Number(newest);
    await found(`update users set status = '${userStatus}' where id = ${user}`);
    const own = await row('banking_sessions', { user_id: user, ...session });
    const foreign = await row('banking_sessions');
    if (how.isHeld) await insertHolders(stage, user, verb);
    const claim = [Buffer.from('fingerprint'), '1.00', 'a@b.c', null];
    const { endToEnd = null, used } = how;
    if (used !== undefined) await row('pix_transactions', { end_to_end: used });
    const looked = [null, endToEnd, endToEnd && '{"name":"Ana"}'];
    const ofSend = [session ? own : foreign, user, now, freeId, key, ...claim, later, false];
    const calls = {
      charge: [freeId, user, 'CHARGE', key, ...claim, txid, later, now],
      send: [...ofSend, ...looked],
      // No code, and the version of a user without limits.
      judged: [...ofSend, ...looked, null, null, null, 0],
    };
    const rows = await stage.fetchRows(...calls[verb]);
    const answered = rows.map((one) => [one['reserved'], one['accountStatus'], one['amount']]);
    const claimed = await found('select phase from pix_transactions');
    const begun = `select phase, attempt from pix_timeline where transaction_id = '${freeId}'`;
    return [answered, ...claimed, ...(await found(begun))];
  },
});

export const reservationScenes: readonly Scene[] = [
  reserve('a key is claimed', 'charge', {}),
  reserve('the holder of a key is found', 'charge', { isHeld: true }),
  reserve('no key is claimed for a blocked account', 'charge', {
    account: { status: 'BLOCKED' },
  }),
  reserve('no key of a charge is claimed for a disabled user', 'charge', {
    userStatus: 'DISABLED',
  }),
  ...(['send', 'judged'] as const).flatMap((verb) => [
    reserve('a key is claimed', verb, {}),
    reserve('a key is claimed by a fresh look-up, and paid', verb, { endToEnd: 'E1' }),
    reserve('no key is claimed by a look-up that another send has', verb, {
      endToEnd: 'E1',
      used: 'E1',
    }),
    reserve('the holder of a key is found', verb, { isHeld: true }),
    reserve('no key is claimed for a blocked account', verb, {
      account: { status: 'BLOCKED' },
    }),
    reserve('no key is claimed for a local account', verb, {
      account: { provider: 'local' },
    }),
    reserve('no key is claimed without an agency', verb, { account: { agency: '' } }),
    reserve('no key is claimed without a number', verb, { account: { account_number: '' } }),
    reserve('no key is claimed without a document', verb, { account: { document: '' } }),
    reserve('no key is claimed in the session of another user', verb, { session: null }),
    reserve('no key is claimed in an ended session', verb, {
      session: { status: 'ENDED', ended_at: now, sealed_token: null },
    }),
    reserve('no key is claimed with an expired token', verb, {
      session: { token_expires_at: earlier },
    }),
    reserve('no key is claimed for a disabled user', verb, { userStatus: 'DISABLED' }),
  ]),
  ...limitScenes,
];
