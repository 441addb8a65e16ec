/**
 * What a response to `POST /pix/send`, or to that of a return, proves, and what the app does next:
 * the table "What the app should do" of the project's README.
 */
import type { NotAvailableError, PixTransaction, ProviderErrorCode } from '../types.ts';
import type { ServiceResponse } from './request.ts';

/** Why a payment was not made, or why it cannot go on. */
export interface Refusal {
  /** A sentence for the customer, in the language of `Accept-Language`. */
  readonly message: string;
  readonly code?: ProviderErrorCode | NotAvailableError['code'];
  /** The sentences by field, such as `amount`. */
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

export type SendStep =
  /** The payment is made, or may have been: follow the transaction. */
  | { readonly step: 'wait'; readonly transactionId: string }
  | { readonly step: 'paid'; readonly transactionId: string }
  /** Nothing was paid under this key, and nothing will be: the next attempt takes a new key. */
  | { readonly step: 'not_paid'; readonly transactionId?: string; readonly refusal: Refusal | null }
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
  const { status } = response;
  if (status === 200) return readTransaction(response.body as PixTransaction | undefined);
  if (status === 502) return { step: 'not_paid', refusal: readRefusal(response) };
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

function readTransaction(transaction: PixTransaction | undefined): SendStep {
  if (transaction === undefined) return { step: 'repeat', afterSeconds: null };
  const { transaction_id: transactionId, status } = transaction;
  if (status === 'COMPLETED') return { step: 'paid', transactionId };
  if (status === 'FAILED') return { step: 'not_paid', transactionId, refusal: null };
  return { step: 'wait', transactionId };
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
