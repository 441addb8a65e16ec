/** The bank's responses as bytes, each with what it proves to its reader. */
import type { DisputeState, Payment } from './ledger.ts';
import type { Policy } from './policy.ts';
import { duplicateErrors, getMeaning, type Refusal } from './words.ts';
import type { Chance } from '../chance.ts';

/**
 * What the response to an attempt proves. `nothing`: the payment may have been executed or not. So
 * it may after a 401, because a proxy may have repeated a request that was executed.
 */
export type Proof = 'accepted' | 'completed' | 'refused' | 'nothing';

export interface BankResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly proves: Proof;
  /** The state of the dispute that it reports. */
  readonly disputeState?: DisputeState | null;
  /** A short description for the trace. */
  readonly summary: string;
}

/** The order of a payment, as the bank has received it. */
export interface PaymentRequest {
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly key: string;
  readonly amountCents: number;
  /** Of the charge of a code. */
  readonly txid: string | null;
  readonly isHiddenRepeat?: true;
  /** A 401 answers the attempt: a bank that recognises its repeat does not fail it meanwhile. */
  readonly isOfEndedSession?: true;
}

/** A response with a JSON body. */
export function json(status: number, body: unknown, proves: Proof = 'nothing'): BankResponse {
  return { ...text(status, JSON.stringify(body), 'application/json'), proves };
}

/** A response with any other body. */
export function text(status: number, body: string, contentType = 'text/html'): BankResponse {
  const bytes = Buffer.from(body, 'utf8');
  return {
    status,
    headers: { 'content-type': contentType, 'content-length': String(bytes.length) },
    body: bytes,
    proves: 'nothing',
    summary: String(status),
  };
}

/** A 200, with the body wrapped as this provider does. */
export function result(policy: Policy, body: object): BankResponse {
  return json(200, policy.wrapsResponses ? { data: body } : body);
}

/** The response to an accepted or replayed payment. */
export function receipt(policy: Policy, payment: Payment): BankResponse {
  const { vocabulary, receiptStatus } = policy;
  const meaning = receiptStatus === 'frank' ? getMeaning(payment) : 'under_way';
  const status = receiptStatus === 'success' ? 'SUCCESS' : vocabulary.status[meaning];
  const body = {
    ...listIds(policy, payment, payment.bankId),
    ...(receiptStatus !== 'none' && { status }),
  };
  // A receipt that reports a failure has no code here: without a listed one it proves nothing.
  const proves = { under_way: 'accepted', completed: 'completed', failed: 'nothing' } as const;
  const proof = vocabulary.isKnown ? proves[meaning] : 'accepted';
  if (!namesPayment(policy)) return { ...result(policy, body), summary: 'bare receipt' };
  return {
    ...result(policy, body),
    proves: proof,
    summary: `receipt ${String(body.status ?? '')}`,
  };
}

/** The response that the payment itself is refused: nothing was executed. */
export function refusal(
  policy: Policy,
  { status, body }: Refusal,
  request: PaymentRequest,
): BankResponse {
  if (policy.refusal === 'status') return { ...json(status, body, 'refused'), summary: 'refused' };
  const isRead = policy.vocabulary.isKnown && policy.receiptIds !== 'client';
  const proves = isRead ? 'refused' : 'nothing';
  return { ...json(200, failedReceipt(policy, request, body), proves), summary: '200 refused' };
}

/** The response that the payment exists already: it proves nothing about this attempt. */
export function duplicate(policy: Policy, request: PaymentRequest, chance: Chance): BankResponse {
  switch (policy.repeat) {
    case 'conflict':
      return { ...json(409, { message: 'Conflict' }), summary: 'conflict' };
    case 'rejected': {
      const error = pick(chance, duplicateErrors);
      return { ...json(200, failedReceipt(policy, request, error)), summary: '200 duplicate' };
    }
    default: {
      const { status, body } = pick(chance, policy.duplicates);
      return { ...json(status, body), summary: 'duplicate' };
    }
  }
}

function failedReceipt(policy: Policy, request: PaymentRequest, error: unknown): object {
  const { vocabulary } = policy;
  // The service would read a code at the top level as the code of the receipt.
  const errors = typeof error === 'object' && error !== null && 'code' in error ? { error } : error;
  const body = { ...listIds(policy, request, null), status: vocabulary.status.failed };
  return Object.assign(body, errors);
}

/** Whether a receipt names the payment by a unique id: two customers may use the same key. */
function namesPayment({ receiptIds }: Policy): boolean {
  return receiptIds === 'both' || receiptIds === 'end_to_end';
}

function listIds(
  policy: Policy,
  { endToEnd, clientRequestId }: Pick<PaymentRequest, 'endToEnd' | 'clientRequestId'>,
  bankId: string | null,
): Record<string, unknown> {
  const id = bankId === null ? {} : { id: bankId };
  switch (policy.receiptIds) {
    case 'both':
      return { ...id, endToEnd, clientRequestId };
    case 'end_to_end':
      return { ...id, endToEndId: endToEnd };
    case 'client':
      return { ...id, clientCode: clientRequestId };
    case 'own':
      return bankId === null ? { endToEnd } : id;
  }
}

function pick<T>(chance: Chance, choices: readonly T[]): T {
  const chosen = choices[chance.below(choices.length)];
  if (chosen === undefined) throw new Error('nothing to choose from');
  return chosen;
}
