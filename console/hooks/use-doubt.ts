/** Guards against a second payment or return while an earlier one may have been made. */
import { randomUUID } from 'node:crypto';
import { useRef } from 'react';
import type { ServiceResponse } from '../api.ts';
import {
  findOrder,
  isSameOrder,
  noteOrder,
  ordersInDoubt,
  type Order,
} from '../state/app-state.ts';
import { askBeforeAnother, readAnswer, type OrderKind } from '../state/outcomes.ts';
import { useApp } from './use-app.ts';
import { useQuestion, type Question } from './use-question.ts';

export interface DoubtOptions {
  /** The name of the form. */
  readonly form: string;
  /** What the form makes; a form that moves no money is not guarded. */
  readonly kind: OrderKind | undefined;
  /** What is typed now. */
  readonly wanted: Wanted;
  /** Receives the key of this form's order in doubt when a person declines another one. */
  restore(key: string): void;
}

/** What a form is about to send. */
export interface Wanted {
  readonly key: string;
  /** The typed values but the key, as a text. */
  readonly typed: string;
}

export interface Doubt extends Pick<Question, 'notice' | 'press'> {
  /** The order that was sent with the key. */
  readonly order: Order | undefined;
  /** Whether what is typed was not sent with the key. */
  readonly isNew: boolean;
  /**
   * Acts with an idempotency key: at once, or once a person agrees to another order. Other values
   * are another order, with a new key, unless the service has asked to correct them.
   * @param question the question where no order is in doubt, and this is no repeat.
   */
  guard(wanted: Wanted, act: (key: string) => void, question?: string): void;
  /** Notes an order that is sent. @returns a function for its response. */
  begin(wanted: Wanted): (response: ServiceResponse) => void;
}

export function useDoubt({ form, kind, wanted, restore }: DoubtOptions): Doubt {
  const { state, change } = useApp();
  const { notice, press, ask } = useQuestion();
  const accepted = useRef('');
  const find = (key: string): Order | undefined => findOrder(state, { form, key });
  const order = find(wanted.key);
  return {
    order,
    isNew: order?.typed !== wanted.typed,
    notice,
    press,
    guard({ key: given, typed }, act, question) {
      const own = find(given);
      const isCorrected = own === undefined || own.answer.next === 'correct';
      const isRepeat = !isCorrected && own.typed === typed;
      const key = isCorrected || isRepeat ? given : randomUUID();
      const last = ordersInDoubt(state).findLast((one) => !isSameOrder(one, { form, key }));
      if (kind === undefined || isRepeat || accepted.current === key) act(key);
      else if (last !== undefined) {
        const agree = (): void => {
          accepted.current = key;
          act(key);
        };
        // The key of another form's order would be a new key here.
        const decline = (): void => (last.form === form ? restore(last.key) : undefined);
        ask(askBeforeAnother(kind, last.kind), agree, decline);
      } else if (question === undefined) act(key);
      else ask(question, () => act(key));
    },
    begin({ key, typed }) {
      if (kind === undefined) return () => undefined;
      const before = find(key)?.answer ?? null;
      const note = (response: ServiceResponse | null): void =>
        change(noteOrder({ form, key, kind, typed, answer: readAnswer(response, before) }));
      note(null);
      return note;
    },
  };
}
