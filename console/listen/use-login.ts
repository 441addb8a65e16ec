import { refusalsOf } from '../api.ts';
import { useDesk, type Desk } from '../desk-context.ts';
import type { Field } from '../model/form.ts';
import { bodyFor } from '../model/form-values.ts';
import { bad, ofCall, ofFaults, type Notice } from '../model/notice.ts';
import { useCall } from './use-call.ts';
import { useForm, type FormHandle } from './use-form.ts';
import { useKeys } from './use-keys.ts';

/** Logs in, reads who that is, and leads back to where a session ended. */
export function useLogin(): { readonly form: FormHandle; readonly notice: Notice | null } {
  const desk = useDesk();
  const { state, act } = desk;
  const call = useCall<null>();
  const form = useForm({
    name: 'login',
    fields: fieldsOf(desk.login),
    operation: 'login',
    onSubmit: (values) =>
      call.run(async (signal) => {
        form.refuse(await logIn(desk, values, signal));
        return null;
      }),
  });
  useKeys((press) => {
    if (press.key === 'escape') return call.isBusy ? call.cancel() : act({ type: 'back' });
    return call.isBusy ? undefined : form.press(press);
  });
  const notice = ofCall(call) ?? ofFaults(form.faults, form.fields) ?? bad(state.remark);
  return { form, notice };
}

function fieldsOf({ email, password }: Desk['login']): Field[] {
  return [
    { name: 'email', label: 'E-mail', kind: 'text', initial: email },
    { name: 'password', label: 'Password', kind: 'secret', initial: password },
  ];
}

/** @returns what the service refuses. */
async function logIn(
  { api, act }: Desk,
  values: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) {
  const answer = await api.call('login', { body: bodyFor('login', values) }, signal);
  if (answer.status !== 200) return refusalsOf(answer);
  api.token = answer.body.access_token;
  const me = await api.call('getMe', {}, signal).catch((error: unknown) => {
    api.token = null;
    throw error;
  });
  if (me.status === 200) act({ type: 'entered', holder: me.body });
  else api.token = null;
  return refusalsOf(me);
}
