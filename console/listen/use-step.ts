import { useState } from 'react';
import type { OnboardingApplication } from '../../contract/types.ts';
import { refusalsOf, type Answered } from '../api.ts';
import { useDesk } from '../desk-context.ts';
import { formKeys } from '../model/foot.ts';
import { good, ofCall, ofFaults, ofRead, type Notice } from '../model/notice.ts';
import { UnreadableFile } from '../upload.ts';
import {
  applicationOf,
  documentName,
  nextDocument,
  type StepForm,
} from '../model/onboarding-steps.ts';
import { useCall } from './use-call.ts';
import { useCep } from './use-cep.ts';
import { useForm, type FormHandle } from './use-form.ts';
import { useKeys } from './use-keys.ts';
import type { Wizard } from './use-wizard.ts';

export interface StepView {
  readonly form: FormHandle;
  /** How much of a document has left, from 0 to 1; null while none is on its way. */
  readonly share: number | null;
  readonly notice: Notice | null;
  readonly keys: readonly string[];
}

/** One step: what is typed for it, and what came of it. */
export function useStep(wizard: Wizard, step: StepForm, id: string): StepView {
  const { api } = useDesk();
  const call = useCall<null>();
  const [share, setShare] = useState(0);
  const [stored, setStored] = useState('');
  const { fields, operation } = step;
  const form = useForm({
    ...{ name: `onboarding ${step.label}`, fields, operation, given: { applicationId: id } },
    onSubmit(values) {
      setShare(0);
      call.run(async (signal) => {
        const sending = { api, id, values, signal, onProgress: setShare };
        const answer = await step.send(sending).catch(unreadable);
        form.refuse(refusalsOf(answer));
        const application = applicationOf(answer);
        if (application) taken(answer, application);
        return null;
      });
    },
  });
  const taken = (answer: Answered, application: OnboardingApplication): void => {
    wizard.take(application);
    const kind = Number(form.state.values['tipo_documento']);
    if (step.step !== 'documents' || !application.steps.some(isWanting)) {
      wizard.close(saidOf(answer, step));
      return;
    }
    setStored(`Stored: ${documentName(kind)}. More documents are needed.`);
    form.fillIn({ tipo_documento: nextDocument[`${kind}`] ?? `${kind}`, arquivo: '' });
  };
  const cep = useCep(form, step.step === 'address');
  useKeys((press) => {
    if (press.key === 'escape') return call.isBusy ? call.cancel() : wizard.close();
    if (call.isBusy) return undefined;
    setStored('');
    call.clear();
    return press.key === 'ctrl+l' ? cep.fillAgain() : form.press(press);
  });
  const isUpload = step.step === 'documents' && call.isBusy;
  return {
    ...{ form, share: isUpload ? share : null },
    notice:
      ofCall(call, isUpload ? 'Uploading' : undefined) ??
      ofRead(cep, 'Looking the CEP up') ??
      ofFaults(form.faults, fields) ??
      good(stored),
    keys: fields.length === 0 ? ['enter go on'] : formKeys(step.button.toLowerCase()),
  };
}

/** Documents that were given are not enough yet. */
function isWanting({ name, status }: { readonly name: string; readonly status: string }): boolean {
  return name === 'documents' && status === 'pending';
}

function saidOf(answer: Answered, { label }: StepForm): string {
  const { message, url_iframe: page } = answer.body as {
    readonly message?: string;
    readonly url_iframe?: string;
  };
  if (page !== undefined) return `Open this page in a browser: ${page}`;
  const { status } = applicationOf(answer) ?? {};
  if (status === 'APPROVED') return 'Approved: log in with the e-mail and the password.';
  if (status === 'REJECTED') return 'Rejected: no account is opened.';
  return message ?? `${label}: taken.`;
}

/** A file that cannot be read is refused before the service sees it, at its field. */
function unreadable(error: unknown): Answered {
  if (!(error instanceof UnreadableFile)) throw error;
  const body = { message: 'Nothing was sent.', errors: { arquivo: [error.message] } };
  return { status: 422, headers: new Headers(), body };
}
