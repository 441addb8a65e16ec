/** What an operator says with a decision: who decides, and why. */
import { namesPerson } from './webhook-redaction.ts';

const longestReason = 500;

const longestName = 64;

export interface Decision {
  /** 1 to 500 characters; no personal data belongs in it. */
  readonly reason: string;
  /** Who decides: the name of the operator's user on this machine. */
  readonly by: string;
}

/** @returns what is wrong with a decision, in a sentence; null when nothing is. */
export function mistakeInDecision({ reason, by }: Decision): string | null {
  const length = [...reason].length;
  if (reason.trim() === '') return 'a reason is needed';
  if (length > longestReason)
    return `the reason has ${length} characters; ${longestReason} are most`;
  if (hasControls(reason)) return 'the reason has control characters in it';
  if (namesPerson(reason)) return 'the reason names a person: no e-mail, CPF or CNPJ belongs in it';
  if (by.trim() === '' || by.length > longestName || hasControls(by)) {
    return 'it is not known who decides';
  }
  return null;
}

/** Line ends, escape sequences and the marks that turn the direction of writing. */
function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u.test(text);
}
