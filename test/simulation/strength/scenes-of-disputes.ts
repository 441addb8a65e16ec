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
];

/** Inserts a user with a session, a payment, and what a situation has; beside those of another. */
async function insertDisputed(
  { row, found }: Stage,
  { payment = {}, session = {}, dispute }: Situation,
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
  statement: Scene['statement'],
  title: string,
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

const { request, requestWithdrawal, claim, end, report, reportEvent, findPending } =
  disputeStatements;

const requests = [...disputes, ...payments].flatMap((situation) => [
  scene(request, 'a request', situation, ({ user }) => [
    user,
    id,
    earlier,
    'COERCION',
    null,
    later,
  ]),
  scene(request, 'a request of another user', situation, ({ other }) => [
    other,
    id,
    earlier,
    'COERCION',
    null,
    later,
  ]),
]);

const moves = disputes.flatMap((situation) => [
  scene(requestWithdrawal, 'a withdrawal', situation, ({ user }) => [user, id, later]),
  scene(requestWithdrawal, 'a withdrawal of another user', situation, ({ other }) => {
    return [other, id, later];
  }),
  ...['REQUESTED', 'OPEN'].flatMap((status) => [
    scene(claim, `a call in ${status}`, situation, () => [id, status, now, later]),
    ...[true, false].flatMap((isRefused) =>
      [later, now].map((until) =>
        scene(
          end,
          `the end of a call in ${status}${isRefused ? ', refused,' : ''} until ${until.toISOString()}`,
          situation,
          () => [id, status, until, false, isRefused, later],
        ),
      ),
    ),
  ]),
  ...['OPEN', 'ACCEPTED', 'WITHDRAWN'].map((status) =>
    scene(report, `a response ${status}`, situation, () => [id, status, later]),
  ),
  scene(findPending, 'the job', situation, () => [later, 5]),
  scene(findPending, 'the job at once', situation, () => [made, 5]),
]);

const events = [...disputes, ...payments].flatMap((situation) => [
  ...['OPEN', 'REJECTED'].flatMap((status) => [
    scene(reportEvent, `${status} of the id`, situation, () => [id, null, status, later]),
    scene(reportEvent, `${status} of the payment`, situation, () => {
      return [null, endToEnd, status, later];
    }),
  ]),
  scene(reportEvent, 'ids that disagree', situation, () => [id, otherEndToEnd, 'OPEN', later]),
  scene(reportEvent, 'no ids', situation, () => [null, null, 'OPEN', later]),
  scene(reportEvent, 'both ids', situation, () => [id, endToEnd, 'ACCEPTED', later]),
]);

/** The pause between two calls is a tenth of the time that a dispute has waited, an hour at most. */
const pauses = [
  ['a tenth', new Date(made.getTime() + 600_000), new Date(made.getTime() + 660_000)],
  ['less than a tenth', new Date(made.getTime() + 600_000), new Date(made.getTime() + 659_999)],
  ['an hour', new Date(made.getTime() + 864e5), new Date(made.getTime() + 864e5 + 36e5)],
  ['less than an hour', new Date(made.getTime() + 864e5), new Date(made.getTime() + 864e5 + 35e5)],
] as const;

const ages = pauses.map(([title, updatedAt, at]) =>
  scene(
    findPending,
    `the job after ${title}`,
    { title: 'a request', dispute: { updated_at: updatedAt } },
    () => [at, 5],
  ),
);

const sessions = [
  ['an ended session', { status: 'ENDED', sealed_token: null, ended_at: now }],
  ['an expired token', { token_expires_at: later }],
  ['a token that expires later', { token_expires_at: new Date(later.getTime() + 1) }],
].map(([title, session]) =>
  scene(
    findPending,
    'the job',
    { title: `a request and ${String(title)}`, session: session as Columns, dispute: {} },
    () => [later, 5],
  ),
);

export const disputeScenes: readonly Scene[] = [
  ...requests,
  ...moves,
  ...events,
  ...ages,
  ...sessions,
];
