/** Guards against a second payment or return while an earlier one may have been made. */
import { useRef, useState } from 'react';
import { readSendResponse } from '../../contract/client/send-response.ts';
import type { ServiceResponse } from '../api.ts';
import { doubtOrder, endDoubt, isDoubtful } from '../state/app-state.ts';
import { askBeforeAnother, isInDoubt, type OrderKind } from '../state/outcomes.ts';
import { useApp } from './use-app.ts';
import { useQuestion, type Question } from './use-question.ts';

export interface DoubtOptions {
  /** The name of the form. */
  readonly form: string;
  /** What the form makes; a form that moves no money is not guarded. */
  readonly kind: OrderKind | undefined;
  /** Receives the key of this form's order in doubt when a person declines another one. */
  restore(key: string): void;
}

export interface Doubt extends Pick<Question, 'notice' | 'press'> {
  /** The idempotency key of the last response to an order; empty before the first. */
  readonly sentKey: string;
  /**
   * Acts with an idempotency key: at once, or once a person agrees to another order.
   * @param question the question where no other order is in doubt, and this key is not.
   */
  guard(key: string, act: () => void, question?: string): void;
  /** Registers an order that is sent. @returns a function for its response. */
  begin(key: string): (response: ServiceResponse) => void;
}

export function useDoubt({ form, kind, restore }: DoubtOptions): Doubt {
  const { state, change } = useApp();
  const { notice, press, ask } = useQuestion();
  const accepted = useRef('');
  const [sentKey, setSentKey] = useState('');
  return {
    sentKey,
    notice,
    press,
    guard(key, act, question) {
      const other = state.doubtful.findLast((one) => one.form !== form || one.key !== key);
      const isRepeat = isDoubtful(state, { form, key });
      if (kind !== undefined && other !== undefined && !isRepeat && accepted.current !== key) {
        const agree = (): void => {
          accepted.current = key;
          act();
        };
        // The key of another form's order would be a new key here.
        const decline = (): void => (other.form === form ? restore(other.key) : undefined);
        ask(askBeforeAnother(kind, other.kind), agree, decline);
      } else if (question === undefined || isRepeat) act();
      else ask(question, act);
    },
    begin(key) {
      if (kind === undefined) return () => undefined;
      const order = { form, key, kind };
      const wasInDoubt = isDoubtful(state, order);
      change(doubtOrder(order));
      return (response) => {
        setSentKey(key);
        const read = readSendResponse(response);
        const transactionId = read.step === 'wait' ? read.transactionId : undefined;
        const isStill = isInDoubt(response, wasInDoubt);
        change(isStill ? doubtOrder({ ...order, transactionId }) : endDoubt(order));
      };
    },
  };
}
