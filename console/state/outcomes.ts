/**
 * What an answer about a payment, a return or a charge says, and what a person should do next: of a
 * payment or a return the service decides it, in `Pix-Next`. The development pages serve this
 * module too (`src/pages/index.ts`), so that both clients say the same.
 */
import type {
  PixNext,
  PixRefund,
  PixTransaction,
  RefundPixRequest,
  ValidationError,
} from '../../contract/types.ts';
import type { ServiceResponse } from '../api.ts';
import type { Colour } from './text.ts';

/** What moves money: a payment, or the return of a received one. */
export type OrderKind = 'send' | 'refund';

/** What is known of an order. */
export interface Answer {
  readonly next: PixNext;
  /** The fields of its transaction that the responses have named. */
  readonly made: Partial<PixTransaction & PixRefund>;
  readonly hasErrors: boolean;
  readonly isReplay: boolean;
  /** The time to wait before a repeat, in words. */
  readonly pause: string;
}

/**
 * @param response null: no response has come.
 * @param before what was known before it.
 */
export function readAnswer(response: ServiceResponse | null, before: Answer | null): Answer {
  const body = (response?.body ?? {}) as Answer['made'] & Partial<ValidationError>;
  const { headers } = response ?? {};
  // A response without the header is that of a proxy.
  const next = (headers?.get('pix-next') ?? 'repeat') as PixNext;
  // An earlier request without an answer may still arrive: no refusal of this one settles that.
  const isOpen = next === 'correct' && before !== null && isInDoubt(before);
  return {
    next: isOpen ? 'repeat' : next,
    made: { ...before?.made, ...body },
    hasErrors: body.errors !== undefined,
    isReplay: before?.isReplay === true || headers?.get('idempotency-replayed') === 'true',
    pause: pauseText(response),
  };
}

const settled: ReadonlySet<PixNext> = new Set(['done', 'new-key', 'correct']);

/** Whether an order may have been made without its end being known: a new key could repeat it. */
export function isInDoubt({ next }: Pick<Answer, 'next'>): boolean {
  return !settled.has(next);
}

/** Whether its key can still be closed: the service has not said that it has the order. */
export function canGiveUp(answer: Answer): boolean {
  return isInDoubt(answer) && answer.made.transaction_id === undefined;
}

/** Whether nothing more happens under the key of an order. */
export function isOver({ next }: Pick<Answer, 'next'>): boolean {
  return next === 'done' || next === 'new-key';
}

interface OrderTexts {
  readonly done: string;
  readonly wait: string;
  readonly failed: string;
  /** Nothing is known. */
  readonly unsure: string;
  /** The repeat with the same key, and why it is safe. */
  readonly again: string;
  readonly safe: string;
  /** While the response takes long. */
  readonly slow: string;
  readonly ask: string;
  /** The warning before another order while the end of this one is unknown. */
  readonly inDoubt: string;
  /** The question whether to make one more. */
  readonly another: string;
  /** The key has been used for this order. */
  readonly replayed: string;
}

export const orderTexts: Readonly<Record<OrderKind, OrderTexts>> = {
  send: {
    done: 'It is paid.',
    wait: 'It is being paid, or has been. Wait: this screen shows how it ends.',
    failed: 'The payment has failed',
    unsure: 'It may have been paid.',
    again: 'Send again',
    safe: 'with the same key: that shows the result, and never pays twice.',
    slow: 'The bank is slow. Sending again later, with the same key, never pays twice.',
    ask: 'Look at the transactions before another payment: this one may have been made.',
    inDoubt: 'The last payment may have been made: its own key never pays twice.',
    another: 'Make another payment?',
    replayed: 'This key was used before: nothing was paid again.',
  },
  refund: {
    done: 'It is returned.',
    wait: 'It is being returned, or has been. Wait: this screen shows how it ends.',
    failed: 'The return has failed',
    unsure: 'It may have been returned.',
    again: 'Return it again',
    safe: 'with the same key: that shows the result, and never returns twice.',
    slow: 'The bank is slow. Returning it again later, with the same key, never returns twice.',
    ask: 'Look at the transactions before another return: this one may have been made.',
    inDoubt: 'The last return may have been made: its own key never returns twice.',
    another: 'Make another return?',
    replayed: 'This key was used before: nothing was returned again.',
  },
};

/**
 * @param kind what a person wants to make now.
 * @param last what may have been made.
 * @returns the question before another order while the end of one is unknown.
 */
export function askBeforeAnother(kind: OrderKind, last = kind): string {
  return `${orderTexts[last].inDoubt} ${orderTexts[kind].another}`;
}

/** What a person does when nothing is known of an order. */
function repeatText(kind: OrderKind, pause = ''): string {
  const { unsure, again, safe } = orderTexts[kind];
  return `${unsure} ${again}${pause}, ${safe}`;
}

export interface Outcome {
  readonly colour: Colour;
  readonly text: string;
}

/** @param another how a person makes another order, in a sentence. */
export function orderOutcome(kind: OrderKind, answer: Answer, another: string): Outcome {
  const { made, hasErrors, pause } = answer;
  // The service may be of a later version.
  const next: string = answer.next;
  const { done, wait, failed, ask } = orderTexts[kind];
  const failure = made.failure
    ? `${failed} (${made.failure.code}). ${made.failure.message}`
    : `${failed}.`;
  switch (next) {
    case 'done':
      return { colour: 'good', text: `${done} ${another}` };
    case 'wait':
      return { colour: 'doubtful', text: wait };
    case 'correct':
      return bad(hasErrors ? 'Correct the marked fields.' : '');
    case 'repeat':
    case 'log-in':
      return bad(repeatText(kind, pause));
    case 'new-key':
      return bad(`${failure} ${another}`);
    default:
      // `ask`, and what a later version adds.
      return bad(made.failure ? `${failure} ${ask}` : ask);
  }
}

/** A charge moves no money: its key is good until the charge has failed. */
export function chargeOutcome(response: ServiceResponse, another: string): Outcome {
  const { errors } = (response.body ?? {}) as Partial<ValidationError>;
  if (response.status === 200) return bad(`This charge has failed. ${another}`);
  if (errors !== undefined) return bad('Correct the marked fields.');
  return bad(`No one can pay it yet. Charge again${pauseText(response)}, with the same key.`);
}

export const noResponseToCharge = 'Charge again with the same key: it is the same charge.';

/** While a charge is being made for long. */
export const slowCharge =
  'The bank is slow. Charging again later, with the same key, makes no second charge.';

/** From this time on a person learns that the response takes long. */
export const slowAfterSeconds = 3;

/** Why a customer returns a received Pix. */
export const refundReasons = {
  WRONG_AMOUNT: 'The amount was wrong',
  PAID_TWICE: 'It was paid twice',
  ORDER_CANCELLED: 'The order was cancelled',
  NOT_EXPECTED: 'I did not expect it',
  OTHER: 'Another reason',
} as const satisfies Record<RefundPixRequest['reason'], string>;

/** Why the login is shown after a call was refused. */
export const sessionEnded = 'Your session has ended. Log in again: your input is kept.';

function bad(text: string): Outcome {
  return { colour: 'bad', text };
}

function pauseText(response: ServiceResponse | null): string {
  const seconds = response?.headers.get('retry-after') ?? null;
  return seconds === null ? '' : ` in ${seconds} s`;
}
