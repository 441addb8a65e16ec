/** One step of an onboarding: its form, and the result of submitting it. */
import { useEffect, useState } from 'react';
import type { OnboardingApplication } from '../../contract/types.ts';
import { readFaults, type Answer } from '../api.ts';
import { FormScreen } from '../components/form.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useCall } from '../hooks/use-call.ts';
import { useForm, type Form } from '../hooks/use-form.ts';
import type { FormState } from '../state/form.ts';
import { reading, success, type Notice } from '../state/notice.ts';
import {
  documentKinds,
  needsDocuments,
  nextDocument,
  readApplication,
  stepText,
  type StepForm,
} from '../state/onboarding.ts';

export interface StepProps {
  readonly step: StepForm;
  /** The id of the application. */
  readonly id: string;
  onChange(application: OnboardingApplication): void;
  close(said?: string): void;
}

export function Step({ step, id, onChange, close }: StepProps) {
  const { label, button, operation, inputs = {}, words = '' } = step;
  const [stored, setStored] = useState('');
  const form = useForm({
    ...{ name: `onboarding ${label}`, operation, inputs, given: { applicationId: id } },
    ...(operation === 'submitDocument' && { doing: 'Uploading' }),
    onAnswer(answer, { values }) {
      const application = readApplication(answer);
      if (!application) return;
      onChange(application);
      if (operation !== 'submitDocument' || !needsDocuments(application)) {
        close(stepText(answer, step));
        return;
      }
      const kind = String(values['tipo_documento']);
      setStored(`Stored: ${documentKinds[kind]}. More documents are needed.`);
      form.fillIn(() => ({ tipo_documento: nextDocument[kind] ?? kind, arquivo: '' }));
    },
  });
  const cep = useCep(form);
  return (
    <FormScreen
      {...{ title: `onboarding › ${label}`, form, button, intro: words }}
      notice={form.notice ?? cep.notice ?? success(stored)}
      onKey={({ key }) => (key === 'ctrl+l' ? cep.fillAgain() : undefined)}
      close={() => close()}
    />
  );
}

const names = ['logradouro', 'bairro', 'cidade', 'estado'] as const;

type Address = Readonly<Partial<Record<(typeof names)[number], string | null | undefined>>>;

interface CepLookUp {
  readonly notice: Notice | null;
  /** Fills in once more, over what a person typed. */
  fillAgain(): void;
}

/**
 * Looks up a CEP once it has eight digits. Values that a person typed stay; values that the CEP
 * before filled in are replaced. Without a field `cep` the hook does nothing.
 */
function useCep(form: Form): CepLookUp {
  const { api } = useApp();
  const call = useCall<Answer<'lookUpCep'>>();
  const hasCep = form.fields.some(({ name }) => name === 'cep');
  const digits = hasCep ? (form.state.values['cep'] ?? '').replaceAll(/\D/g, '') : '';
  const lookUp = (overwrites: boolean): void => {
    if (digits.length !== 8) return;
    call.run(async (signal) => {
      const answer = await api.call('lookUpCep', { path: { cep: digits } }, signal);
      // An invalid CEP cannot be submitted, so the old address can stay.
      if (answer.status !== 422) {
        const known = answer.status === 200 ? answer.body.cep : {};
        form.fillIn((state) => readAddress(state, known, overwrites));
      }
      if (answer.status !== 200) {
        const { '': message = '', cep = message } = readFaults(answer);
        form.refuse({ cep });
      }
      return answer;
    });
  };
  useEffect(() => lookUp(false), [digits]);
  return { notice: reading(call, 'Looking up the CEP'), fillAgain: () => lookUp(true) };
}

/** The values to fill in: empty ones too, so that no part of another address remains. */
function readAddress(
  { values, filledIn }: FormState,
  known: Address,
  overwrites: boolean,
): Readonly<Record<string, string>> {
  const changed = names.flatMap((name) => {
    const [now = '', value] = [values[name], known[name] ?? ''];
    const isFree = now === '' || now === filledIn[name] || (overwrites && value !== '');
    return isFree ? [[name, value] as const] : [];
  });
  return Object.fromEntries(changed);
}
