/** Fills an address in with what is known of its CEP. */
import { useEffect, useRef } from 'react';
import { refusalsOf, type Answer } from '../api.ts';
import { useDesk } from '../desk-context.ts';
import { useCall, type Call } from './use-call.ts';
import type { FormHandle } from './use-form.ts';

const filled = ['logradouro', 'bairro', 'cidade', 'estado'] as const;

export interface CepLookUp extends Pick<Call<unknown>, 'isBusy' | 'failure' | 'cancel'> {
  /** Fills in once more, over what was typed. */
  fillAgain(): void;
}

/** Looks a CEP up as soon as it has eight digits; what was typed by hand stays. */
export function useCep(form: FormHandle, isAddress: boolean): CepLookUp {
  const { api } = useDesk();
  const call = useCall<Answer<'lookUpCep'>>();
  const newest = useRef(form);
  useEffect(() => {
    newest.current = form;
  });
  const digits = (form.state.values['cep'] ?? '').replaceAll(/\D/g, '');
  const lookUp = (isOver: boolean): void =>
    call.run(async (signal) => {
      const answer = await api.call('lookUpCep', { path: { cep: digits } }, signal);
      const { fillIn, refuse, state } = newest.current;
      if (answer.status === 200) {
        const known = filled.flatMap((name) => {
          const value = answer.body.cep[name];
          return value && (isOver || !state.values[name]) ? [[name, value] as const] : [];
        });
        fillIn(Object.fromEntries(known));
      } else {
        const { '': message = '', ...faults } = refusalsOf(answer);
        refuse({ cep: faults['cep'] ?? message });
      }
      return answer;
    });
  const isWhole = isAddress && digits.length === 8;
  useEffect(() => {
    if (isWhole) lookUp(false);
  }, [isWhole, digits]);
  return {
    isBusy: call.isBusy,
    failure: call.failure,
    cancel: () => call.cancel(),
    fillAgain: () => {
      if (isWhole) lookUp(true);
    },
  };
}
