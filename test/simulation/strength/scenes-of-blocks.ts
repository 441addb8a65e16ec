/**
 * Scenes of the statements that a block of orders stops: a pause, a statement that was not read
 * since a loss of commits, and a line of a statement that nothing accounts for.
 */
import type { Statement } from '../../../src/db/database.ts';
import { moveStatements } from '../../../src/ledger/move-repository.ts';
import { paymentStatements } from '../../../src/ledger/payment-repository.ts';
import { replayStatements } from '../../../src/ledger/replay-repository.ts';
import { reservationStatements } from '../../../src/ledger/reservation-repository.ts';
import { returnReservationStatements } from '../../../src/ledger/return-reservation-repository.ts';
import { limitStatements } from '../../../src/ledger/spending-limit-repository.ts';
import { sweepStatements } from '../../../src/ledger/sweep-repository.ts';
import { finishWebhookEvent } from '../../../src/settlement/event-repository.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const amount = '1.00';
const key = 'key';
const lineId = 'E00000000202605241200000000000008';
const returnedEndToEnd = 'E00000000202605241200000000000002';
const returnId = 'D00000000202605241200000000000002';
const endToEnd = 'E00000000202605241200000000000001';
const freeId = '00000000-0000-4000-8000-00000000ffff';
const open: Columns = { ended_at: null, ended_by: null };
const loss: Columns = { lost_since: earlier };

/** What is stored of holds, beside a user. */
interface Situation {
  readonly title: string;
  readonly pauses?: readonly Columns[];
  /** The place of the pause that the statement of a user was read for. */
  readonly read?: { readonly place: number; readonly isForeign?: boolean };
  readonly line?: Columns & {
    readonly isForeign?: boolean;
    /** Whether the account of its user names it, or both accounts name one. */
    readonly isNamed?: boolean | 'by both';
  };
  /** A transaction of another user with these columns. */
  readonly stored?: Columns;
}

const situations: readonly Situation[] = [
  { title: 'nothing', stored: {} },
  { title: 'a pause', pauses: [open] },
  { title: 'an ended pause', pauses: [{}] },
  { title: 'a loss', pauses: [loss] },
  { title: 'a loss and a reading since', pauses: [loss], read: { place: 0 } },
  { title: 'two losses and a reading between them', pauses: [loss, loss], read: { place: 0 } },
  { title: 'a reading and a later pause', pauses: [loss, {}], read: { place: 0 } },
  {
    title: 'a loss and a reading of another user',
    pauses: [loss],
    read: { place: 0, isForeign: true },
  },
  { title: 'a line', line: {} },
  { title: 'a line of another user', line: { isForeign: true } },
  {
    title: 'a line of another user, while the account names one',
    line: { isForeign: true, isNamed: 'by both' },
  },
  { title: 'a line of another amount', line: { amount: '2.00' } },
  { title: 'a line of any amount', line: { amount: null } },
  { title: 'a line that is accepted', line: { closed_at: now, closed_as: 'ACCEPTED' } },
  { title: 'a line that blocks nothing', line: { blocks: null } },
  { title: 'a line that the account does not name', line: { isNamed: false } },
  {
    title: 'a line and its send',
    line: {},
    stored: { phase: 'UNKNOWN', end_to_end: lineId },
  },
  {
    title: 'a line and the Pix that another user has received',
    line: {},
    stored: {
      operation: 'RECEIVED',
      idempotency_key: null,
      fingerprint: null,
      phase: 'SETTLED',
      status: 'COMPLETED',
      settled_at: now,
      end_to_end: lineId,
    },
  },
  { title: 'a line of a return', line: { blocks: 'REFUND_OUT' } },
  { title: 'a line of a payment or a return', line: { blocks: 'ANY' } },
  {
    title: 'a line and another send',
    line: {},
    stored: { phase: 'UNKNOWN', end_to_end: endToEnd },
  },
];

/** Inserts a user with an account and a session, and what a situation has. */
async function insertBlocked(
  { row, found }: Stage,
  { pauses = [], read, line, stored }: Situation,
): Promise<{ readonly user: number; readonly session: unknown }> {
  const ids: unknown[] = [];
  for (const pause of pauses) ids.push(await row('pix_pauses', pause));
  const { isForeign = false, isNamed = true, ...columns } = line ?? {};
  const facts = (isOther: boolean): Columns => ({
    ...(read && (read.isForeign ?? false) === isOther && { loss_read: ids[read.place] }),
    ...(line && isNamed && (isNamed === 'by both' || isForeign === isOther) && { blocked_by: 1 }),
  });
  await row('accounts', facts(true));
  const [foreign] = await found('select max(user_id) as user_id from accounts');
  const number = { agency: '1', account_number: '2', document: '93541134780' };
  await row('accounts', { ...number, ...facts(false) });
  const [newest] = await found('select max(user_id) as user_id from accounts');
  const [user, other] = [Number(newest), Number(foreign)];
  const session = await row('banking_sessions', { user_id: user });
  if (line) {
    await row('reconciliation_differences', {
      user_id: isForeign ? other : user,
      subject: lineId,
      amount,
      blocks: 'SEND',
      ...columns,
    });
  }
  if (stored) await row('pix_transactions', { user_id: other, ...stored });
  return { user, session };
}

const { reserveForSession, reserveJudged } = reservationStatements;

/** What a judged send has more: no code, and the version of a user without limits. */
const judgement = [null, null, null, 0];

const claim = (statement: Statement, situation: Situation): Scene => ({
  statement,
  title: `a key is claimed beside ${situation.title}, or is not`,
  async play(stage) {
    const { user, session } = await insertBlocked(stage, situation);
    const request = [Buffer.from('fingerprint'), amount, 'a@b.c', null, later, false];
    const judged = statement === reserveJudged ? judgement : [];
    const rows = await stage.fetchRows(
      session,
      user,
      now,
      freeId,
      key,
      ...request,
      null,
      null,
      null,
      ...judged,
    );
    const answered = rows.map((one) => [one['reserved'], one['block']]);
    return [
      answered,
      ...(await stage.found(`select phase from pix_transactions
                                              where idempotency_key = '${key}'`)),
    ];
  },
});

const terms = (situation: Situation): Scene => ({
  statement: limitStatements.read,
  title: `a send is judged beside ${situation.title}, or is not`,
  async play(stage) {
    const { user } = await insertBlocked(stage, situation);
    const rows = await stage.fetchRows(
      user,
      now,
      later,
      later,
      null,
      amount,
      null,
      null,
      null,
      null,
    );
    return rows.map((one) => one['block']);
  },
});

const claimReturn = (situation: Situation): Scene => ({
  statement: returnReservationStatements.reserve,
  title: `a key is claimed beside ${situation.title}, or is not`,
  async play(stage) {
    const { user, session } = await insertBlocked(stage, situation);
    const paid = { phase: 'SETTLED', status: 'COMPLETED', settled_at: now };
    const charged = { ...charge, ...paid, user_id: user, end_to_end: returnedEndToEnd };
    const id = await stage.row('pix_transactions', charged);
    const request = [Buffer.from('fingerprint'), amount, id, returnId, 'OTHER', later, false];
    const rows = await stage.fetchRows(session, user, now, freeId, key, ...request);
    return rows.map((one) => [one['reserved'], one['block']]);
  },
});

/** A scene with a transaction in RESERVED of the user, with some columns changed. */
const withSend = (
  { statement, title, changes = {} }: Omit<Scene, 'play'> & { readonly changes?: Columns },
  situation: Situation,
  play: (stage: Stage, id: unknown) => Promise<unknown>,
): Scene => ({
  statement,
  title: `${title} beside ${situation.title}, or is not`,
  async play(stage) {
    const { user } = await insertBlocked(stage, situation);
    const own = { user_id: user, idempotency_key: key, amount };
    const times = { created_at: earlier, updated_at: earlier };
    const id = await stage.row('pix_transactions', { ...own, ...times, ...changes });
    const played = await play(stage, id);
    const rows = `select phase, status from pix_transactions where id = '${String(id)}'`;
    return [played, ...(await stage.found(rows))];
  },
});

const step = (situation: Situation): Scene =>
  withSend(
    { statement: paymentStatements.step, title: 'a send enters PAYING' },
    situation,
    (stage, id) => stage.call(id, 'PAYING', endToEnd, null, now, later, 1, null),
  );

const stale = (situation: Situation, what = 'a send', changes: Columns = {}): Scene =>
  withSend(
    { statement: sweepStatements.findStale, title: `${what} is found`, changes },
    situation,
    (stage) => stage.call(['RESERVED', 'PAYING'], now, now, 5),
  );

interface Failure {
  readonly what?: string;
  readonly status?: 'FAILED' | 'COMPLETED';
  readonly changes?: Columns;
  /** The phase before it. */
  readonly phase?: string;
}

const move = (situation: Situation, failure: Failure = {}): Scene => {
  const { what = 'a send', status = 'FAILED', changes = {}, phase = 'RESERVED' } = failure;
  const none = [null, null, null, null, null, null, null];
  return withSend(
    { statement: moveStatements.move, title: `${what} is ${status}`, changes },
    situation,
    (stage, id) => stage.call(id, `{${phase}}`, 'SETTLED', status, ...none, now, '[]'),
  );
};

const finish = (failure: Failure): Scene => {
  const { what = 'a send', status = 'FAILED', changes = {}, phase = 'RESERVED' } = failure;
  const from_phases = `{${phase}}`;
  return withSend(
    { statement: finishWebhookEvent, title: `${what} is ${status} by an event`, changes },
    { title: 'nothing' },
    async (stage, id) => {
      const event = await stage.row('webhook_events');
      const made = { id, from_phases, phase: 'SETTLED', status, timeline: [] };
      const moves = JSON.stringify([made]);
      const times = [null, null, now, now];
      const rows = await stage.fetchRows(event, 'processed', '[]', ...times, moves);
      return rows.map((one) => one['isFinished']);
    },
  );
};

const outcome = (situation: Situation): Scene => ({
  statement: replayStatements.findOutcomeOfKey,
  title: `a lost send is possible beside ${situation.title}, or is not`,
  async play(stage) {
    const { user, session } = await insertBlocked(stage, situation);
    const rows = await stage.fetchRows(session, user, now, 'SEND', key);
    return rows.map((one) => [one['id'], one['mayBeLost']]);
  },
});

/** A refund that was reported for the user, or with other columns. */
interface Reported {
  readonly refund?: Columns & { readonly isForeign?: boolean };
  readonly operation?: string;
  readonly lostSince?: Date | null;
}

/** The statement of the user was read since the loss. */
const outcomeBeside = (title: string, reported: Reported = {}): Scene => ({
  statement: replayStatements.findOutcomeOfKey,
  title: `a lost return is possible beside ${title}, or is not`,
  async play(stage) {
    const { refund = {}, operation = 'REFUND_OUT', lostSince = earlier } = reported;
    const situation = { title, pauses: [{ lost_since: lostSince }], read: { place: 0 } };
    const { user, session } = await insertBlocked(stage, situation);
    const { isForeign = false, ...columns } = refund;
    const owner = isForeign ? {} : { user_id: user };
    const ended = { ...keyless, phase: 'SETTLED', status: 'COMPLETED', settled_at: now };
    const received = { ...owner, ...ended, operation: 'RECEIVED', end_to_end: returnedEndToEnd };
    const original_id = await stage.row('pix_transactions', received);
    const own = { ...owner, ...ended, operation: 'REFUND_OUT', end_to_end: returnId, original_id };
    await stage.row('pix_transactions', { ...own, ...columns });
    const rows = await stage.fetchRows(session, user, now, operation, key);
    return rows.map((one) => [one['id'], one['mayBeLost']]);
  },
});

const keyless: Columns = { idempotency_key: null, fingerprint: null };
const tenMinutesLater = new Date(moment.made.getTime() + 600_000);

const pause = situations[1] as Situation;

const charge: Columns = {
  operation: 'CHARGE',
  transaction_identification: 'a'.repeat(26),
  fingerprint: Buffer.from('fingerprint'),
};
const paying: Columns = { phase: 'PAYING', end_to_end: endToEnd };

const other: readonly Failure[] = [
  { what: 'a charge', changes: charge },
  ...['RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN'].map((phase) => {
    return { what: `a send in ${phase}`, phase, changes: { phase, end_to_end: endToEnd } };
  }),
  { what: 'a send in RESERVED', status: 'COMPLETED' },
];

export const blockScenes: readonly Scene[] = [
  ...situations.flatMap((situation) => [
    claim(reserveForSession, situation),
    claim(reserveJudged, situation),
    terms(situation),
    claimReturn(situation),
    step(situation),
    stale(situation),
    move(situation),
    outcome(situation),
  ]),
  outcomeBeside('a reported refund'),
  outcomeBeside('a reported refund of another user', { refund: { isForeign: true } }),
  outcomeBeside('a reported refund without a loss', { lostSince: null }),
  outcomeBeside('a refund that was reported just before a loss', { lostSince: tenMinutesLater }),
  outcomeBeside('a refund that was reported before a loss', {
    lostSince: new Date(tenMinutesLater.getTime() + 1),
  }),
  outcomeBeside('a return of another key', {
    refund: { idempotency_key: 'other', fingerprint: Buffer.from('fingerprint') },
  }),
  outcomeBeside('a Pix that is received', {
    refund: { operation: 'RECEIVED', original_id: null, end_to_end: endToEnd },
  }),
  outcomeBeside('a reported refund for a send', { operation: 'SEND' }),
  stale(pause, 'a send in PAYING', paying),
  stale(pause, 'a charge', charge),
  ...other.flatMap((failure) => [move(pause, failure), finish(failure)]),
  finish({}),
];
