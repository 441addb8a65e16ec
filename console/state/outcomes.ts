/**
 * How a payment, a return or a charge ended, and what a person should do next. The development
 * pages serve this module too (`src/pages/index.ts`), so that both clients say the same.
 */
import { readRefusal, readSendResponse } from '../../contract/client/send-response.ts';
import type { PixStatus, RefundPixRequest } from '../../contract/types.ts';
import type { ServiceResponse } from '../api.ts';
import type { Colour } from './text.ts';

export interface Outcome {
  readonly colour: Colour;
  readonly text: string;
}

/** How a person makes a new key in the console. */
const consoleKey = 'ctrl+n makes a new key';

/** What moves money: a payment, or the return of a received one. */
export type OrderKind = 'send' | 'refund';

interface OrderTexts {
  /** Without a response it may have been made: only its own key is safe. */
  readonly noResponse: string;
  /** While the response takes long. */
  readonly slow: string;
  /** The warning before another order while the outcome of this one is unknown. */
  readonly inDoubt: string;
  /** The question whether to make one more. */
  readonly another: string;
  readonly completed: string;
  readonly failed: string;
  /** The bank's response was lost. */
  readonly unknown: string;
  readonly notMade: string;
  /** The key has been used for another order. */
  readonly ofAnother: string;
  /** The key has been used for this order. */
  readonly replayed: string;
  /** What to do after a refusal, by its code. */
  readonly advice: Readonly<Record<string, string>>;
}

export const orderTexts: Readonly<Record<OrderKind, OrderTexts>> = {
  send: {
    noResponse:
      'It may have been paid. Send again with the same key: that shows the result, and never ' +
      'pays twice.',
    slow: 'The bank is slow. Sending again later, with the same key, is safe: it never pays twice.',
    inDoubt:
      'The previous payment may have been made. Its own key is safe: sending again with it never ' +
      'pays twice.',
    another: 'Make another payment?',
    completed: 'It is paid. For another payment',
    failed: 'The payment has failed.',
    unknown:
      "The bank's response was lost: it may have been paid. Wait; never pay it with a new key.",
    notMade: 'Nothing was sent.',
    ofAnother: 'This key belongs to another payment; see the statement.',
    replayed: 'This key was used before: nothing was paid again.',
    advice: {
      PIX_KEY_NOT_FOUND: 'Nothing was sent. Correct the Pix key',
      INSUFFICIENT_FUNDS: 'No money has moved. Pay less, or add money to the account',
      PROVIDER_REJECTED: 'No money has moved. Change the payment',
    },
  },
  refund: {
    noResponse:
      'It may have been returned. Return it again with the same key: that shows the result, and ' +
      'never returns twice.',
    slow: 'The bank is slow. Returning it again later, with the same key, never returns twice.',
    inDoubt:
      'The previous return may have been made. Its own key is safe: returning again with it ' +
      'never returns twice.',
    another: 'Make another return?',
    completed: 'It is returned. For another return',
    failed: 'The return has failed.',
    unknown:
      "The bank's response was lost: it may have been returned. Wait; never return it with a new " +
      'key.',
    notMade: 'Nothing was returned.',
    ofAnother: 'This key belongs to another return; see the statement.',
    replayed: 'This key was used before: nothing was returned again.',
    advice: {
      INSUFFICIENT_FUNDS: 'No money has moved. Return less, or add money to the account',
      PROVIDER_REJECTED: 'No money has moved. Change the return',
    },
  },
};

/**
 * @param kind what a person wants to make now.
 * @param previous what may have been made.
 * @returns the question before another order while the outcome of one is unknown.
 */
export function askBeforeAnother(kind: OrderKind, previous = kind): string {
  return `${orderTexts[previous].inDoubt} ${orderTexts[kind].another}`;
}

/** Why a customer returns a received Pix. */
export const refundReasons = {
  WRONG_AMOUNT: 'The amount was wrong',
  PAID_TWICE: 'It was paid twice',
  ORDER_CANCELLED: 'The order was cancelled',
  NOT_EXPECTED: 'I did not expect it',
  OTHER: 'Another reason',
} as const satisfies Record<RefundPixRequest['reason'], string>;

/** From this time on a person learns that the response takes long. */
export const slowAfterSeconds = 3;

/** While a charge is being made for long. */
export const slowCharge =
  'The bank is slow. Charging again later, with the same key, makes no second charge.';

/**
 * @param wasInDoubt whether an earlier request with the same key had no response: then a refusal of
 * this one says nothing about the order.
 * @returns whether the payment or return may have been made without its end being known.
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

/** The known facts of an order, and the client's names of its controls. */
export interface Known {
  /** The newest status of the transaction; null when there is none. */
  readonly live: PixStatus | null;
  /** Why it has failed, in a sentence, once it is known. */
  readonly reason?: string | undefined;
  /** Whether an earlier request with the same key had no response: a refusal settles nothing. */
  readonly isDoubtful?: boolean;
  /** How a person makes a new key. */
  readonly newKey?: string;
}

/** @returns the advice after a response to a send or to a return. */
export function orderOutcome(kind: OrderKind, response: ServiceResponse, known: Known): Outcome {
  const { newKey = consoleKey } = known;
  const outcome = response.headers.get('pix-outcome');
  if (response.status === 200) return acceptedOutcome(kind, known, outcome);
  const texts = orderTexts[kind];
  const { code = '', errors = {} } = readRefusal(response);
  const { step } = readSendResponse(response);
  if (step === 'not_paid') {
    const later = `${texts.notMade} Try again${retryTime(response)}`;
    return bad(`${texts.advice[code] ?? later}; ${newKey}.`);
  }
  const isOfOther = 'Idempotency-Key' in errors || outcome === 'accepted' || outcome === 'rejected';
  if (step === 'stop' && isOfOther) return bad(`${texts.ofAnother} For this one, ${newKey}.`);
  if (step === 'not_sent' && 'lookup_id' in errors) {
    return bad(`${texts.notMade} Check the payee again; ${newKey}.`);
  }
  const isSettled = outcome !== null && known.isDoubtful !== true;
  return bad((isSettled ? nothingDone(response) : null) ?? texts.noResponse);
}

function acceptedOutcome(kind: OrderKind, known: Known, outcome: string | null): Outcome {
  const { live, reason, newKey = consoleKey } = known;
  const texts = orderTexts[kind];
  if (live === 'COMPLETED') return { colour: 'good', text: `${texts.completed}, ${newKey}.` };
  if (live === 'FAILED') {
    const why = reason === undefined ? '' : ` ${reason}`;
    return bad(`${texts.failed}${why} To try again, ${newKey}.`);
  }
  const isUnknown = outcome === 'unknown';
  const accepted = 'The bank has accepted it. Wait: this screen shows how it ends.';
  return { colour: 'doubtful', text: isUnknown ? texts.unknown : accepted };
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
  if (response.status === 501) return 'Nothing was done: the bank does not offer it.';
  return response.status < 500 ? 'Nothing was done. Correct the marked fields.' : null;
}

function retryTime({ headers }: ServiceResponse): string {
  const seconds = headers.get('retry-after');
  return seconds === null ? ' later' : ` in ${seconds} s`;
}

/** Why the login is shown after a call was refused. */
export function sessionEndedText(outcome: string | null, newKey = consoleKey): string {
  return outcome === 'not_sent'
    ? `The bank has ended your session, and no money has moved: log in, then ${newKey}.`
    : 'Your session has ended. Log in again: your input is kept.';
}
