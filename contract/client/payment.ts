/** A payment on the device, or the return of a received Pix, and what became of it. */
import type { PixReceiptFailure, RefundPixRequest, SendPixRequest } from '../types.ts';
import type { Refusal } from './send-response.ts';

/** The four results that a screen can show. */
export type PayResult =
  /** The money has left the account. */
  | { readonly result: 'paid'; readonly transactionId: string }
  /** No money has left, and none will under this key: the customer may pay again. */
  | {
      readonly result: 'not_paid';
      /** Null: the service has no transaction of it. */
      readonly transactionId: string | null;
      /** Null: no reason is known. With `errors.lookup_id`, look the payee up again first. */
      readonly refusal: Refusal | null;
      /** Why its transaction has failed; null: it has none, or the service does not say. */
      readonly failure: PixReceiptFailure | null;
      /** An operator or time has ended it, not the bank: look at the list of payments first. */
      readonly lookFirst?: true;
    }
  /** It may have been paid. Show it as in process, and `resume` it, also after a restart. */
  | {
      readonly result: 'pending';
      readonly transactionId: string | null;
      /** For the developer, in words: what keeps the client from reading the responses. */
      readonly problem?: string;
    }
  /** It may have been paid, and only the customer can go on: by a login, or as the text says. */
  | {
      readonly result: 'blocked';
      readonly reason: 'log_in' | 'refused';
      readonly refusal: Refusal | null;
    };

export interface StoredPayment {
  /** The `Idempotency-Key` of its requests. It names the payment on this device. */
  readonly key: string;
  /** The e-mail of the payer's login: the key is another payment's for another user. */
  readonly payer: string;
  readonly request: SendPixRequest | RefundPixRequest;
  /** The transaction of the received Pix that is returned; absent: it is a send. */
  readonly refundOf?: string;
  /** When the newest request without a response was sent, in milliseconds; null: there is none. */
  readonly unansweredAt: number | null;
  readonly transactionId: string | null;
  /** Null while the payment has no final result. */
  readonly result: PayResult | null;
}
