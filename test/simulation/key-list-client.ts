/** The app that lists the PIX keys of its account. */
import type { VerifiedToken } from '../../src/process/access-tokens.ts';
import { findPrincipal } from '../../src/auth/banking-sessions.ts';
import type { Context } from '../../src/context/context.ts';
import { AppError } from '../../src/errors.ts';
import { listPixKeys } from '../../src/pix-keys/list-pix-keys.ts';
import { readRefusal, type Phone } from './phone.ts';
import { requestFacts } from './service.ts';

/** @returns whether the app has received the list. */
export async function listKeys(phone: Phone, name: string): Promise<boolean> {
  const response = await phone.request({
    label: `list of the keys of ${name}`,
    describe: (one) => (one ? String(one.status) : 'by no process'),
    run: (context, token) =>
      run(context, token).catch((error: unknown) => ({
        status: readRefusal(error)?.status ?? 503,
      })),
  });
  if (response?.status === 401) await phone.logIn();
  return response?.status === 200;
}

async function run(context: Context, token: VerifiedToken): Promise<{ status: number }> {
  const principal = await findPrincipal(context, token);
  if (!principal) throw new AppError('UNAUTHENTICATED');
  const input = { path: {}, query: {}, headers: {}, body: undefined };
  return listPixKeys.run(context, { input, principal, request: requestFacts(context) });
}
