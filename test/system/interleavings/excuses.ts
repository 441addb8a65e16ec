/** What the outcome of two transactions may be, besides that of one after the other. */

/** The SQLSTATE of a statement that PostgreSQL refuses because two wait for each other. */
export const deadlock = '40P01';

export interface Excuse {
  /** Matches the name of an operation, or the names of two, as in `one | other`. */
  readonly names: RegExp;
  /** Matches each line of the difference; a deadlock only if it names its SQLSTATE. */
  readonly only: RegExp;
  /** What must hold of all lines together. */
  readonly isEnough?: (lines: readonly string[]) => boolean;
  readonly reason: string;
}

/** Whether each event of the queue is due as early as in an order: no wake is lost. */
function isEarly(lines: readonly string[]): boolean {
  const [found, expected] = ['+', '-'].map((sign) => {
    const rows = lines.filter((line) => line.startsWith(`${sign} webhook_queue `));
    return rows.map((row) => JSON.parse(row.replace(/^. \w+ /, '')) as Queued);
  });
  return (expected ?? []).every((one) =>
    found?.some(({ event_id: id, due_at: at }) => id === one.event_id && at <= one.due_at),
  );
}

interface Queued {
  readonly event_id: string;
  readonly due_at: string;
}

/**
 * Operations that change nothing beside another one, and say so: their callers run them again, and
 * they count then.
 */
interface Repeated extends Excuse {
  /** The answer that says so, as JSON. */
  readonly answer: RegExp;
}

const nothing = /^$/;

export const repeated: readonly Repeated[] = [
  {
    names: /^(?:pix-reserve(?:-send(?:-judged)?|-return)?|claim\w*(?:Send|Return)|reserveTr\w+)$/,
    answer: /"id":null|"holder":null/,
    // A claim that is judged counts the changes that others have to see.
    only: /^. pix_limits /,
    reason: 'a claim does not see the order with its key that was uncommitted',
  },
  {
    names: /^storeClosedKey$/,
    answer: /"holder":null/,
    only: nothing,
    reason: 'the end of a key does not see the order with the key that was uncommitted',
  },
  {
    names: /^(?:pix-refund|storeRefund|storeReversal)$/,
    answer: /^null$|"storedId":null,"knownId":null|"kind":"changed"/,
    only: nothing,
    reason: 'the sum of the refunds has changed since the statement began',
  },
  {
    names: /^endPause$/,
    answer: /^false$/,
    only: nothing,
    reason: 'the pause has changed since it was read',
  },
  {
    names: /^webhook-store$/,
    answer: /"eventId":null/,
    only: nothing,
    reason: 'an event does not see the one with its bytes that was uncommitted',
  },
  {
    names: /^dispute-event$/,
    answer: /"isMoved":false/,
    only: nothing,
    reason: 'an event that moves no dispute does not see what another one has stored',
  },
];

/** Pairs of operations whose outcome is that of no order, and what makes up for it. */
export const accepted: readonly Excuse[] = [
  {
    names: /\| (?:takeEvents|wakeWaitingEvents|webhook-queue-(?:take|wake))$/,
    only: /^. (?:webhook_queue|answers) /,
    reason: 'a queue skips the events that others change, and looks again after some seconds',
  },
  {
    names: /^(?:noteAnomaly|pix-anomaly) \| (?:noteAnomaly|pix-anomaly)$/,
    only: /^. (?:pix_timeline|answers) /,
    reason: 'a contradiction is noted by each of two attempts that find it at the same time',
  },
  {
    names: /^noteSight \| noteSight$/,
    only: /^. (?:pix_timeline|answers) /,
    reason: 'the first sight is noted by two readings, and the earlier one counts',
  },
  {
    names: /webhook-(?:finish|park)|finishAttempt/,
    only: /^. (?:webhook_queue |answers \d \[\{.*"isQueued":)/,
    isEnough: isEarly,
    reason: 'an event that is woken while it ends or is put off may be attempted once more',
  },
  {
    names: /\| dispute-event$/,
    only: /^. answers \d \[\{.*"isMoved":true/,
    reason: 'what a dispute was before an event has moved it is not read',
  },
];
