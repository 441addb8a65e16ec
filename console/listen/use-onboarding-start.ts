import { useState } from 'react';
import { refusalsOf } from '../api.ts';
import { useDesk } from '../desk-context.ts';
import type { Field, Faults } from '../model/form.ts';
import { formKeys } from '../model/foot.ts';
import { bodyFor } from '../model/form-values.ts';
import { ofCall, ofFaults, type Notice } from '../model/notice.ts';
import { useCall } from './use-call.ts';
import { useForm, type FormHandle } from './use-form.ts';
import { useKeys } from './use-keys.ts';

const registration: readonly Field[] = [
  { name: 'name', label: 'Name', kind: 'text' },
  { name: 'email', label: 'E-mail', kind: 'text' },
  { name: 'password', label: 'Password', kind: 'secret', hint: '8 to 128 characters' },
  { name: 'password_confirmation', label: 'Password again', kind: 'secret' },
  { name: 'document', label: 'CPF', kind: 'text' },
  { name: 'phone', label: 'Phone', kind: 'text', hint: 'with area code, best as +55 and digits' },
];

const resumption: readonly Field[] = [
  { name: 'applicationId', label: 'Application id', kind: 'text', hint: 'as it was shown' },
];

export interface OnboardingStartView {
  readonly isResuming: boolean;
  readonly form: FormHandle;
  readonly notice: Notice | null;
  readonly keys: readonly string[];
}

/** Registers somebody, or goes on with an application by its id. */
export function useOnboardingStart(): OnboardingStartView {
  const { api, act } = useDesk();
  const call = useCall<null>();
  const [isResuming, setResuming] = useState(false);
  const run = (work: (signal: AbortSignal) => Promise<Faults>): void =>
    call.run(async (signal) => {
      form.refuse(await work(signal));
      return null;
    });
  const begin = async (values: Values, signal: AbortSignal): Promise<Faults> => {
    const body = bodyFor('startOnboarding', values);
    const answer = await api.call('startOnboarding', { body }, signal);
    if (answer.status === 201) act({ type: 'application', id: answer.body.id });
    return refusalsOf(answer);
  };
  const goOn = async (values: Values, signal: AbortSignal): Promise<Faults> => {
    const path = { applicationId: String(values['applicationId']).trim() };
    const answer = await api.call('getOnboarding', { path }, signal);
    if (answer.status === 200) act({ type: 'application', id: answer.body.id });
    return answer.status === 404 ? unknown : refusalsOf(answer);
  };
  const form = useForm({
    name: isResuming ? 'onboarding resumption' : 'onboarding registration',
    fields: isResuming ? resumption : registration,
    operation: isResuming ? 'getOnboarding' : 'startOnboarding',
    onSubmit: (values) => run((signal) => (isResuming ? goOn : begin)(values, signal)),
  });
  useKeys((press) => {
    if (press.key === 'escape') return call.isBusy ? call.cancel() : act({ type: 'back' });
    if (call.isBusy) return undefined;
    call.clear();
    return press.key === 'ctrl+r' ? setResuming(!isResuming) : form.press(press);
  });
  const other = isResuming ? 'ctrl+r register' : 'ctrl+r go on with an application';
  return {
    ...{ isResuming, form },
    notice: ofCall(call) ?? ofFaults(form.faults, form.fields),
    keys: [...formKeys(isResuming ? 'go on' : 'begin'), other],
  };
}

type Values = Readonly<Record<string, unknown>>;

const unknown: Faults = { applicationId: 'There is no such application.' };
