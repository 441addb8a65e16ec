/** The bank's answers as bytes, each with what it proves to whoever reads it. */
import type { Payment } from './ledger.ts';
import type { Policy } from './policy.ts';
import { duplicateErrors, meaningOf, type Refusal } from './words.ts';
import type { Chance } from '../chance.ts';

/**
 * What the answer to an attempt proves. `not_done`: this attempt did nothing, and says so before it
 * was looked at (a token that is refused); `nothing`: it is silent on what became of the payment.
 */
export type Proof = 'accepted' | 'completed' | 'refused' | 'not_done' | 'nothing';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly proves: Proof;
  /** What it is, for the trace. */
  readonly word: string;
}

/** What a payment was asked for with. */
export interface AskedPayment {
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly key: string;
  readonly amountCents: number;
  readonly isHiddenRepeat?: true;
}

/** An answer with a JSON body. */
export function json(status: number, body: unknown, proves: Proof = 'nothing'): Answer {
  return { ...text(status, JSON.stringify(body), 'application/json'), proves };
}

/** An answer with any other body. */
export function text(status: number, body: string, contentType = 'text/html'): Answer {
  const bytes = Buffer.from(body, 'utf8');
  return {
    status,
    headers: { 'content-type': contentType, 'content-length': String(bytes.length) },
    body: bytes,
    proves: 'nothing',
    word: String(status),
  };
}

/** An answer of a call that moves no money, in the provider's wrapping. */
export function result(policy: Policy, body: object): Answer {
  return json(200, policy.wrapsAnswers ? { data: body } : body);
}

/** That a payment was taken, or replayed. */
export function receipt(policy: Policy, payment: Payment): Answer {
  const { vocabulary, receiptStatus } = policy;
  const meaning = receiptStatus === 'frank' ? meaningOf(payment) : 'under_way';
  const status = receiptStatus === 'success' ? 'SUCCESS' : vocabulary.status[meaning];
  const body = {
    ...idsOf(policy, payment, payment.bankId),
    ...(receiptStatus !== 'none' && { status }),
  };
  const proves = { under_way: 'accepted', completed: 'completed', failed: 'refused' } as const;
  const proof = vocabulary.isKnown ? proves[meaning] : 'accepted';
  if (!namesPayment(policy)) return { ...result(policy, body), word: 'bare receipt' };
  return { ...result(policy, body), proves: proof, word: `receipt ${String(body.status ?? '')}` };
}

/** That the payment itself is refused: nothing was executed. */
export function refusal(policy: Policy, { status, body }: Refusal, asked: AskedPayment): Answer {
  if (policy.refusal === 'status') return { ...json(status, body, 'refused'), word: 'refused' };
  const isRead = policy.vocabulary.isKnown && policy.receiptIds !== 'client';
  const proves = isRead ? 'refused' : 'nothing';
  return { ...json(200, failedReceipt(policy, asked, body), proves), word: '200 refused' };
}

/** That the payment is there already: it proves nothing of whoever asked. */
export function duplicate(policy: Policy, asked: AskedPayment, chance: Chance): Answer {
  switch (policy.repeat) {
    case 'conflict':
      return { ...json(409, { message: 'Conflict' }), word: 'conflict' };
    case 'rejected': {
      const error = pick(chance, duplicateErrors);
      return { ...json(200, failedReceipt(policy, asked, error)), word: '200 duplicate' };
    }
    default: {
      const { status, body } = pick(chance, policy.duplicates);
      return { ...json(status, body), word: 'duplicate' };
    }
  }
}

function failedReceipt(policy: Policy, asked: AskedPayment, error: unknown): object {
  const { vocabulary } = policy;
  // A code at the top would be read as the receipt's own.
  const errors = typeof error === 'object' && error !== null && 'code' in error ? { error } : error;
  const body = { ...idsOf(policy, asked, null), status: vocabulary.status.failed };
  return Object.assign(body, errors);
}

/** Whether a receipt names the payment by an id that no other one can have: keys may be shared. */
function namesPayment({ receiptIds }: Policy): boolean {
  return receiptIds === 'both' || receiptIds === 'end_to_end';
}

function idsOf(
  policy: Policy,
  { endToEnd, clientRequestId }: Pick<AskedPayment, 'endToEnd' | 'clientRequestId'>,
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
