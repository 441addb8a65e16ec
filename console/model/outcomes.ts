/** What came of a payment or a charge, and what to do next. */
import type { PixStatus } from '../../contract/types.ts';
import type { Answered } from '../api.ts';
import type { Tone } from './lines.ts';

export interface Outcome {
  readonly tone: Tone;
  /** Sentences: how it stands, and what to do. */
  readonly text: string;
}

const newKey = 'ctrl+n takes a new key';

/** Without an answer a payment may have been made: only its own key tells, and never pays twice. */
export const noAnswerToSend =
  'It may have been paid. Send again with the same key: it tells, and never pays twice.';

/** A charge that may have been made is given again by its own key. */
export const noAnswerToCharge = 'Charge again with the same key: it is the same charge.';

const byCode: Readonly<Record<string, string>> = {
  PIX_KEY_NOT_FOUND: `Nothing was sent. Correct the PIX key; ${newKey}.`,
  INSUFFICIENT_FUNDS: `No money has moved. Pay less, or fill the account up; ${newKey}.`,
  PROVIDER_REJECTED: `No money has moved. Change the payment; ${newKey}.`,
};

/** @param live the newest status of the transaction; null when there is none. */
export function sendOutcome(answer: Answered, live: PixStatus | null): Outcome {
  if (answer.status === 200) return sentOutcome(live, answer.headers.get('pix-outcome'));
  const { code, errors } = (answer.body ?? {}) as {
    readonly code?: string;
    readonly errors?: Readonly<Record<string, unknown>>;
  };
  if (answer.status === 502) {
    const later = `Nothing was sent. Try again${after(answer)}; ${newKey}.`;
    return { tone: 'bad', text: byCode[code ?? ''] ?? later };
  }
  if (answer.status === 422 && errors?.['Idempotency-Key'] !== undefined) {
    const text = `This key belongs to another payment, in the statement. For this one, ${newKey}.`;
    return { tone: 'bad', text };
  }
  return { tone: 'bad', text: undone(answer) ?? noAnswerToSend };
}

function sentOutcome(live: PixStatus | null, outcome: string | null): Outcome {
  if (live === 'COMPLETED')
    return { tone: 'good', text: `It is paid. For another one, ${newKey}.` };
  if (live === 'FAILED') {
    return { tone: 'bad', text: `The payment has failed. To try again, ${newKey}.` };
  }
  const text =
    outcome === 'unknown'
      ? "The bank's answer was lost: it may have been paid. Wait here; never pay it with a new key."
      : 'The bank has taken it. Wait: how it ends appears here by itself.';
  return { tone: 'doubtful', text };
}

/** A charge moves no money: its key may be used again until it has failed for good. */
export function chargeOutcome(answer: Answered): Outcome {
  if (answer.status === 200) {
    return { tone: 'bad', text: `This charge has failed. To make another one, ${newKey}.` };
  }
  const { errors } = (answer.body ?? {}) as { readonly errors?: Readonly<Record<string, unknown>> };
  if (answer.status === 422 && errors?.['Idempotency-Key'] !== undefined) {
    return { tone: 'bad', text: `This key belongs to another charge. For this one, ${newKey}.` };
  }
  const again = `Nobody can pay it yet. Charge again${after(answer)}, with the same key.`;
  return { tone: 'bad', text: answer.status === 502 ? again : (undone(answer) ?? again) };
}

/** Where it is certain that the request did nothing. */
function undone(answer: Answered): string | null {
  if (answer.status === 429 || answer.status === 503) {
    return `Nothing was done. Try again${after(answer)}, with the same key.`;
  }
  return answer.status < 500 ? 'Nothing was done. Correct what is marked.' : null;
}

function after({ headers }: Answered): string {
  const seconds = headers.get('retry-after');
  return seconds === null ? ' later' : ` in ${seconds} s`;
}

/** Why the login screen is shown, when a call was refused. */
export function sessionEnded(outcome: string | null): string {
  const rest = 'what was typed is kept.';
  return outcome === 'not_sent'
    ? `The bank has ended your session, and the payment has failed: log in, then ${newKey}.`
    : `Your session has ended. Log in again: ${rest}`;
}
