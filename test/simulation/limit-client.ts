/** The app that changes the customer's own limits, in some seeds with limits. */
import type { SetPixLimitsRequest } from '../../contract/types.ts';
import { findPrincipal } from '../../src/auth/banking-sessions.ts';
import type { Context } from '../../src/context/context.ts';
import { AppError } from '../../src/errors.ts';
import { setPixLimits } from '../../src/pix/set-pix-limits.ts';
import type { VerifiedToken } from '../../src/process/access-tokens.ts';
import { Chance } from './chance.ts';
import { readRefusal, type Phone } from './phone.ts';
import { requestFacts } from './service.ts';

/** One seed in twenty; each has limits of the bank. */
const share = { of: 20, rest: 15 } as const;

const amounts = [null, 0, 5, 25.5, 100] as const;

/**
 * Draws the changes of a customer, from a separate random sequence.
 * @param place the number of the customer.
 */
export function drawLimitChanges(seed: number, place: number): readonly SetPixLimitsRequest[] {
  if (seed % share.of !== share.rest) return [];
  const chance = new Chance(seed + place + 2);
  return Array.from({ length: chance.between(0, 2) }, () => {
    const amount = chance.pick(amounts);
    return chance.happens(0.5) ? { day: amount, night: amount } : { night: amount };
  });
}

/** Requests a change once: whether it is made does not depend on the answer. */
export async function changeOwnLimits(
  phone: Phone,
  name: string,
  body: SetPixLimitsRequest,
): Promise<void> {
  const answer = await phone.request({
    label: `change of the limits of ${name}`,
    describe: (one) => (one ? String(one.status) : 'by no process'),
    run: (context, token) =>
      run(context, token, body).catch((error: unknown) => ({
        status: readRefusal(error)?.status ?? 503,
      })),
  });
  if (answer?.status === 401) await phone.logIn();
}

async function run(
  context: Context,
  token: VerifiedToken,
  body: SetPixLimitsRequest,
): Promise<{ status: number }> {
  const principal = await findPrincipal(context, token);
  if (!principal) throw new AppError('UNAUTHENTICATED');
  const input = { path: {}, query: {}, headers: {}, body };
  return setPixLimits.run(context, { input, principal, request: requestFacts(context) });
}
