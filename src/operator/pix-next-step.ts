/** What a transaction waits for, and what an operator can do about it, in sentences. */
import { staleAfterMs, type CallSettings } from '../domain/call-duration.ts';
import type { InspectedPix } from './pix-repository.ts';
import { requestIdOf } from '../ledger/return-ids.ts';

export interface Circumstances {
  readonly now: Date;
  /** The settings of provider calls, and so of the longest work on a payment. */
  readonly calls: CallSettings;
  /** Whether the user has an active banking session: without it no statement can be read. */
  readonly hasSession: boolean;
  /** Whether the provider has contradicted it. */
  readonly hasAnomaly: boolean;
  /** Whether it is an order whose commits may be lost. */
  readonly mayBeLost: boolean;
}

export interface NextStep {
  readonly waitsFor: string;
  readonly operator: string;
}

const nothingToDo = 'Nothing.';

/** @returns what the transaction waits for, and what an operator can do. */
export function nextStep(row: InspectedPix, circumstances: Circumstances): NextStep {
  if (row.status !== 'PROCESSING') return stepOfFinal(row, circumstances);
  return row.operation === 'CHARGE' ? stepOfCharge(row) : stepOfOrder(row, circumstances);
}

function stepOfFinal(row: InspectedPix, { hasAnomaly }: Circumstances): NextStep {
  const { status } = row;
  if (row.correctedAt !== null) return stepOfCorrected(row);
  if (status === 'FAILED' && !hasAnomaly && mayBeCorrected(row)) return stepOfFailed(row);
  return {
    waitsFor: `Nothing: ${status} is final.`,
    operator: hasAnomaly
      ? explainAnomaly(row)
      : `${nothingToDo} An event that contradicts the status is recorded as an anomaly.`,
  };
}

function explainAnomaly({ id, status }: InspectedPix): string {
  const ask =
    'Ask the provider and the customer what explains the anomalies in the timeline: ' +
    `\`ponte webhook list --transaction ${id}\` has their events.`;
  if (status !== 'FAILED') return ask;
  return `${ask} If it was paid, run \`ponte pix resolve ${id} --as completed\`.`;
}

/** A send without an end-to-end id never left, and a row that was only reported is not resolved. */
function mayBeCorrected({ operation, endToEnd }: InspectedPix): boolean {
  if (operation === 'CHARGE') return true;
  return endToEnd !== null && (operation === 'SEND' || operation === 'REFUND_OUT');
}

function stepOfFailed({ id }: InspectedPix): NextStep {
  return {
    waitsFor:
      'Nothing. It stays FAILED unless an event or the statement proves that it was paid: that ' +
      'completes it.',
    operator:
      `${nothingToDo} If the provider states in writing that it was paid, run ` +
      `\`ponte pix resolve ${id} --as completed\`.`,
  };
}

function stepOfCorrected({ paidAgainBy }: InspectedPix): NextStep {
  return {
    waitsFor: 'Nothing: it was paid, although it had been reported as FAILED.',
    operator:
      paidAgainBy === null
        ? 'Inform the customer that it was paid.'
        : `Inform the customer that it was paid, and that ${paidAgainBy} has paid the same ` +
          'amount to the same key afterwards.',
  };
}

function stepOfCharge({ phase, expiresAt }: InspectedPix): NextStep {
  return phase === 'RESERVED'
    ? {
        waitsFor: "The app's next request with this key, which gets the BR Code from the provider.",
        operator: `${nothingToDo} No money moves; without a request, the sweep fails the charge.`,
      }
    : {
        waitsFor:
          expiresAt === null
            ? 'The payer: the webhook of the received Pix completes the charge.'
            : 'The payer: the webhook of the received Pix completes the charge. The sweep fails ' +
              `it a day after ${expiresAt.toISOString()}, when it expires.`,
        operator: `${nothingToDo} If it was paid and the webhook is lost: \`ponte pix resolve\`.`,
      };
}

function stepOfOrder(row: InspectedPix, circumstances: Circumstances): NextStep {
  const { phase } = row;
  if (phase === 'RESERVED' || phase === 'RESOLVED') {
    if (circumstances.mayBeLost && !isHeld(row, circumstances)) return heldAfterLoss(row);
    return {
      waitsFor: isHeld(row, circumstances)
        ? 'The process that works on it. Nothing has been sent.'
        : 'A request with the same key, which continues it, or the sweep, which fails it after ' +
          'at least two minutes. Nothing has been sent.',
      operator: `${nothingToDo} If this lasts longer, check \`ponte jobs stats\`: no job loop runs.`,
    };
  }
  if (phase === 'PAYING') {
    return isHeld(row, circumstances) ? beingPaid : leftInPaying(row);
  }
  const { hasSession } = circumstances;
  return phase === 'UNKNOWN' ? unknown(row, hasSession) : accepted(row, hasSession);
}

function heldAfterLoss(row: InspectedPix): NextStep {
  const { id } = row;
  const endToEnd = row.operation === 'SEND' ? ' --end-to-end <id>' : '';
  return {
    waitsFor:
      "The statement of its user, which is read at the user's next login or send: commits may be " +
      'lost, and its payment may have left.',
    operator:
      `If the user does not come back, ask the provider whether it has executed a payment with ` +
      `the client request id ${requestIdOf(row) ?? 'of the send'}. If it states in writing ` +
      `that there is none: \`ponte pix resolve ${id} --as failed\`. If there is one: ` +
      `\`ponte pix resolve ${id} --as completed${endToEnd}\`.`,
  };
}

const beingPaid: NextStep = {
  waitsFor: "The provider's response: a process is sending the payment.",
  operator: 'Wait at least two minutes, until its claim expires. Then its process has died.',
};

function leftInPaying(row: InspectedPix): NextStep {
  return {
    waitsFor:
      'The sweep, which moves it to UNKNOWN: the process that sent the payment has died, and the ' +
      'payment may have been sent.',
    operator: `Check with \`ponte jobs stats\` that a job loop runs. ${askTheProvider(row)}`,
  };
}

function unknown(row: InspectedPix, hasSession: boolean): NextStep {
  const source = statementSource(hasSession);
  return {
    waitsFor: `The provider's result, because the payment may have been sent: its webhook, ${source}`,
    operator: askTheProvider(row),
  };
}

function accepted(row: InspectedPix, hasSession: boolean): NextStep {
  const source = statementSource(hasSession);
  return {
    waitsFor: `The webhook of the provider, which has accepted the payment, ${source}`,
    operator: askTheProvider(row),
  };
}

function statementSource(hasSession: boolean): string {
  return hasSession
    ? 'or its statement, which the sweep reads while the user is logged in.'
    : 'or its statement, which can be read only after the user has logged in again.';
}

function askTheProvider({ id, endToEnd }: InspectedPix): string {
  return (
    `List its events with \`ponte webhook list --transaction ${id}\`, and ask the provider for ` +
    `the result of ${endToEnd ?? 'the payment'}. Have its webhook sent again, replay the stored ` +
    `event, or record the result with \`ponte pix resolve ${id} --as completed|failed\`. After a ` +
    'day and a half, `ponte pix list --open-with-the-bank --file <file>` has all of them.'
  );
}

/** Whether a process may still work on it. */
export function isHeld(
  row: InspectedPix,
  { now, calls }: Pick<Circumstances, 'now' | 'calls'>,
): boolean {
  const { claimedUntil, updatedAt } = row;
  if (claimedUntil !== null && claimedUntil > now) return true;
  return now.getTime() - updatedAt.getTime() < staleAfterMs(calls);
}
