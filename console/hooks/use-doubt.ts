/** Guards against a second payment while an earlier one may have been made. */
import { useRef } from 'react';
import { readSendResponse } from '../../contract/client/send-response.ts';
import type { ServiceResponse } from '../api.ts';
import { doubtPayment } from '../state/app-state.ts';
import { askBeforeAnother, isInDoubt } from '../state/outcomes.ts';
import { useApp } from './use-app.ts';
import { useQuestion, type Question } from './use-question.ts';

export interface Doubt extends Pick<Question, 'notice' | 'press'> {
  /** Acts with an idempotency key: at once, or once a person agrees to another payment. */
  guard(key: string, act: () => void): void;
  /** Registers a payment that is sent. @returns a function for its response. */
  begin(key: string): (response: ServiceResponse) => void;
}

/**
 * @param isPayment whether the form pays; no other form is guarded.
 * @param restore receives the key of the payment in doubt when a person declines another one.
 */
export function useDoubt(isPayment: boolean, restore: (key: string) => void): Doubt {
  const { state, change } = useApp();
  const { notice, press, ask } = useQuestion();
  const accepted = useRef('');
  const note = (key: string, isDoubtful: boolean, transactionId?: string): void => {
    if (isPayment) change(doubtPayment(key, isDoubtful, transactionId));
  };
  return {
    notice,
    press,
    guard(key, act) {
      const other = state.doubtful.findLast((one) => one !== key);
      if (!isPayment || other === undefined || accepted.current === key) {
        act();
        return;
      }
      const agree = (): void => {
        accepted.current = key;
        act();
      };
      ask(askBeforeAnother, agree, () => restore(other));
    },
    begin(key) {
      const wasInDoubt = state.doubtful.includes(key);
      note(key, true);
      return (response) => {
        const read = readSendResponse(response);
        const id = read.step === 'wait' ? read.transactionId : undefined;
        note(key, isInDoubt(response, wasInDoubt), id);
      };
    },
  };
}
