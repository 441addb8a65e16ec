/** Scenes of a send with limits: the counted amounts, and the applied limit. */
import { reservationStatements } from '../../../src/ledger/reservation-repository.ts';
import { insertTwoPayers, moment, type Scene } from './stage.ts';

const { earlier, made, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

interface Limited {
  /** The user's row of limits; `sent` are the user's stored sends. */
  readonly own?: Columns | null;
  readonly sent?: readonly Columns[];
  /** The limits of the settings by day and by night. */
  readonly day?: string | null;
  readonly night?: string | null;
  /** Whether it is night if nights begin at 20:00, and if they begin at 22:00. */
  readonly isNight?: readonly [boolean, boolean];
  /** The beginning of the period if nights begin at 20:00, and if they begin at 22:00. */
  readonly began?: readonly [Date, Date];
  /** Where limits differ by payee: who is paid, and the version by which the send was judged. */
  readonly payeeClass?: string | null;
  readonly judged?: number | null;
}

const freeId = '00000000-0000-4000-8000-00000000ffff';

const settled = { phase: 'SETTLED', settled_at: now };

/** A send of 5.00. */
const send = (title: string, how: Limited): Scene => ({
  statement: reservationStatements.reserveForSession,
  title,
  async play({ row, found, fetchRows }) {
    const { own = null, sent = [], day = '10.00', night = '1.00' } = how;
    const { isNight = [false, false], began = [made, made] } = how;
    const { payeeClass = null, judged = null } = how;
    const names = { agency: '1', account_number: '2', document: '93541134780' };
    await row('accounts', names);
    const [newest] = await found('select max(user_id) as user_id from accounts');
    const user = Number(newest);
    const session = await row('banking_sessions', { user_id: user });
    await row('pix_transactions', { amount: '9.00', created_at: now });
    for (const [place, changes] of sent.entries()) {
      const good = { idempotency_key: `sent-${place}`, amount: '6.00', created_at: now };
      const fingerprint = Buffer.from('fingerprint');
      const id = freeId.replace('ffff', `000${place}`);
      const status = { operation: 'SEND', status: 'PROCESSING', phase: 'RESERVED' };
      const dated = { updated_at: now };
      await row('pix_transactions', {
        id,
        fingerprint,
        user_id: user,
        ...good,
        ...status,
        ...dated,
        ...changes,
      });
    }
    if (own) await row('pix_limits', { user_id: user, ...own });
    const [first, second] = isNight;
    const rows = await fetchRows(
      session,
      user,
      now,
      freeId,
      'key',
      Buffer.from('fingerprint'),
      '5.00',
      'a@b.c',
      null,
      later,
      false,
      day,
      night,
      first,
      began[0],
      second,
      began[1],
      null,
      null,
      null,
      payeeClass,
      judged,
    );
    const columns = ['reserved', 'is_current', 'night_hour', 'limit_amount', 'spent'];
    const answered = rows.map((one) => columns.map((column) => one[column]));
    const stored = await found('select version from pix_limits');
    if (payeeClass === null && judged === null && !own?.['own_by_payee']) return [answered, stored];
    const paid = await found(`select payee_class from pix_transactions where id = '${freeId}'`);
    return [answered, stored, rows.map((one) => one['is_by_payee']), paid];
  },
});

/** Two sends of one user without limits of their own, and one of a user who may send less. */
const batch: Scene = {
  statement: reservationStatements.reserveForSession,
  title: 'each send of a batch has the limit of its user, and of one user one send is reserved',
  async play({ row, found, fetchBatch }) {
    const { users, sessions } = await insertTwoPayers({ row, found });
    await row('pix_limits', { user_id: users[1], own_day: '4.99' });
    const calls = [0, 0, 1];
    const each = (value: unknown): unknown[] => calls.map(() => value);
    const rows = await fetchBatch(
      calls.map((user) => sessions[user]),
      calls.map((user) => users[user]),
      each(now),
      calls.map((_, place) => freeId.replace('ffff', `000${place}`)),
      calls.map((_, place) => `key-${place}`),
      each(Buffer.from('fingerprint')),
      each('5.00'),
      each('a@b.c'),
      each(null),
      each(later),
      each(false),
      each('10.00'),
      each('1.00'),
      [false, false, true],
      each(made),
      [false, false, true],
      each(made),
      ...[null, null, null, null, null].map(each),
    );
    return [
      rows.map((one) => [one['reserved'], one['limit_amount']]),
      await found('select version from pix_limits order by user_id'),
    ];
  },
};

export const limitScenes: readonly Scene[] = [
  batch,
  send('a send within the limit is reserved', {}),
  send('a send without a limit in this period is reserved', { day: null, sent: [{}] }),
  send('an earlier send counts', { sent: [{}] }),
  send('a send of exactly the limit is reserved', { sent: [{ amount: '5.00' }] }),
  send('a failed send does not count', { sent: [{ ...settled, status: 'FAILED' }] }),
  send('a completed send counts', { sent: [{ ...settled, status: 'COMPLETED' }] }),
  send('a charge does not count', {
    sent: [{ operation: 'CHARGE', transaction_identification: 'a'.repeat(26) }],
  }),
  send('a send before the period does not count', { sent: [{ created_at: earlier }] }),
  send('at night the limit of the night applies', { isNight: [true, true] }),
  send('a night from 22 has not begun', { own: { night_hour: 22 }, isNight: [true, false] }),
  send('a night from 20 has begun', { own: { night_hour: 20 }, isNight: [true, false] }),
  send('a period of nights from 22 counts from its own start', {
    own: { night_hour: 22 },
    began: [earlier, made],
    sent: [{ created_at: earlier }],
  }),
  send('a change of the hour applies when it is due', {
    own: { night_hour_next: 22, night_hour_next_at: now },
    isNight: [true, false],
  }),
  send('a change of the hour waits until it is due', {
    own: { night_hour_next: 22, night_hour_next_at: later },
    isNight: [true, false],
  }),
  send('a personal limit of the day applies', { own: { day: '4.99' } }),
  send('a personal limit of the night applies', { own: { night: '5.00' }, isNight: [true, true] }),
  send('a raise of the day limit waits until it is due', {
    own: { day: '1.00', day_next: '9.00', day_next_at: later },
  }),
  send('a raise of the day limit applies when it is due', {
    own: { day: '1.00', day_next: '9.00', day_next_at: now },
  }),
  send('a raise of the night limit waits until it is due', {
    own: { night: '1.00', night_next: '9.00', night_next_at: later },
    isNight: [true, true],
  }),
  send('a raise of the night limit applies when it is due', {
    own: { night: '1.00', night_next: '9.00', night_next_at: now },
    isNight: [true, true],
  }),
  send('each send counts the row', { own: { version: 7 } }),
  send('a row without a limit is counted', { day: null, own: { version: 7 } }),
  send("the customer's own limit applies below the bank's", { own: { own_day: '4.99' } }),
  send("the customer's own limit of the night applies", {
    own: { own_night: '5.00', night: '9.00' },
    isNight: [true, true],
  }),
  send("the bank's limit applies below the customer's own", {
    own: { day: '4.99', own_day: '9.00' },
  }),
  send("the customer's own limit applies without one of the bank", {
    day: null,
    own: { own_day: '4.99' },
  }),
  send("a raise of the customer's own limit waits until it is due", {
    own: { own_day: '1.00', own_day_next: '9.00', own_day_next_at: later },
  }),
  send("a raise of the customer's own limit applies when it is due", {
    own: { own_day: '1.00', own_day_next: '9.00', own_day_next_at: now },
  }),
  send("a raise of the customer's own limit of the night applies when it is due", {
    own: { night: '9.00', own_night: '1.00', own_night_next: '8.00', own_night_next_at: now },
    isNight: [true, true],
  }),
  send('the limit that the customer removes applies until it is due', {
    own: { own_day: '1.00', own_day_next: null, own_day_next_at: later },
  }),
  send('a send of a customer with limits by payee is not reserved unjudged', {
    own: { own_by_payee: '{}' },
  }),
  send('a judged send is reserved over the limit for all, with its payee', {
    own: { version: 7, own_day: '1.00', own_by_payee: '{}' },
    payeeClass: 'company',
    judged: 7,
  }),
  send('a send that was judged by an earlier version is not reserved', {
    own: { version: 7 },
    payeeClass: 'company',
    judged: 6,
  }),
  send('a judged send of a user without a row makes one', {
    day: null,
    payeeClass: 'unknown',
    judged: 0,
  }),
  send('a send that was judged by a row that is gone is not reserved', {
    day: null,
    payeeClass: 'company',
    judged: 1,
  }),
];
