import type { Context } from '../context.ts';
import { numberFromCents } from '../domain/money.ts';
import { AppError } from '../errors.ts';
import type { CallOptions } from '../provider/provider.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import type { Principal, PrincipalAccount } from '../auth/principal.ts';
import { keepBalance } from './account-repository.ts';
import { readIfAvailable } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../http/operation.ts';

/** Seconds after which the app may ask again for a balance that is not known yet. */
const retryAfterSeconds = '10';

/**
 * The caller's balance: the provider's when it answers, otherwise the last one that was read.
 * Without an account the answer is 404, with an account that was never read it is 503.
 */
export const getBalance: SessionOperation<'getBalance'> = {
  access: 'session',
  async run(context, { principal, request }) {
    const { account } = principal;
    if (!account) throw new AppError('NOT_FOUND');
    const cents = await askProvider(context, principal, request.callOptions);
    if (cents !== null) {
      await keepReading(context, account, cents);
      return { status: 200, body: { balance: numberFromCents(cents), source: 'provider' } };
    }
    if (account.balanceCents === null) {
      throw new AppError('BALANCE_UNKNOWN', { headers: { 'Retry-After': retryAfterSeconds } });
    }
    return {
      status: 200,
      body: { balance: numberFromCents(account.balanceCents), source: 'local' },
    };
  },
};

/** @returns the provider's balance in centavos, or null when it does not answer. */
function askProvider(
  context: Context,
  principal: Principal,
  options: CallOptions,
): Promise<number | null> {
  return readIfAvailable(async () =>
    context.provider.balance({ session: callerSession(context, principal), ...options }),
  );
}

/** Writes only what has changed: most readings repeat the one before. */
async function keepReading(
  context: Context,
  account: PrincipalAccount,
  cents: number,
): Promise<void> {
  if (account.balanceCents !== cents) await keepBalance(context, { accountId: account.id, cents });
}
