/** Scenes of the dispute of a payment: what each statement finds, moves and leaves. */
import { disputeStatements } from '../../../src/disputes/dispute-repository.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { made, earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const endToEnd = 'E00000000202605241200000000000001';
const otherEndToEnd = 'E00000000202605241200000000000002';
const id = '00000000-0000-4000-8000-00000000d001';
const otherId = '00000000-0000-4000-8000-00000000d002';
const ownIds = [
  '00000000-0000-4000-8000-00000000d003',
  '00000000-0000-4000-8000-00000000d004',
] as const;
const details = Buffer.from('sealed');

const paid: Columns = {
  phase: 'SETTLED',
  status: 'COMPLETED',
  settled_at: now,
  end_to_end: endToEnd,
};

interface Situation {
  readonly title: string;
  /** Of the payment. */
  readonly payment?: Columns;
  readonly session?: Columns;
  /** Whether the user is disabled, as by an erasure. */
  readonly isDisabled?: boolean;
  /** Of the dispute; null: there is none. */
  readonly dispute: Columns | null;
}

const ended = { ended_at: now, opened_at: now };
const withdrawing = { status: 'OPEN', opened_at: now, withdrawal_requested_at: now };

const none: Situation = { title: 'no dispute', dispute: null };

const disputes: readonly Situation[] = [
  none,
  { title: 'a request', dispute: {} },
  { title: 'a request that may be done', dispute: { may_be_done: true } },
  { title: 'a claimed request', dispute: { may_be_done: true, claimed_until: later } },
  { title: 'a request whose claim has ended', dispute: { may_be_done: true, claimed_until: now } },
  { title: 'a refused request', dispute: { status: 'REFUSED', ended_at: now } },
  { title: 'an open dispute', dispute: { status: 'OPEN', opened_at: now } },
  {
    title: 'an open dispute of another channel',
    dispute: { status: 'OPEN', opened_at: now, situation: null },
  },
  { title: 'a withdrawal', dispute: withdrawing },
  { title: 'a claimed withdrawal', dispute: { ...withdrawing, claimed_until: later } },
  { title: 'an accepted dispute', dispute: { status: 'ACCEPTED', ...ended } },
  { title: 'a rejected dispute', dispute: { status: 'REJECTED', ...ended } },
  { title: 'a withdrawn dispute', dispute: { status: 'WITHDRAWN', ...ended } },
];

const received: Columns = { operation: 'RECEIVED', idempotency_key: null, fingerprint: null };

const payments: readonly Situation[] = [
  { title: 'a payment at the limit', payment: { settled_at: earlier }, dispute: null },
  { title: 'a payment before the limit', payment: { settled_at: new Date(0) }, dispute: null },
  {
    title: 'an open payment',
    payment: { phase: 'ACCEPTED', status: 'PROCESSING', settled_at: null },
    dispute: null,
  },
  { title: 'a failed payment', payment: { status: 'FAILED' }, dispute: null },
  { title: 'a received Pix', payment: received, dispute: null },
  { title: 'a disabled user', isDisabled: true, dispute: null },
];

/** Inserts a user with a session, a payment, and what a situation has; beside those of another. */
async function insertDisputed(
  { row, found }: Stage,
  { payment = {}, session = {}, isDisabled = false, dispute }: Situation,
): Promise<{ readonly user: number; readonly other: number }> {
  await row('accounts');
  const [foreign] = await found('select max(user_id) as user_id from accounts');
  await row('accounts', { agency: '1', account_number: '2', document: '93541134780' });
  const [newest] = await found('select max(user_id) as user_id from accounts');
  const [user, other] = [Number(newest), Number(foreign)];
  await row('banking_sessions', { user_id: user, ...session });
  await row('pix_transactions', { ...paid, id, user_id: user, ...payment });
  const beside = { id: otherId, idempotency_key: 'other', end_to_end: otherEndToEnd };
  await row('pix_transactions', { ...paid, user_id: other, ...beside });
  // Further payments of the user: one without a dispute, one whose withdrawal is under way.
  for (const own of ownIds) {
    const ids = { id: own, idempotency_key: own, end_to_end: own };
    await row('pix_transactions', { ...paid, user_id: user, ...ids });
  }
  await row('pix_disputes', {
    ...withdrawing,
    transaction_id: ownIds[1],
    user_id: user,
    claimed_until: later,
  });
  if (dispute) {
    await row('pix_disputes', { transaction_id: id, user_id: user, details, ...dispute });
  }
  await row('pix_disputes', { transaction_id: otherId, user_id: other });
  if (isDisabled) await found(`update users set status = 'DISABLED' where id = ${user}`);
  return { user, other };
}

const stored = `select transaction_id, user_id = (select max(user_id) from accounts) as own, status,
                       situation, details is null as bare, may_be_done,
                       claimed_until is null as free, withdrawal_requested_at is null as kept,
                       opened_at is null as unopened, ended_at is null as unended,
                       updated_at > requested_at as touched, requested_at > '2026-01-01' as dated
                  from pix_disputes order by transaction_id`;

type Users = Awaited<ReturnType<typeof insertDisputed>>;

/** The rows of a call, and what is stored after it. */
const scene = (
  { statement, title }: Pick<Scene, 'statement' | 'title'>,
  situation: Situation,
  parameters: (users: Users) => readonly unknown[],
): Scene => ({
  statement,
  title: `${title} beside ${situation.title}`,
  async play(stage) {
    const users = await insertDisputed(stage, situation);
    const rows = await stage.fetchRows(...parameters(users));
    const shown = rows.map((row) =>
      Object.entries(row)
        .filter(([name]) => !/sealed|session|userId|At$/.test(name))
        .map(([name, value]) => `${name} ${String(value)}`)
        .join(', '),
    );
    return [shown, ...(await stage.found(stored))];
  },
});

const statements = disputeStatements;

const requests = [...disputes, ...payments].flatMap((situation) => {
  const request = (title: string, as: keyof Users): Scene =>
    scene({ statement: statements.request, title }, situation, (users) => {
      return [users[as], id, earlier, 'COERCION', null, later];
    });
  return [request('a request', 'user'), request('a request of another user', 'other')];
});

const withdrawals = disputes.flatMap((situation) => {
  const withdraw = (title: string, as: keyof Users): Scene =>
    scene({ statement: statements.requestWithdrawal, title }, situation, (users) => {
      return [users[as], id, later];
    });
  return [withdraw('a withdrawal', 'user'), withdraw('a withdrawal of another user', 'other')];
});

const calls = ['REQUESTED', 'OPEN'].flatMap((status) =>
  disputes.flatMap((situation) => {
    const finish = (title: string, until: Date, isRefused: boolean): Scene =>
      scene({ statement: statements.end, title: `${title} in ${status}` }, situation, () => {
        return [id, status, until, false, isRefused, later];
      });
    const title = `a call in ${status}`;
    return [
      scene({ statement: statements.claim, title }, situation, () => [id, status, now, later]),
      finish('the end of a call', later, false),
      finish('the end of an older call', now, false),
      finish('the refusal of a call', later, true),
      finish('the refusal of an older call', now, true),
    ];
  }),
);

const responses = ['OPEN', 'ACCEPTED', 'WITHDRAWN'].flatMap((status) =>
  disputes.map((situation) =>
    scene({ statement: statements.report, title: `a response ${status}` }, situation, () => {
      return [id, status, later];
    }),
  ),
);

const checks = disputes.flatMap((situation) => {
  const check = (title: string, sought: string): Scene =>
    scene({ statement: statements.check, title }, situation, () => [sought, later]);
  return [check('a check', id), check('a check of another dispute', otherId)];
});

/** What the job finds at a time. */
const pending = (title: string, situation: Situation, at: Date): Scene =>
  scene({ statement: statements.findPending, title }, situation, () => [at, 5]);

const jobs = disputes.flatMap((situation) => [
  pending('the job', situation, later),
  pending('the job at once', situation, made),
]);

const events = [...disputes, ...payments].flatMap((situation) => {
  const event = (title: string, ...parameters: unknown[]): Scene =>
    scene({ statement: statements.reportEvent, title }, situation, () => [...parameters, later]);
  return [
    event('OPEN of the id', id, null, 'OPEN'),
    event('OPEN of the payment', null, endToEnd, 'OPEN'),
    event('REJECTED of the id', id, null, 'REJECTED'),
    event('REJECTED of the payment', null, endToEnd, 'REJECTED'),
    event('ids that disagree', id, otherEndToEnd, 'OPEN'),
    event('no ids', null, null, 'OPEN'),
    event('both ids', id, endToEnd, 'ACCEPTED'),
  ];
});

const after = (ms: number): Date => new Date(made.getTime() + ms);
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Between two calls there is a tenth of the time that a dispute has waited, an hour at most. */
const pauses = [
  ['a tenth', after(10 * minuteMs), after(11 * minuteMs)],
  ['less than a tenth', after(10 * minuteMs), after(11 * minuteMs - 1)],
  ['an hour', after(dayMs), after(dayMs + 60 * minuteMs)],
  ['less than an hour', after(dayMs), after(dayMs + 60 * minuteMs - 1)],
] as const;

/** An open dispute is read after a tenth of its time, an hour at least and a day at most. */
const readingPauses = [
  ['an hour', after(0), after(60 * minuteMs)],
  ['less than an hour', after(0), after(60 * minuteMs - 1)],
  ['a tenth', after(dayMs), after(1.1 * dayMs)],
  ['less than a tenth', after(dayMs), after(1.1 * dayMs - 1)],
  ['a day', after(20 * dayMs), after(21 * dayMs)],
  ['less than a day', after(20 * dayMs), after(21 * dayMs - 1)],
] as const;

const requestAges = pauses.map(([title, updatedAt, at]) => {
  const situation = { title: 'a request', dispute: { updated_at: updatedAt } };
  return pending(`the job after ${title}`, situation, at);
});

const openAges = readingPauses.map(([title, updatedAt, at]) => {
  const dispute = { status: 'OPEN', opened_at: made, updated_at: updatedAt };
  const situation = { title: 'an open dispute', dispute };
  return pending(`the job after ${title}`, situation, at);
});

const ages = [...requestAges, ...openAges];

const sessions = Object.entries<Columns>({
  'an ended session': { status: 'ENDED', sealed_token: null, ended_at: now },
  'an expired token': { token_expires_at: later },
  'a token that expires later': { token_expires_at: new Date(later.getTime() + 1) },
}).map(([title, session]) =>
  pending('the job', { title: `a request and ${title}`, session, dispute: {} }, later),
);

export const disputeScenes: readonly Scene[] = [
  ...requests,
  ...withdrawals,
  ...calls,
  ...responses,
  ...checks,
  ...jobs,
  ...events,
  ...ages,
  ...sessions,
];
