/**
 * The responses of the simulated bank as values: neither the port's errors nor HTTP statuses, so
 * that the same bank serves both.
 */

/**
 * - `token`: the token is not valid, or has expired.
 * - `credentials`: the login is refused.
 * - `not_found`: there is no such key or charge.
 * - `missing`: there is no such person or postal code.
 * - `rate_limited`: too many look-ups.
 * - `insufficient_funds`: the amount is over the balance.
 * - `rule`: any other rule of the bank; `reason` names it.
 */
export type RefusalKind =
  | 'token'
  | 'credentials'
  | 'not_found'
  | 'missing'
  | 'rate_limited'
  | 'insufficient_funds'
  | 'rule';

/** The HTTP status of each kind. */
export const refusalStatuses: Readonly<Record<RefusalKind, number>> = {
  token: 401,
  credentials: 401,
  not_found: 404,
  missing: 404,
  rate_limited: 429,
  insufficient_funds: 422,
  rule: 422,
};

/** A definitive refusal: nothing was done. */
export interface Refusal {
  readonly kind: RefusalKind;
  /** The bank's own code, such as `AC03` or `EntryAlreadyExists`. */
  readonly reason: string;
  readonly retryAfterMs?: number;
}

/**
 * How a response is lost.
 *
 * - `unavailable`: a 503, and nothing was done.
 * - `internal_error`: a 500, and it was done.
 * - `hang`: no response, and it was done.
 * - `garbled`: HTML, and it was done.
 */
export type Fault = 'unavailable' | 'internal_error' | 'hang' | 'garbled';

export interface Done<T> {
  readonly outcome: 'done';
  readonly value: T;
}

export interface Refused {
  readonly outcome: 'refused';
  readonly refusal: Refusal;
}

export interface Faulty {
  readonly outcome: 'faulty';
  readonly fault: Fault;
}

export type BankResponse<T> = Done<T> | Refused | Faulty;

/** A response with the requested value. */
export function done<T>(value: T): Done<T> {
  return { outcome: 'done', value };
}

/** A response that is a definitive refusal. */
export function refused(refusal: Refusal): Refused {
  return { outcome: 'refused', refusal };
}

/** A refusal by a rule of the bank that its reason names. */
export function brokenRule(reason: string): Refused {
  return refused({ kind: 'rule', reason });
}

/** A response that is lost. */
export function faulty(fault: Fault): Faulty {
  return { outcome: 'faulty', fault };
}
