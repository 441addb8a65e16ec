/** Mutations of the disputes of payments: see `mutations.ts`. */
import { disputeStatements } from '../../src/disputes/dispute-repository.ts';
import { ProviderError } from '../../src/provider/errors.ts';
import type { Provider } from '../../src/provider/provider.ts';
import type { DisputePolicy } from './bank/dispute-policy.ts';
import type { Deviation, Mutation } from './deviation.ts';
import { replacing, responding } from './mutations-of-operations.ts';
import { sendJobs } from './jobs.ts';

const { claim, end, findPending, reportEvent } = disputeStatements;

let attempts = 0;

/** Each attempt to open a dispute has an id of its own. */
const newDisputeIds = (wire: Provider): Provider => ({
  ...wire,
  openDispute(request) {
    attempts += 1;
    const { order } = request;
    const disputeId = order.disputeId.slice(0, -8) + String(attempts).padStart(8, '0');
    return wire.openDispute({ ...request, order: { ...order, disputeId } });
  },
});

/** A call whose outcome is unknown counts as done. */
async function assumeDone<Status>(call: Promise<Status>, done: Status): Promise<Status> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.outcome !== 'unknown') throw error;
    return done;
  }
}

const doneUnlessRefused = (provider: Provider): Provider => ({
  ...provider,
  openDispute: (request) => assumeDone(provider.openDispute(request), 'OPEN'),
  withdrawDispute: (request) => assumeDone(provider.withdrawDispute(request), 'WITHDRAWN'),
});

/** Calls to the bank are lost, and little else fails. */
const losingCalls: NonNullable<Deviation['profile']> = {
  attemptFaults: 0.6,
  deaths: 0,
  databaseFaults: 0,
  databaseWindows: 0,
  refusals: 0,
};

/** Many disputes, which the bank does not decide. */
const undecided: DisputePolicy = {
  repeat: 'returned',
  elsewhere: 0,
  undecided: 1,
  times: [5, 5, 5],
};

const disputed: readonly Mutation[] = [
  {
    name: 'a call about a dispute is claimed while another process makes it',
    deviation: replacing(claim, (text) =>
      text.replace(/and \(claimed_until is null or claimed_until <= \$\d::timestamptz\)/, ''),
    ),
  },
  {
    name: 'a refused repeat ends a dispute that may have been opened',
    deviation: {
      ...responding(claim, (rows) => rows.map((row) => ({ ...row, mayHaveBeenDone: false }))),
      policy: { hookTries: 0, disputes: { ...undecided, repeat: 'refused' } },
      profile: losingCalls,
    },
  },
  {
    name: 'a withdrawal whose call is lost is forgotten',
    deviation: {
      ...replacing(end, (text) =>
        text.replace(/(withdrawal_requested_at = case when )\$\d::boolean/, '$1true'),
      ),
      profile: losingCalls,
      policy: { disputes: undecided },
    },
  },
  {
    name: 'an event replaces a final status of a dispute',
    deviation: replacing(reportEvent, (text) => text.replace(/and d\.status in \([^)]*\)/, '')),
  },
  {
    name: 'an event moves the dispute of another payment',
    deviation: replacing(reportEvent, (text) =>
      text.replace(/and \(\$\d::text is null or end_to_end = \$\d::text\)/, ''),
    ),
  },
  {
    name: 'an event opens a dispute of the payee',
    deviation: replacing(reportEvent, (text) => text.replace("operation = 'SEND'", 'true')),
  },
  {
    name: 'an event of a dispute that is ahead of its payment is dropped',
    deviation: {
      ...responding(reportEvent, (rows) => rows.map((row) => ({ ...row, payment: 'COMPLETED' }))),
      profile: losingCalls,
      policy: { disputes: { ...undecided, elsewhere: 1 } },
    },
  },
  {
    name: 'an open dispute is not read at the bank',
    deviation: {
      ...responding(findPending, (rows) =>
        rows.filter((row) => row['status'] !== 'OPEN' || row['withdrawalRequestedAt'] !== null),
      ),
      policy: { disputes: undecided },
    },
  },
  { name: 'a dispute has a new id at each attempt', deviation: { wire: newDisputeIds } },
  {
    name: 'a call about a dispute with an unknown outcome counts as done',
    deviation: { provider: doneUnlessRefused },
  },
  {
    name: 'no call about a dispute is repeated',
    deviation: {
      jobs: { ...sendJobs, 'repeat-disputes': { everyMs: 60_000, run: async () => undefined } },
    },
  },
];

export const mutationsOfDisputes: readonly Mutation[] = disputed.map((mutation) => {
  const deviation: Deviation = { ...mutation.deviation, disputes: true };
  return Object.assign(mutation, { deviation });
});
