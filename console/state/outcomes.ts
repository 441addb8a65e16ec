/**
 * How a payment or a charge ended, and what a person should do next. The development pages serve
 * this module too (`src/pages/index.ts`), so that both clients say the same.
 */
import { readRefusal, readSendResponse } from '../../contract/client/send-response.ts';
import type { PixStatus } from '../../contract/types.ts';
import type { ServiceResponse } from '../api.ts';
import type { Colour } from './text.ts';

export interface Outcome {
  readonly colour: Colour;
  readonly text: string;
}

/** How a person makes a new key in the console. */
const consoleKey = 'ctrl+n makes a new key';

/** Without a response a payment may have been made: only its own key is safe. */
export const noResponseToSend =
  'It may have been paid. Send again with the same key: that shows the result, and never pays twice.';

/** From this time on a person learns that the response takes long. */
export const slowAfterSeconds = 3;

/** While a payment is being sent for long. */
export const slowSend =
  'The bank is slow. Sending again later, with the same key, is safe: it never pays twice.';

/** While a charge is being made for long. */
export const slowCharge =
  'The bank is slow. Charging again later, with the same key, makes no second charge.';

/** The warning before another payment while the outcome of one is unknown. */
export const askBeforeAnother =
  'The previous payment may have been made. Its own key is safe: sending again with it never ' +
  'pays twice. Make another payment?';

/**
 * @param wasInDoubt whether an earlier request with the same key had no response: then a refusal of
 * this one says nothing about the payment.
 * @returns whether the payment may have been made without its end being known.
 */
export function isInDoubt(response: ServiceResponse, wasInDoubt: boolean): boolean {
  const outcome = response.headers.get('pix-outcome');
  const { step } = readSendResponse(response);
  if (step === 'paid' || step === 'not_paid') return false;
  if (step === 'wait') return outcome === 'unknown';
  const didNothing = outcome !== null && response.status !== 500;
  return wasInDoubt || !didNothing;
}

export const noResponseToCharge = 'Charge again with the same key: it is the same charge.';

function adviceFor(code: string, newKey: string): string | undefined {
  const advice: Readonly<Record<string, string>> = {
    PIX_KEY_NOT_FOUND: `Nothing was sent. Correct the Pix key; ${newKey}.`,
    INSUFFICIENT_FUNDS: `No money has moved. Pay less, or add money to the account; ${newKey}.`,
    PROVIDER_REJECTED: `No money has moved. Change the payment; ${newKey}.`,
  };
  return advice[code];
}

/** The known facts of a payment, and the client's names of its controls. */
export interface Known {
  /** The newest status of the transaction; null when there is none. */
  readonly live: PixStatus | null;
  /** Why the payment has failed, in a sentence, once it is known. */
  readonly reason?: string | undefined;
  /** Whether an earlier request with the same key had no response: a refusal settles nothing. */
  readonly isDoubtful?: boolean;
  /** How a person makes a new key. */
  readonly newKey?: string;
}

/** @returns the advice after a response to a send. */
export function sendOutcome(response: ServiceResponse, known: Known): Outcome {
  const { newKey = consoleKey } = known;
  if (response.status === 200) return acceptedOutcome(known, response.headers.get('pix-outcome'));
  const { code = '', errors = {} } = readRefusal(response);
  const { step } = readSendResponse(response);
  if (step === 'not_paid') {
    const later = `Nothing was sent. Try again${retryTime(response)}; ${newKey}.`;
    return bad(adviceFor(code, newKey) ?? later);
  }
  const outcome = response.headers.get('pix-outcome');
  const isOfOther = 'Idempotency-Key' in errors || outcome === 'accepted' || outcome === 'rejected';
  if (step === 'stop' && isOfOther) {
    return bad(`This key belongs to another payment; see the statement. For this one, ${newKey}.`);
  }
  if (step === 'not_sent' && 'lookup_id' in errors) {
    return bad(`Nothing was sent. Check the payee again; ${newKey}.`);
  }
  const isSettled = outcome !== null && known.isDoubtful !== true;
  return bad((isSettled ? nothingDone(response) : null) ?? noResponseToSend);
}

function acceptedOutcome(known: Known, outcome: string | null): Outcome {
  const { live, reason, newKey = consoleKey } = known;
  if (live === 'COMPLETED') {
    return { colour: 'good', text: `It is paid. For another payment, ${newKey}.` };
  }
  if (live === 'FAILED') {
    const why = reason === undefined ? '' : ` ${reason}`;
    return bad(`The payment has failed.${why} To try again, ${newKey}.`);
  }
  const text =
    outcome === 'unknown'
      ? "The bank's response was lost: it may have been paid. Wait; never pay it with a new key."
      : 'The bank has accepted it. Wait: this screen shows how it ends.';
  return { colour: 'doubtful', text };
}

/** A charge moves no money: its key is good until the charge has failed. */
export function chargeOutcome(response: ServiceResponse, newKey = consoleKey): Outcome {
  if (response.status === 200) return bad(`This charge has failed. For another one, ${newKey}.`);
  const { errors = {} } = readRefusal(response);
  if (response.status === 422 && 'Idempotency-Key' in errors) {
    return bad(`This key belongs to another charge. For this one, ${newKey}.`);
  }
  const again = `No one can pay it yet. Charge again${retryTime(response)}, with the same key.`;
  return bad(response.status === 502 ? again : (nothingDone(response) ?? again));
}

function bad(text: string): Outcome {
  return { colour: 'bad', text };
}

/** The advice if the request certainly had no effect; otherwise null. */
function nothingDone(response: ServiceResponse): string | null {
  if (response.status === 429 || response.status === 503) {
    return `Nothing was done. Try again${retryTime(response)}, with the same key.`;
  }
  return response.status < 500 ? 'Nothing was done. Correct the marked fields.' : null;
}

function retryTime({ headers }: ServiceResponse): string {
  const seconds = headers.get('retry-after');
  return seconds === null ? ' later' : ` in ${seconds} s`;
}

/** Why the login is shown after a call was refused. */
export function sessionEndedText(outcome: string | null, newKey = consoleKey): string {
  return outcome === 'not_sent'
    ? `The bank has ended your session, and the payment has failed: log in, then ${newKey}.`
    : 'Your session has ended. Log in again: your input is kept.';
}
