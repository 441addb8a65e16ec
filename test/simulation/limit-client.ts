/** The app that changes the customer's own limits. */
import type { SetPixLimitsRequest } from '../../contract/types.ts';
import { findPrincipal } from '../../src/auth/banking-sessions.ts';
import type { Context } from '../../src/context/context.ts';
import { inTransaction } from '../../src/db/unit-of-work.ts';
import { AppError } from '../../src/errors.ts';
import { changeOwnLimits as changeLimits } from '../../src/pix/set-pix-limits.ts';
import type { VerifiedToken } from '../../src/process/access-tokens.ts';
import { readRefusal, type Phone } from './phone.ts';
import { requestFacts } from './service.ts';

export type LimitChange = Omit<SetPixLimitsRequest, 'password'>;

/** Requests a change once: whether it is made does not depend on the response. */
export async function changeOwnLimits(
  phone: Phone,
  name: string,
  body: LimitChange,
): Promise<void> {
  const response = await phone.request({
    label: `change of the limits of ${name}`,
    describe: (one) => (one ? String(one.status) : 'by no process'),
    run: (context, token) =>
      run(context, token, body).catch((error: unknown) => ({
        status: readRefusal(error)?.status ?? 503,
      })),
  });
  if (response?.status === 401) await phone.logIn();
}

async function run(
  context: Context,
  token: VerifiedToken,
  wanted: LimitChange,
): Promise<{ status: number }> {
  const principal = await findPrincipal(context, token);
  if (!principal) throw new AppError('UNAUTHENTICATED');
  const { user } = principal;
  const { clientAddress } = requestFacts(context);
  await inTransaction(context, (transaction) =>
    changeLimits(transaction, { user, clientAddress, wanted }),
  );
  return { status: 200 };
}
