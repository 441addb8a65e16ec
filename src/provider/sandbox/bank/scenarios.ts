/**
 * The magic values: what a developer or a test enters to see the bank misbehave. Every other value
 * takes the happy path. contract/README.md and the development pages show the same table.
 */

import { decimalFromCents } from '../../../domain/money.ts';

/** How the directory of keys (DICT) answers a look-up. */
export type LookUpScript =
  'found' | 'not_found' | 'rate_limited' | 'unavailable' | 'unavailable_once';

/** The course of a payment. A refused one is not executed; every other one is. */
export interface PaymentScript {
  /**
   * `hang`: no response at all; `internal_error`: a 500; `garbled`: HTML in place of the receipt.
   */
  readonly response: 'accepted' | 'refused' | 'hang' | 'internal_error' | 'garbled';
  /** Its final status, which the webhook reports. */
  readonly settlement: 'COMPLETED' | 'FAILED';
  /**
   * When the webhook is posted. `in_time`: after the bank's usual settlement time; `early`: before
   * the payment is answered; `contradicted`: in time, then once more, then with the opposite.
   */
  readonly webhook: 'in_time' | 'late' | 'never' | 'early' | 'contradicted';
  /** Half of a completed payment comes back, which a second webhook reports. */
  readonly isRefunded: boolean;
  /** The response says that the bank holds the payment for analysis. */
  readonly isHeld: boolean;
  /**
   * The statement has the settled debit and its reversal, without a return id: after the webhook of
   * the payment, or from the start where none comes.
   */
  readonly isReversed: boolean;
}

/**
 * The course of the dispute of a payment. `partial`: half of the money comes back; `lost`: opened,
 * and answered with a 500; `pending`: never decided by itself.
 */
export type DisputeScript = 'accepted' | 'partial' | 'rejected' | 'pending' | 'refused' | 'lost';

/** The course of a return that a customer orders. A refused one is not executed. */
export interface ReturnScript {
  readonly response: 'accepted' | 'refused' | 'internal_error';
  readonly settlement: 'COMPLETED' | 'FAILED';
  readonly webhook: 'in_time' | 'never';
}

/** How the bank treats all requests of a customer. */
export type CustomerScript =
  | 'served'
  | 'login_refused'
  | 'login_unavailable'
  | 'unavailable'
  | 'token_works_once'
  | 'token_refused_once'
  | 'webhooks_lost'
  | 'partly_blocked';

/** The decision on a person who applies for an account, once all steps are complete. */
export type KycScript = 'APPROVED' | 'REJECTED' | 'PENDING';

/** One row of the table. */
export interface Scenario {
  readonly input:
    | 'Pix key'
    | 'login e-mail'
    | 'payment amount'
    | 'return amount'
    | 'charge expiration'
    | 'provider token'
    | 'onboarding phone';
  /** The magic value, or a description of the values. */
  readonly value: string;
  /** What the bank does, in words. */
  readonly effect: string;
  readonly lookUp?: LookUpScript;
  readonly payment?: Partial<PaymentScript>;
  readonly dispute?: DisputeScript;
  readonly refund?: Partial<ReturnScript>;
  readonly customer?: CustomerScript;
  readonly kyc?: KycScript;
}

/** How long after the payment a late webhook is posted. */
export const lateWebhookMs = 30_000;

export const scenarios: readonly Scenario[] = [
  {
    input: 'Pix key',
    value: 'notfound@ponte.test',
    effect: 'the DICT look-up answers 404: no account has this key',
    lookUp: 'not_found',
  },
  {
    input: 'Pix key',
    value: 'ratelimited@ponte.test',
    effect: 'the DICT look-up answers 429',
    lookUp: 'rate_limited',
  },
  {
    input: 'Pix key',
    value: 'unavailable@ponte.test',
    effect: 'the DICT look-up answers 503, always',
    lookUp: 'unavailable',
  },
  {
    input: 'Pix key',
    value: 'flaky@ponte.test',
    effect: "the payer's first DICT look-up answers 503, the next ones are fine",
    lookUp: 'unavailable_once',
  },
  {
    input: 'Pix key',
    value: 'reject@ponte.test',
    effect: 'the payment is refused (422, reason AC03)',
    payment: { response: 'refused' },
  },
  {
    input: 'Pix key',
    value: 'timeout@ponte.test',
    effect: 'the payment is executed and never answered, at every attempt',
    payment: { response: 'hang' },
  },
  {
    input: 'Pix key',
    value: 'lost@ponte.test',
    effect: 'the payment is executed and answered with 500, at every attempt',
    payment: { response: 'internal_error' },
  },
  {
    input: 'Pix key',
    value: 'html@ponte.test',
    effect: 'the payment is executed and answered with 200 and HTML, at every attempt',
    payment: { response: 'garbled' },
  },
  {
    input: 'Pix key',
    value: 'fail@ponte.test',
    effect: 'the payment is accepted, then the webhook says that it failed (reason DS04)',
    payment: { settlement: 'FAILED' },
  },
  {
    input: 'Pix key',
    value: 'slow@ponte.test',
    effect: 'the payment is accepted, the webhook comes after 30 seconds',
    payment: { webhook: 'late' },
  },
  {
    input: 'Pix key',
    value: 'silent@ponte.test',
    effect: 'the payment is accepted, no webhook comes',
    payment: { webhook: 'never' },
  },
  {
    input: 'Pix key',
    value: 'early@ponte.test',
    effect: "the webhook comes before the payment's response",
    payment: { webhook: 'early' },
  },
  {
    input: 'Pix key',
    value: 'twice@ponte.test',
    effect: 'the webhook comes twice, then one that contradicts it',
    payment: { webhook: 'contradicted' },
  },
  {
    input: 'Pix key',
    value: 'refund@ponte.test',
    effect: 'the payment is completed, then half of it comes back, with a webhook of its own',
    payment: { isRefunded: true },
  },
  {
    input: 'Pix key',
    value: 'reversed@ponte.test',
    effect: 'the payment is accepted, no webhook comes; the statement has a debit and its reversal',
    payment: { isReversed: true, webhook: 'never' },
  },
  {
    input: 'Pix key',
    value: 'reversed-later@ponte.test',
    effect: 'the payment is completed, then the statement has its reversal, without a return id',
    payment: { isReversed: true },
  },
  {
    input: 'Pix key',
    value: 'analysis@ponte.test',
    effect:
      'the payment is held for analysis, the webhook that completes it comes after 30 seconds',
    payment: { isHeld: true, webhook: 'late' },
  },
  {
    input: 'Pix key',
    value: 'dispute-partial@ponte.test',
    effect: 'a dispute of the payment is accepted, and half of it comes back',
    dispute: 'partial',
  },
  {
    input: 'Pix key',
    value: 'dispute-rejected@ponte.test',
    effect: 'a dispute of the payment is rejected',
    dispute: 'rejected',
  },
  {
    input: 'Pix key',
    value: 'dispute-pending@ponte.test',
    effect: 'a dispute of the payment stays open until it is withdrawn',
    dispute: 'pending',
  },
  {
    input: 'Pix key',
    value: 'dispute-refused@ponte.test',
    effect: 'the request to dispute the payment is refused (422)',
    dispute: 'refused',
  },
  {
    input: 'Pix key',
    value: 'dispute-lost@ponte.test',
    effect: 'a dispute of the payment is opened and answered with 500, at every attempt',
    dispute: 'lost',
  },
  {
    input: 'payment amount',
    value: 'more than the balance',
    effect: 'the payment is refused: insufficient funds',
  },
  {
    input: 'return amount',
    value: '0.91',
    effect: 'the return is refused (422, reason AG03)',
    refund: { response: 'refused' },
  },
  {
    input: 'return amount',
    value: '0.92',
    effect: 'the return is made and answered with 500, at every attempt',
    refund: { response: 'internal_error' },
  },
  {
    input: 'return amount',
    value: '0.93',
    effect: 'the return is accepted, then the webhook says that it failed (reason DS04)',
    refund: { settlement: 'FAILED' },
  },
  {
    input: 'return amount',
    value: '0.94',
    effect: 'the return is made and answered with 500, and no webhook comes',
    refund: { response: 'internal_error', webhook: 'never' },
  },
  {
    input: 'login e-mail',
    value: 'refused@ponte.test',
    effect: 'the provider refuses the login (4xx)',
    customer: 'login_refused',
  },
  {
    input: 'login e-mail',
    value: 'down@ponte.test',
    effect: 'the login answers 503, always',
    customer: 'login_unavailable',
  },
  {
    input: 'login e-mail',
    value: 'offline@ponte.test',
    effect: 'the login works; balance, statement, look-ups, payments, charges, keys answer 503',
    customer: 'unavailable',
  },
  {
    input: 'login e-mail',
    value: 'expired@ponte.test',
    effect: 'the login works; its token is valid for one call, then 401 until a new login',
    customer: 'token_works_once',
  },
  {
    input: 'login e-mail',
    value: 'hiccup@ponte.test',
    effect: 'the login works; the first call answers 401, the next ones are fine',
    customer: 'token_refused_once',
  },
  {
    input: 'login e-mail',
    value: 'unheard@ponte.test',
    effect: 'every webhook about the customer is lost; the statement shows what happened',
    customer: 'webhooks_lost',
  },
  {
    input: 'login e-mail',
    value: 'blocked@ponte.test',
    effect: 'the login works; 1 000 reais of the balance are blocked, and cannot be sent',
    customer: 'partly_blocked',
  },
  {
    input: 'charge expiration',
    value: 'passed without a payment',
    effect: 'a webhook says that the charge has expired; it can no longer be paid',
  },
  {
    input: 'provider token',
    value: "expired through the bank's control path",
    effect: 'every call answers 401 until a new login',
  },
  {
    input: 'onboarding phone',
    value: 'ending in 2',
    effect: 'KYC rejects the person',
    kyc: 'REJECTED',
  },
  {
    input: 'onboarding phone',
    value: 'ending in 3',
    effect: "KYC stays pending (the provider's onboarding only)",
    kyc: 'PENDING',
  },
];

const happyPayment: PaymentScript = {
  response: 'accepted',
  settlement: 'COMPLETED',
  webhook: 'in_time',
  isRefunded: false,
  isHeld: false,
  isReversed: false,
};

const happyReturn: ReturnScript = {
  response: 'accepted',
  settlement: 'COMPLETED',
  webhook: 'in_time',
};

const ofReturn = byValue('return amount');
const ofKey = byValue('Pix key');
const ofCustomer = byValue('login e-mail');
const ofPhone = byValue('onboarding phone');

/** The response to a look-up of this key. */
export function lookUpScript(key: string): LookUpScript {
  return ofKey.get(key.toLowerCase())?.lookUp ?? 'found';
}

/** The course of a payment to this key. */
export function paymentScript(key: string): PaymentScript {
  const scenario = ofKey.get(key.toLowerCase());
  return scenario === undefined ? happyPayment : { ...happyPayment, ...scenario.payment };
}

/** The course of the dispute of a payment to this key; by default all of it comes back. */
export function disputeScript(key: string): DisputeScript {
  return ofKey.get(key.toLowerCase())?.dispute ?? 'accepted';
}

/** The course of a return of this amount. */
export function returnScript(amountCents: number): ReturnScript {
  return { ...happyReturn, ...ofReturn.get(decimalFromCents(amountCents))?.refund };
}

/** How the customer who logs in with this e-mail is treated. */
export function customerScript(email: string): CustomerScript {
  return ofCustomer.get(email)?.customer ?? 'served';
}

/** @returns the blocked part of a customer's balance in centavos; null: it is not reported. */
export function blockedCents(email: string): number | null {
  return customerScript(email) === 'partly_blocked' ? 100_000 : null;
}

/** The decision on a person with this phone. */
export function kycScript(phone: string): KycScript {
  return ofPhone.get(`ending in ${phone.slice(-1)}`)?.kyc ?? 'APPROVED';
}

function byValue(input: Scenario['input']): ReadonlyMap<string, Scenario> {
  return new Map(
    scenarios.filter((row) => row.input === input).map((row) => [row.value, row] as const),
  );
}
