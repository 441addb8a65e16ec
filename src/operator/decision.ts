/** What an operator gives as the reason of a decision. */
import { namesPerson } from './webhook-redaction.ts';

const longestReason = 500;

const longestName = 128;

export interface Decision {
  /** 1 to 500 characters; no personal data belongs in it. */
  readonly reason: string;
}

/**
 * @param operator who decides.
 * @returns what is wrong with a decision, in a sentence; null when nothing is.
 */
export function mistakeInDecision({ reason }: Decision, operator: string): string | null {
  const length = [...reason].length;
  if (reason.trim() === '') return 'a reason is needed';
  if (length > longestReason)
    return `the reason has ${length} characters; ${longestReason} are most`;
  if (hasControls(reason)) return 'the reason has control characters in it';
  if (namesPerson(reason)) return 'the reason names a person: no e-mail, CPF or CNPJ belongs in it';
  if (operator.trim() === '' || operator.length > longestName || hasControls(operator)) {
    return '--by is required: name the operator';
  }
  return null;
}

/** Line ends, escape sequences and the marks that turn the direction of writing. */
function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u.test(text);
}
