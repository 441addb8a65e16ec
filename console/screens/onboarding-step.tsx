/** One step of an onboarding: its form, and the result of submitting it. */
import { useEffect, useState } from 'react';
import type { OnboardingApplication } from '../../contract/types.ts';
import { readFaults, type OperationResponse } from '../api.ts';
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
    name: `onboarding ${label}`,
    operation,
    inputs,
    given: { applicationId: id },
    ...(operation === 'submitDocument' && { doing: 'Uploading' }),
    onResponse(response, { values }) {
      const application = readApplication(response);
      if (!application) return;
      onChange(application);
      if (operation !== 'submitDocument' || !needsDocuments(application)) {
        close(stepText(response, step));
        return;
      }
      const kind = String(values['tipo_documento']);
      setStored(`Stored: ${documentKinds[kind]}. More documents are needed.`);
      form.fillIn(() => ({ tipo_documento: nextDocument[kind] ?? kind, arquivo: '' }), 'arquivo');
    },
  });
  const cepNotice = useCep(form);
  return (
    <FormScreen
      {...{ title: `onboarding › ${label}`, form, button, intro: words }}
      notice={form.notice ?? cepNotice ?? success(stored)}
      close={() => close()}
    />
  );
}

type Address = Partial<
  Extract<OperationResponse<'lookUpCep'>, { readonly status: 200 }>['body']['cep']
>;

const names = ['logradouro', 'bairro', 'cidade', 'estado'] as const;

/**
 * Looks up a CEP once it has eight digits. Values that a person typed stay; values that the CEP
 * before filled in are replaced. Without a field `cep` the hook does nothing.
 */
function useCep(form: Form): Notice | null {
  const { api } = useApp();
  const call = useCall<OperationResponse<'lookUpCep'>>();
  const hasCep = form.fields.some(({ name }) => name === 'cep');
  const cep = hasCep ? (form.state.values['cep'] ?? '').replaceAll(/\D/g, '') : '';
  const lookUp = async (signal: AbortSignal): Promise<OperationResponse<'lookUpCep'>> => {
    const response = await api.call('lookUpCep', { path: { cep } }, signal);
    const known = response.status === 200 ? response.body.cep : {};
    // An invalid CEP cannot be submitted, so the old address can stay.
    if (response.status !== 422) form.fillIn((state) => readAddress(state, known));
    const { '': message = '', cep: fault = message } = readFaults(response);
    if (response.status !== 200) form.refuse({ cep: fault });
    return response;
  };
  useEffect(() => {
    if (cep.length === 8) call.run(lookUp);
  }, [cep]);
  return reading(call, 'Looking up the CEP');
}

/** The values to fill in: empty ones too, so that no part of another address remains. */
function readAddress({ values, filledIn }: FormState, known: Address): FormState['values'] {
  const isFree = (name: string): boolean => !values[name] || values[name] === filledIn[name];
  return Object.fromEntries(names.filter(isFree).map((name) => [name, known[name] ?? '']));
}
