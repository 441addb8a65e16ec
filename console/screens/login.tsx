/** The login, which leads back to where a session ended. */
import { readFaults } from '../api.ts';
import { FormScreen } from '../components/form.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useForm } from '../hooks/use-form.ts';
import { logIn } from '../state/app-state.ts';
import { failure } from '../state/notice.ts';

export function Login() {
  const { api, login, state, change } = useApp();
  const form = useForm({
    name: 'login',
    operation: 'login',
    inputs: {
      email: { label: 'E-mail', initial: login.email },
      password: { initial: login.password },
    },
    async onResponse(response, { signal }) {
      if (response.status !== 200) return;
      api.token = response.body.access_token;
      const me = await api.call('getMe', {}, signal).catch((error: unknown) => {
        api.token = null;
        throw error;
      });
      if (me.status === 200) {
        change(logIn(me.body));
      } else {
        api.token = null;
        form.refuse(readFaults(me));
      }
    },
  });
  const notice = form.notice ?? failure(state.remark);
  return <FormScreen {...{ title: 'log in', form, button: 'Log in', notice }} />;
}
