/**
 * What a response to `POST /pix/send`, to that of a return, or to the closing of its key proves,
 * and what the app does next: `Pix-Next`, see "What the app should do" of the project's README.
 */
import type { PixReceiptFailure, PixTransaction } from '../types.ts';
import type { ServiceResponse } from './request.ts';

/** Why a payment was not made, or why it cannot go on. */
export interface Refusal {
  /** A sentence for the customer, in the language of `Accept-Language`. */
  readonly message: string;
  readonly code?: string;
  /** The sentences by field, such as `amount`. */
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

export type SendStep =
  /** The payment is made, or may have been: follow the transaction. */
  | { readonly step: 'wait'; readonly transactionId: string }
  | { readonly step: 'paid'; readonly transactionId: string }
  /** Nothing was paid under this key, and nothing will be: the next attempt takes a new key. */
  | {
      readonly step: 'not_paid';
      readonly transactionId: string | null;
      readonly refusal: Refusal | null;
      readonly failure: PixReceiptFailure | null;
      /** Whether the customer looks at the list of payments before another one. */
      readonly isDoubtful: boolean;
    }
  /**
   * This request did nothing, and leaves no trace of its key: if an earlier request with the key
   * has no response, that one may still arrive.
   */
  | { readonly step: 'not_sent'; readonly refusal: Refusal }
  /** Nothing is known: repeat the request with the same key. */
  | { readonly step: 'repeat'; readonly afterSeconds: number | null }
  /** Log in again, and repeat the request with the same key, or with a new one. */
  | { readonly step: 'log_in'; readonly key: 'same' | 'new' }
  /** The service does not decide it: show why, and keep the key. */
  | { readonly step: 'stop'; readonly refusal: Refusal };

/** @param response null: no response came. */
export function readSendResponse(response: ServiceResponse | null): SendStep {
  const outcome = response?.headers.get('pix-outcome') ?? null;
  // Every response of the service has the header. Without it, it is a proxy's, and proves nothing.
  if (response === null || outcome === null) return { step: 'repeat', afterSeconds: null };
  const next = response.headers.get('pix-next');
  return next === null ? readOlder(response, outcome) : readNext(next, response);
}

function readNext(next: string, response: ServiceResponse): SendStep {
  const { transaction_id: id, status } = (response.body ?? {}) as Partial<PixTransaction>;
  switch (next) {
    case 'done':
    case 'wait':
      if (id === undefined) return { step: 'repeat', afterSeconds: null };
      return { step: next === 'done' ? 'paid' : 'wait', transactionId: id };
    case 'repeat':
      return { step: 'repeat', afterSeconds: retryAfter(response) };
    case 'log-in':
      return { step: 'log_in', key: 'same' };
    case 'correct':
      return { step: 'not_sent', refusal: readRefusal(response) };
    case 'new-key':
      return notPaid(response, false);
    default:
      // `ask`, and what a later version adds.
      if (status === 'FAILED') return notPaid(response, true);
      return { step: 'stop', refusal: readRefusal(response) };
  }
}

function notPaid(response: ServiceResponse, isDoubtful: boolean): SendStep {
  const { transaction_id: transactionId = null, failure } = (response.body ??
    {}) as Partial<PixTransaction>;
  const refusal = response.status === 200 ? null : readRefusal(response);
  const { code, message } = refusal ?? {};
  const coded = code === undefined || message === undefined ? null : { code, message };
  return {
    step: 'not_paid',
    transactionId,
    refusal: refusal ?? failure ?? null,
    failure: failure ?? coded,
    isDoubtful,
  };
}

/** The response of a service before 1.3.0, which says what it knows, and not what to do. */
function readOlder(response: ServiceResponse, outcome: string): SendStep {
  const { status } = response;
  if (status === 200) return readTransaction(response);
  if (status === 502) return notPaid(response, false);
  // The bank does not offer it: a repeat would be answered alike.
  const isNotOffered = status === 501 && outcome === 'not_sent';
  if (isNotOffered) return { step: 'not_sent', refusal: readRefusal(response) };
  if (status === 401) return { step: 'log_in', key: outcome === 'not_sent' ? 'new' : 'same' };
  if (status === 429 || status >= 500) {
    return { step: 'repeat', afterSeconds: retryAfter(response) };
  }
  const refusal = readRefusal(response);
  const isOfThisKey = refusal.errors?.['Idempotency-Key'] === undefined;
  // 404: the customer has no such Pix to return.
  const isRefused = (status === 422 && isOfThisKey) || status === 404;
  if (isRefused && outcome === 'not_sent') return { step: 'not_sent', refusal };
  return { step: 'stop', refusal };
}

function readTransaction(response: ServiceResponse): SendStep {
  const transaction = response.body as PixTransaction | undefined;
  if (transaction === undefined) return { step: 'repeat', afterSeconds: null };
  const { transaction_id: transactionId, status } = transaction;
  if (status === 'FAILED') return notPaid(response, false);
  return { step: status === 'COMPLETED' ? 'paid' : 'wait', transactionId };
}

/** @returns the sentences of a response of the service. */
export function readRefusal({ status, body }: ServiceResponse): Refusal {
  const {
    message = `The service answered ${status}.`,
    code,
    errors,
  } = (body ?? {}) as Partial<Refusal>;
  return { message, ...(code && { code }), ...(errors && { errors }) };
}

/** @returns `Retry-After` in seconds; null when the response has none. */
export function retryAfter({ headers }: ServiceResponse): number | null {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,6}$/.test(text) ? Number(text) : null;
}
