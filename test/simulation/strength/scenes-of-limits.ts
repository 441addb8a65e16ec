/**
 * Scenes of a send with limits: what it is judged by is read, and it is reserved under the version
 * of the limits that it was judged by.
 */
import { reservationStatements } from '../../../src/ledger/reservation-repository.ts';
import { limitStatements } from '../../../src/ledger/spending-limit-repository.ts';
import { insertTwoPayers, moment, type Scene, type Stage } from './stage.ts';

const { earlier, made, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const freeId = '00000000-0000-4000-8000-00000000ffff';

/** Inserts a payer, beside another user with limits. */
async function insertPayer({ row, found }: Stage, limits: Columns | null) {
  await row('pix_limits', { own_day: '0.50', version: 99, night_hour: 22 });
  await row('accounts', { agency: '1', account_number: '2', document: '93541134780' });
  const [newest] = await found('select max(user_id) as user_id from accounts');
  const user = Number(newest);
  const session = await row('banking_sessions', { user_id: user });
  if (limits) await row('pix_limits', { user_id: user, ...limits });
  return [session, user] as const;
}

const claim = [freeId, 'key', Buffer.from('fingerprint'), '5.00', 'a@b.c', null, later, false];

const claimed = `select payee_class from pix_transactions where id = '${freeId}'`;

/** A send of a user with a row of limits, or without one. */
const unjudged = (title: string, limits: Columns | null): Scene => ({
  statement: reservationStatements.reserveForSession,
  title,
  async play(stage) {
    const payer = await insertPayer(stage, limits);
    const rows = await stage.fetchRows(...payer, now, ...claim, 'company', null, null);
    const columns = ['reserved', 'isLimited', 'isByPayee'];
    return [rows.map((one) => columns.map((column) => one[column])), await stage.found(claimed)];
  },
});

interface Judged {
  /** The version of the user's row; null: there is none. */
  readonly stored: number | null;
  /** The version that the send was judged by. */
  readonly version: number;
}

const judged = (title: string, { stored, version }: Judged): Scene => ({
  statement: reservationStatements.reserveJudged,
  title,
  async play(stage) {
    const payer = await insertPayer(stage, stored === null ? null : { version: stored });
    const looked = ['unknown', null, null];
    const rows = await stage.fetchRows(
      ...payer,
      now,
      ...claim,
      ...looked,
      null,
      null,
      null,
      version,
    );
    return [
      rows.map((one) => [one['reserved'], one['isCurrent']]),
      await stage.found('select version from pix_limits order by version'),
      await stage.found(claimed),
    ];
  },
});

/** Two sends of one user without a row, and one of a user who has changed the limits since. */
const batch: Scene = {
  statement: reservationStatements.reserveJudged,
  title: 'of one user, a batch reserves one send',
  async play({ row, found, fetchBatch }) {
    const { users, sessions } = await insertTwoPayers({ row, found });
    await row('pix_limits', { user_id: users[1], version: 3 });
    const calls = [0, 0, 1, 1];
    const each = (value: unknown): unknown[] => calls.map(() => value);
    const rows = await fetchBatch(
      calls.map((user) => sessions[user]),
      calls.map((user) => users[user]),
      each(now),
      calls.map((_, place) => freeId.replace('ffff', `000${place}`)),
      calls.map((_, place) => `key-${place}`),
      ...[Buffer.from('fingerprint'), '5.00', 'a@b.c', null, later, false].map(each),
      ...[null, null, null, null, null, null].map(each),
      [0, 0, 2, 3],
    );
    return [
      rows.map((one) => [one['reserved'], one['isCurrent']]),
      await found('select version from pix_limits order by user_id'),
    ];
  },
};

interface Terms {
  readonly limits?: Columns;
  /** Sends of the user, of 6.00. */
  readonly sent?: readonly Columns[];
  /** The send that is judged, which does not count. */
  readonly excluded?: string | null;
}

const settled = { phase: 'SETTLED', settled_at: now };

/** The period began at `made`; with nights from 22:00, earlier. */
const terms = (title: string, { limits, sent = [], excluded = null }: Terms): Scene => ({
  statement: limitStatements.read,
  title,
  async play(stage) {
    const { row, fetchRows } = stage;
    const [, user] = await insertPayer(stage, limits ?? null);
    await row('pix_transactions', { amount: '9.00', created_at: now });
    for (const [place, changes] of sent.entries()) {
      const id = freeId.replace('ffff', `000${place}`);
      const key = { idempotency_key: `sent-${place}`, user_id: user };
      const times = { created_at: now, updated_at: now };
      await row('pix_transactions', { id, amount: '6.00', ...key, ...times, ...changes });
    }
    const rows = await fetchRows(
      user,
      now,
      made,
      earlier,
      excluded,
      '5.00',
      null,
      null,
      null,
      null,
    );
    const ofLimits = Object.keys(limits ?? {})
      .map((column) => column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()))
      .filter((column) => column in (rows[0] ?? {}));
    const columns = ['version', 'nightHour', 'payeeClass', 'phase', 'spent', ...ofLimits];
    const read = rows.map((one) => columns.map((column) => one[column]));
    // The sums have no order.
    return read.toSorted((one, other) => (String(one) < String(other) ? -1 : 1));
  },
});

/** A value that is changed, and one whose change is due. */
const changing = ['day', 'night', 'own_day', 'own_night'].flatMap((column) => {
  const change = { [column]: '1.00', [`${column}_next`]: '9.00' };
  const at = `${column}_next_at`;
  return [
    terms(`the limit ${column} is read`, { limits: { [column]: '4.99' } }),
    terms(`a change of ${column} waits until it is due`, { limits: { ...change, [at]: later } }),
    terms(`a change of ${column} applies when it is due`, { limits: { ...change, [at]: now } }),
  ];
});

const termScenes: readonly Scene[] = [
  terms('a user without limits has none', {}),
  terms('a send counts', { sent: [{}] }),
  terms('sends count by class and phase', {
    sent: [
      { payee_class: 'company' },
      { payee_class: 'company' },
      { payee_class: 'unknown' },
      { payee_class: 'company', ...settled, status: 'COMPLETED' },
    ],
  }),
  terms('a failed send does not count', { sent: [{ ...settled, status: 'FAILED' }] }),
  terms('a charge does not count', {
    sent: [{ operation: 'CHARGE', transaction_identification: 'a'.repeat(26) }],
  }),
  terms('a send before the period does not count', { sent: [{ created_at: earlier }] }),
  terms('a period of nights from 22 counts from its own start', {
    limits: { night_hour: 22 },
    sent: [{ created_at: earlier }],
  }),
  terms('a change of the hour applies when it is due', {
    limits: { night_hour_next: 22, night_hour_next_at: now },
    sent: [{ created_at: earlier }],
  }),
  terms('a change of the hour waits until it is due', {
    limits: { night_hour_next: 22, night_hour_next_at: later },
    sent: [{ created_at: earlier }],
  }),
  terms('the send that is judged does not count', {
    sent: [{}, { amount: '2.00' }],
    excluded: freeId.replace('ffff', '0000'),
  }),
  terms('limits by payee are read, with the version', {
    limits: { version: 7, own_by_payee: '{}' },
  }),
  ...changing,
];

export const limitScenes: readonly Scene[] = [
  unjudged('a send without limits is reserved', null),
  unjudged('a row without a limit does not limit', { version: 7, night_hour: 22 }),
  ...['day', 'night', 'own_day', 'own_night'].flatMap((column) => [
    unjudged(`a send beside the limit ${column} is not reserved`, { [column]: '9.00' }),
    unjudged(`a send beside a coming limit ${column} is not reserved`, {
      [`${column}_next`]: '9.00',
      [`${column}_next_at`]: later,
    }),
  ]),
  unjudged('a send of a customer with limits by payee is not reserved', { own_by_payee: '{}' }),
  judged('a judged send is reserved, and counted', { stored: 7, version: 7 }),
  judged('a send that was judged by an earlier version is not reserved', { stored: 7, version: 6 }),
  judged('a judged send of a user without a row makes one', { stored: null, version: 0 }),
  judged('a send that was judged by a row that is gone is not reserved', {
    stored: null,
    version: 1,
  }),
  judged('a refused send is not reserved', { stored: 7, version: -1 }),
  batch,
  ...termScenes,
];
