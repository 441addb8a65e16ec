import { FormView } from '../components/form-view.tsx';
import { Frame } from '../components/frame.tsx';
import { formKeys } from '../model/foot.ts';
import { useLogin } from '../listen/use-login.ts';

export function Login() {
  const { form, notice } = useLogin();
  return (
    <Frame title="log in" keys={formKeys('log in')} notice={notice}>
      {(room) => <FormView {...{ form, room }} button="Log in" />}
    </Frame>
  );
}
