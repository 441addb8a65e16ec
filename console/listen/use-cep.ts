/** Fills an address in with what is known of its CEP. */
import { useEffect, useRef } from 'react';
import { refusalsOf, type Answer } from '../api.ts';
import { useDesk } from '../desk-context.ts';
import type { FormState } from '../model/form.ts';
import { useCall, type Call } from './use-call.ts';
import type { FormHandle } from './use-form.ts';

const names = ['logradouro', 'bairro', 'cidade', 'estado'] as const;

type Address = Readonly<Partial<Record<(typeof names)[number], string | null | undefined>>>;

export interface CepLookUp extends Pick<Call<unknown>, 'isBusy' | 'failure'> {
  /** Fills in once more, over what was typed. */
  fillAgain(): void;
}

/**
 * Looks a CEP up as soon as it has eight digits. What was typed by hand stays; what the CEP before
 * has filled in does not.
 */
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
      // A CEP that is refused is not sent either, and so nothing goes astray with it.
      if (answer.status !== 422) {
        fillIn(changesOf(state, answer.status === 200 ? answer.body.cep : {}, isOver));
      }
      if (answer.status !== 200) {
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
    fillAgain: () => {
      if (isWhole) lookUp(true);
    },
  };
}

/** What is to be filled in: nothing is left over of another CEP, also where this one tells less. */
function changesOf(
  { values, filledIn }: FormState,
  known: Address,
  isOver: boolean,
): Readonly<Record<string, string>> {
  const changed = names.flatMap((name) => {
    const [now = '', value] = [values[name], known[name] ?? ''];
    const isFree = now === '' || now === filledIn[name] || (isOver && value !== '');
    return isFree ? [[name, value] as const] : [];
  });
  return Object.fromEntries(changed);
}
