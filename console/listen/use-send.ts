import { refusalsOf, type Answer } from '../api.ts';
import { useDesk } from '../desk-context.ts';
import type { Field } from '../model/form.ts';
import { bodyFor } from '../model/form-values.ts';
import { bad, ofCall, ofFaults, type Notice } from '../model/notice.ts';
import { noAnswerToSend } from '../model/outcomes.ts';
import { useCall } from './use-call.ts';
import { useForm, type FormHandle } from './use-form.ts';
import { keyField, useKey, withKey } from './use-key.ts';
import { useKeys } from './use-keys.ts';
import { useLiveStatus, type Live } from './use-live-status.ts';

const fields: readonly Field[] = [
  {
    name: 'pix_key',
    label: 'PIX key',
    kind: 'text',
    hint: 'CPF, CNPJ, phone, e-mail or random key',
  },
  { name: 'amount', label: 'Amount in R$', kind: 'money', hint: 'such as 25,00 or 1.234,56' },
  { name: 'description', label: 'Description', kind: 'text' },
  keyField,
];

export interface SendView {
  readonly form: FormHandle;
  readonly answer: Answer<'sendPix'> | null;
  readonly live: Live;
  readonly notice: Notice | null;
}

/** Sends, with a key that stays until a new one is asked for, and follows what becomes of it. */
export function useSend(): SendView {
  const { api, act } = useDesk();
  const call = useCall<Answer<'sendPix'>>({ warning: noAnswerToSend });
  const form = useForm({
    name: 'send',
    fields,
    operation: 'sendPix',
    onSubmit(typed) {
      const { values, headers } = withKey(typed);
      const body = bodyFor('sendPix', values);
      call.run(async (signal) => {
        const answer = await api.call('sendPix', { headers, body }, signal);
        form.refuse(refusalsOf(answer));
        return answer;
      });
    },
  });
  const key = useKey(form);
  const live = useLiveStatus(call.result?.status === 200 ? call.result.body : null);
  useKeys((press) => {
    if (press.key === 'escape') return call.isBusy ? call.cancel() : act({ type: 'back' });
    if (call.isBusy) return undefined;
    if (press.key !== 'ctrl+n') return form.press(press);
    call.clear();
    return key.renew();
  });
  const notice =
    ofCall(call, 'Sending') ??
    ofFaults(form.faults, fields) ??
    bad(live.isLost ? 'The service does not answer; it is asked again and again.' : null);
  return { form, answer: call.result, live, notice };
}
