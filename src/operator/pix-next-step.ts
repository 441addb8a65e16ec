/** What a transaction waits for, and what an operator can do about it, in sentences. */
import { staleAfterMs, type CallSettings } from '../domain/call-duration.ts';
import type { InspectedPix } from './pix-repository.ts';

export interface Circumstances {
  readonly now: Date;
  /** The settings of provider calls, and so of the longest work on a payment. */
  readonly calls: CallSettings;
  /** Whether the user has an active banking session: without it no statement can be read. */
  readonly hasSession: boolean;
  /** Whether the provider has contradicted it. */
  readonly hasAnomaly: boolean;
}

export interface NextStep {
  readonly waitsFor: string;
  readonly operator: string;
}

const nothingToDo = 'Nothing.';

/** @returns what the transaction waits for, and what an operator can do. */
export function nextStepOf(row: InspectedPix, circumstances: Circumstances): NextStep {
  if (row.status !== 'PROCESSING') return stepOfFinal(row, circumstances);
  return row.operation === 'CHARGE' ? stepOfCharge(row) : stepOfSend(row, circumstances);
}

function stepOfFinal({ status }: InspectedPix, { hasAnomaly }: Circumstances): NextStep {
  return {
    waitsFor: `Nothing: ${status} is final.`,
    operator: hasAnomaly
      ? 'Clear it up with the provider and the person: an anomaly in the timeline says otherwise.'
      : 'Nothing here changes it. An event that contradicts it is kept as an anomaly.',
  };
}

function stepOfCharge({ phase }: InspectedPix): NextStep {
  return phase === 'RESERVED'
    ? {
        waitsFor: "The provider's code of the charge, at the app's next request with this key.",
        operator: `${nothingToDo} No money moves; the sweep fails it when no request comes.`,
      }
    : {
        waitsFor: 'Somebody to pay it: the webhook of the PIX that comes in.',
        operator: nothingToDo,
      };
}

function stepOfSend(row: InspectedPix, circumstances: Circumstances): NextStep {
  const { phase } = row;
  if (phase === 'RESERVED' || phase === 'RESOLVED') {
    return {
      waitsFor: isHeld(row, circumstances)
        ? 'The process that works on it: it looks the PIX key up. Nothing has been sent.'
        : 'A request with the same key, which takes it up, or the sweep, which fails it after ' +
          'two minutes or more. Nothing has been sent.',
      operator: 'Nothing. If it stands so for longer, no job loop runs: see `ponte jobs stats`.',
    };
  }
  if (phase === 'PAYING') {
    return isHeld(row, circumstances) ? beingPaid : leftInPaying(row);
  }
  const { hasSession } = circumstances;
  return phase === 'UNKNOWN' ? unknown(row, hasSession) : accepted(row, hasSession);
}

const beingPaid: NextStep = {
  waitsFor: "The provider's answer: a process sends the payment now.",
  operator: 'Wait until its claim has expired, two minutes at least: then its process has died.',
};

function leftInPaying(row: InspectedPix): NextStep {
  return {
    waitsFor:
      'The sweep, which calls it UNKNOWN: the process that paid has died, and the payment may ' +
      'have left.',
    operator: `See with \`ponte jobs stats\` that a job loop runs. ${askTheProvider(row)}`,
  };
}

function unknown(row: InspectedPix, hasSession: boolean): NextStep {
  const look = statementLookUp(hasSession);
  return {
    waitsFor: `The provider's word, because the payment may have left: its webhook, ${look}`,
    operator: askTheProvider(row),
  };
}

function accepted(row: InspectedPix, hasSession: boolean): NextStep {
  const look = statementLookUp(hasSession);
  return {
    waitsFor: `The webhook of the provider, which has accepted the payment, ${look}`,
    operator: askTheProvider(row),
  };
}

function statementLookUp(hasSession: boolean): string {
  return hasSession
    ? 'or its statement, which the sweep reads while the user is logged in.'
    : 'or its statement, which can be read only after the user has logged in again.';
}

function askTheProvider({ id, endToEnd }: InspectedPix): string {
  return (
    `Look for events with \`ponte webhook list --transaction ${id}\`, and ask the ` +
    `provider what became of ${endToEnd ?? 'it'}: let it post its webhook again, replay the ` +
    `event that is stored, or decide with \`ponte pix resolve ${id} --as completed|failed\`.`
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
