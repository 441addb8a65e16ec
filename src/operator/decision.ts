/** Validates the reason that an operator states for a decision. */
import { OpError } from './op.ts';
import { namesPerson } from './webhook-redaction.ts';

const maxReasonLength = 500;

const maxNameLength = 128;

export interface OperatorDecision {
  /** 1 to 500 characters; no personal data belongs in it. */
  readonly reason: string;
}

/**
 * @param operator the name of the operator.
 * @throws OpError when the decision is invalid.
 */
export function requireDecision({ reason }: OperatorDecision, operator: string): void {
  requireReason(reason);
  if (operator.trim() === '' || operator.length > maxNameLength || hasControls(operator)) {
    throw new OpError('INVALID', '--by is required: name the operator');
  }
}

/** @throws OpError when the reason is invalid. */
export function requireReason(reason: string): void {
  const error = reasonError(reason);
  if (error !== null) throw new OpError('INVALID', error);
}

/** @returns why the reason is invalid, as a sentence; null when it is valid. */
function reasonError(reason: string): string | null {
  const length = [...reason].length;
  if (reason.trim() === '') return 'a reason is required';
  if (length > maxReasonLength)
    return `the reason has ${length} characters, the maximum is ${maxReasonLength}`;
  if (hasControls(reason)) return 'the reason contains control characters';
  if (namesPerson(reason)) return 'the reason must not contain an e-mail, a CPF or a CNPJ';
  return null;
}

/** Line ends, escape sequences and bidirectional marks. */
function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u.test(text);
}
