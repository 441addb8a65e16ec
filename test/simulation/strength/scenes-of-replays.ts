/**
 * Scenes of `findReplay`: the sends whose stored response it returns, and those it does not find.
 */
import { findReplay } from '../../../src/ledger/replay-repository.ts';
import { moment, type Scene } from './stage.ts';

const { earlier, now } = moment;

type Columns = Readonly<Record<string, unknown>>;

const idStem = '00000000-0000-4000-8000-00000000f00';
const endToEnd = 'E0000000020260524120000000000000';
const fingerprint = Buffer.from('fingerprint');
const charge = { operation: 'CHARGE', transaction_identification: 'a'.repeat(26) };
const ended = { phase: 'SETTLED', outcome: 'accepted', settled_at: now };

interface Repeated {
  /** The stored send; null: there is none. */
  readonly stored?: Columns | null;
  readonly session?: Columns;
  readonly userStatus?: string;
  /** Whether the request uses the session of another user. */
  readonly isForeign?: boolean;
}

/** Repeats a request of a user, beside another user's send with the same key. */
const repeat = (title: string, how: Repeated): Scene => ({
  statement: findReplay,
  title,
  async play({ row, found, fetchRows }) {
    const { stored = {}, session = {}, userStatus = 'ACTIVE', isForeign = false } = how;
    const dated = { created_at: now, updated_at: now };
    const send = { operation: 'SEND', idempotency_key: 'key', fingerprint, amount: '1.00' };
    const accepted = { status: 'PROCESSING', phase: 'ACCEPTED', outcome: 'accepted' };
    /** A payment with unique ids. */
    const good = (place: number, user_id: number): Columns => {
      const ids = { id: `${idStem}${place}`, end_to_end: `${endToEnd}${place}` };
      return { ...send, ...accepted, ...dated, ...ids, user_id };
    };
    const readSession = async (changes: Columns): Promise<readonly [unknown, number]> => {
      const made = await row('banking_sessions', changes);
      const [newest] = await found('select max(id) as id from users');
      return [made, Number(newest)];
    };
    const [foreignSession, foreigner] = await readSession({});
    await row('pix_transactions', good(1, foreigner));
    const [ownSession, user] = await readSession(session);
    await found(`update users set status = '${userStatus}' where id = ${user}`);
    if (stored) await row('pix_transactions', { ...good(2, user), ...stored });
    await row('pix_transactions', { ...good(3, user), idempotency_key: 'other' });
    const used = isForeign ? foreignSession : ownSession;
    const rows = await fetchRows(used, user, now, 'key', fingerprint);
    return rows.map(({ id, status, outcome, endToEnd: ids }) =>
      [id, status, outcome, ids].join(' '),
    );
  },
});

export const replayScenes: readonly Scene[] = [
  ...['RESERVED', 'RESOLVED'].map((phase) =>
    repeat(`a send in ${phase} may be resumed: it is not replayed`, {
      stored: { phase, outcome: null },
    }),
  ),
  repeat('a send in PAYING is replayed', { stored: { phase: 'PAYING', outcome: null } }),
  repeat('an accepted send is replayed', {}),
  repeat('a send with an unknown outcome is replayed', {
    stored: { phase: 'UNKNOWN', outcome: 'unknown' },
  }),
  repeat('a send that was refused for its session alone may be resumed: it is not replayed', {
    stored: { phase: 'UNKNOWN', outcome: 'unknown', resumable_until: now },
  }),
  repeat('a refused send is replayed', {
    stored: { phase: 'REJECTED', status: 'FAILED', outcome: 'rejected', settled_at: now },
  }),
  repeat('a completed send is replayed', { stored: { ...ended, status: 'COMPLETED' } }),
  repeat('a failed send is replayed', {
    stored: { ...ended, status: 'FAILED', outcome: 'not_sent', end_to_end: null },
  }),
  repeat('there is no send of another key, and none of another user', { stored: null }),
  repeat('a send of another request is not replayed', {
    stored: { fingerprint: Buffer.from('other') },
  }),
  repeat('a charge with the key is not replayed', { stored: charge }),
  repeat('no send is replayed in the session of another user', { isForeign: true }),
  repeat('no send is replayed in an ended session', {
    session: { status: 'ENDED', ended_at: now, sealed_token: null },
  }),
  repeat('no send is replayed with an expired token', { session: { token_expires_at: earlier } }),
  repeat('no send is replayed for a disabled user', { userStatus: 'DISABLED' }),
];
