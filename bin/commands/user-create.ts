/** `ponte user create`: a user by the rules of a registration. */
import { passwordFault, readPerson } from '../../src/domain/person.ts';
import type { Desk, PasswordSource } from '../desk.ts';
import { UsageError } from '../exit-codes.ts';

interface Options extends PasswordSource {
  readonly name: string;
  readonly email: string;
  readonly document: string;
  readonly phone: string;
  readonly json?: boolean;
}

/** Makes a user; every option that breaks a rule is named before anything is asked or done. */
export async function userCreate(desk: Desk, options: Options): Promise<void> {
  const { name, email, document, phone, json = false } = options;
  refuseFaults({ name, email, document, phone });
  const password = await desk.newPassword(
    { prompt: `Password of ${email}:`, fault: passwordFault },
    options,
  );
  const user = await desk.run('user create', { name, email, document, phone, password });
  if (json) desk.terminal.json(user);
  else desk.terminal.print(`User ${user.id} (${user.email}) was made.`);
  desk.terminal.remark('A login needs the same e-mail and password at the provider.');
}

type Fields = Pick<Options, 'name' | 'email' | 'document' | 'phone'>;

function refuseFaults(fields: Fields): void {
  const anyPassword = 'long enough';
  const { faults } = readPerson({
    ...fields,
    password: anyPassword,
    password_confirmation: anyPassword,
  });
  if (!faults) return;
  const lines = Object.entries(faults).flatMap(([field, texts]) =>
    texts.map(({ en }) => `--${field}: ${en}`),
  );
  throw new UsageError(...lines);
}
