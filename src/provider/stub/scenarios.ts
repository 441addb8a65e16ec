/**
 * The magic values: what a developer or a test enters to see the bank misbehave. Every other value
 * takes the happy path. contract/README.md and the development pages show the same table.
 */

/** How the directory of keys (DICT) answers a look-up. */
export type LookUpScript =
  'found' | 'not_found' | 'rate_limited' | 'unavailable' | 'unavailable_once';

/** How a payment goes. One that is refused is not executed; any other is, whatever is answered. */
export interface PaymentScript {
  /** `hang`: no answer at all; `internal_error`: a 500; `garbled`: HTML in place of the receipt. */
  readonly answer: 'accepted' | 'refused' | 'hang' | 'internal_error' | 'garbled';
  /** How it ends, which the webhook reports. */
  readonly settlement: 'COMPLETED' | 'FAILED';
  /**
   * When the webhook is posted. `in_time`: after the bank's usual settlement time; `early`: before
   * the payment is answered; `contradicted`: in time, then once more, then with the opposite.
   */
  readonly webhook: 'in_time' | 'late' | 'never' | 'early' | 'contradicted';
}

/** How the bank treats all requests of a customer. */
export type CustomerScript =
  | 'served'
  | 'login_refused'
  | 'login_unavailable'
  | 'unavailable'
  | 'token_works_once'
  | 'token_refused_once';

/** The decision on a person who applies for an account, once all steps are complete. */
export type KycScript = 'APPROVED' | 'REJECTED' | 'PENDING';

/** One row of the table. */
export interface Scenario {
  readonly given:
    'PIX key' | 'login e-mail' | 'payment amount' | 'provider token' | 'onboarding phone';
  /** The magic value itself, or in words which values are. */
  readonly value: string;
  /** What happens, in words. */
  readonly happens: string;
  readonly lookUp?: LookUpScript;
  readonly payment?: Partial<PaymentScript>;
  readonly customer?: CustomerScript;
  readonly kyc?: KycScript;
}

/** How long after the payment the webhook of `slow@ponte.test` is posted. */
export const LATE_WEBHOOK_MS = 30_000;

export const scenarios: readonly Scenario[] = [
  {
    given: 'PIX key',
    value: 'notfound@ponte.test',
    happens: 'the DICT look-up answers 404: no account has this key',
    lookUp: 'not_found',
  },
  {
    given: 'PIX key',
    value: 'ratelimited@ponte.test',
    happens: 'the DICT look-up answers 429',
    lookUp: 'rate_limited',
  },
  {
    given: 'PIX key',
    value: 'unavailable@ponte.test',
    happens: 'the DICT look-up answers 503, always',
    lookUp: 'unavailable',
  },
  {
    given: 'PIX key',
    value: 'flaky@ponte.test',
    happens: "the payer's first DICT look-up answers 503, the next ones are fine",
    lookUp: 'unavailable_once',
  },
  {
    given: 'PIX key',
    value: 'reject@ponte.test',
    happens: 'the payment is refused (422, reason AC03)',
    payment: { answer: 'refused' },
  },
  {
    given: 'PIX key',
    value: 'timeout@ponte.test',
    happens: 'the payment is executed and never answered, at every attempt',
    payment: { answer: 'hang' },
  },
  {
    given: 'PIX key',
    value: 'lost@ponte.test',
    happens: 'the payment is executed and answered with 500, at every attempt',
    payment: { answer: 'internal_error' },
  },
  {
    given: 'PIX key',
    value: 'html@ponte.test',
    happens: 'the payment is executed and answered with 200 and HTML, at every attempt',
    payment: { answer: 'garbled' },
  },
  {
    given: 'PIX key',
    value: 'fail@ponte.test',
    happens: 'the payment is accepted, then the webhook says that it failed (reason BE17)',
    payment: { settlement: 'FAILED' },
  },
  {
    given: 'PIX key',
    value: 'slow@ponte.test',
    happens: 'the payment is accepted, the webhook comes after 30 seconds',
    payment: { webhook: 'late' },
  },
  {
    given: 'PIX key',
    value: 'silent@ponte.test',
    happens: 'the payment is accepted, no webhook comes',
    payment: { webhook: 'never' },
  },
  {
    given: 'PIX key',
    value: 'early@ponte.test',
    happens: "the webhook comes before the payment's answer",
    payment: { webhook: 'early' },
  },
  {
    given: 'PIX key',
    value: 'twice@ponte.test',
    happens: 'the webhook comes twice, then one that contradicts it',
    payment: { webhook: 'contradicted' },
  },
  {
    given: 'payment amount',
    value: 'more than the balance',
    happens: 'the payment is refused: insufficient funds',
  },
  {
    given: 'login e-mail',
    value: 'refused@ponte.test',
    happens: 'the provider refuses the login (4xx)',
    customer: 'login_refused',
  },
  {
    given: 'login e-mail',
    value: 'down@ponte.test',
    happens: 'the login answers 503, always',
    customer: 'login_unavailable',
  },
  {
    given: 'login e-mail',
    value: 'offline@ponte.test',
    happens: 'the login works; balance, statement, look-ups, payments, charges, keys answer 503',
    customer: 'unavailable',
  },
  {
    given: 'login e-mail',
    value: 'expired@ponte.test',
    happens: 'the login works; its token is good for one call, then 401 until a new login',
    customer: 'token_works_once',
  },
  {
    given: 'login e-mail',
    value: 'hiccup@ponte.test',
    happens: 'the login works; the first call answers 401, the next ones are fine',
    customer: 'token_refused_once',
  },
  {
    given: 'provider token',
    value: "expired through the bank's control path",
    happens: 'every call answers 401 until a new login',
  },
  {
    given: 'onboarding phone',
    value: 'ending in 2',
    happens: 'KYC rejects the person',
    kyc: 'REJECTED',
  },
  {
    given: 'onboarding phone',
    value: 'ending in 3',
    happens: "KYC stays pending (the provider's onboarding only)",
    kyc: 'PENDING',
  },
];

const happyPayment: PaymentScript = {
  answer: 'accepted',
  settlement: 'COMPLETED',
  webhook: 'in_time',
};

const ofKey = byValue('PIX key');
const ofCustomer = byValue('login e-mail');
const ofPhone = byValue('onboarding phone');

/** How a look-up of this key goes. */
export function lookUpScript(key: string): LookUpScript {
  return ofKey.get(key.toLowerCase())?.lookUp ?? 'found';
}

/** How a payment to this key goes. */
export function paymentScript(key: string): PaymentScript {
  const scenario = ofKey.get(key.toLowerCase());
  return scenario === undefined ? happyPayment : { ...happyPayment, ...scenario.payment };
}

/** How the customer who logs in with this e-mail is treated. */
export function customerScript(email: string): CustomerScript {
  return ofCustomer.get(email)?.customer ?? 'served';
}

/** The decision on a person with this phone. */
export function kycScript(phone: string): KycScript {
  return ofPhone.get(`ending in ${phone.slice(-1)}`)?.kyc ?? 'APPROVED';
}

function byValue(given: Scenario['given']): ReadonlyMap<string, Scenario> {
  return new Map(
    scenarios.filter((row) => row.given === given).map((row) => [row.value, row] as const),
  );
}
