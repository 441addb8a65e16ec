/** Scenes of what the sweep reads about the attempts at a send that is still open. */
import { failedAfterRepeat } from '../../../src/domain/pix.ts';
import { sweepStatements } from '../../../src/ledger/sweep-repository.ts';
import { moment, type Scene } from './stage.ts';

const { earlier, now } = moment;

type Columns = Readonly<Record<string, unknown>>;

const paying = { phase: 'PAYING', attempt: 1 };
const refused = { phase: 'UNKNOWN', attempt: 1, http_status: 401 };
const repeated = { phase: 'PAYING', attempt: 2, http_status: 401 };
const refusedAgain = { ...refused, attempt: 2 };

const minutesAfter = (minutes: number): Date => new Date(earlier.getTime() + minutes * 60_000);
const ofOtherTimes: readonly Columns[] = [
  { lost_since: minutesAfter(11), ended_at: null, ended_by: null },
  { lost_since: minutesAfter(-99), ended_at: minutesAfter(-11) },
];

/** An open send with a timeline, and pauses of all sends. */
const overdue = (
  title: string,
  timeline: readonly Columns[],
  pauses: readonly Columns[] = [],
): Scene => ({
  statement: sweepStatements.findUnconfirmed,
  title,
  async play({ row, found, fetchRows }) {
    for (const pause of pauses) await row('pix_pauses', pause);
    await row('accounts');
    const [userId] = await found('select max(user_id) as user_id from accounts');
    const id = await row('pix_transactions', {
      phase: 'UNKNOWN',
      end_to_end: 'E00000000202605241200000000000001',
      user_id: Number(userId),
      created_at: earlier,
      updated_at: earlier,
    });
    await row('banking_sessions', { user_id: Number(userId) });
    for (const one of timeline) await row('pix_timeline', { transaction_id: id, ...one });
    const rows = await fetchRows(now, now, 5);
    return rows.map((one) => [one['hasFailureReport'], one['wasRefusedForSession']]);
  },
});

export const overdueScenes: readonly Scene[] = [
  overdue('a send whose attempts were all answered by 401', [paying, repeated, refusedAgain]),
  overdue('a send with another answer to an attempt', [
    paying,
    { ...repeated, http_status: 500 },
    refusedAgain,
  ]),
  overdue('a send with another answer, and an answer that is noted twice', [
    paying,
    { ...repeated, http_status: 500 },
    refusedAgain,
    refusedAgain,
  ]),
  overdue('a first step with a status has no answer', [{ ...paying, http_status: 401 }]),
  overdue('another row with a status is no answer', [
    paying,
    { phase: 'SEEN', attempt: 2, http_status: 401 },
  ]),
  overdue('a send whose attempts may be lost', [paying, refused], [{ lost_since: earlier }]),
  overdue('a send beside losses of other times', [paying, refused], ofOtherTimes),
  overdue('a send with a reported failure', [
    paying,
    { phase: 'ANOMALY', note: failedAfterRepeat },
  ]),
  overdue('a send with another anomaly', [paying, { phase: 'ANOMALY', note: 'weak_id' }]),
  overdue('a note is no anomaly', [paying, { phase: 'UNKNOWN', note: failedAfterRepeat }]),
];
