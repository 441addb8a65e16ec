import { offers } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import { numberFromCents } from '../domain/money.ts';
import { AppError } from '../errors.ts';
import type { AccountBalance, CallOptions } from '../provider/provider.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import type { Principal, PrincipalAccount } from '../domain/principal.ts';
import { saveBalance } from './account-repository.ts';
import { readIfAvailable } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../context/operation.ts';

/** After this time, in seconds, the app may repeat the request for an unknown balance. */
const retryAfterSeconds = '10';

/**
 * Returns the provider's balance or, when the provider fails, the last one that was read. The
 * reply is 404 without an account, and 503 for a balance that was never read.
 */
export const getBalance: SessionOperation<'getBalance'> = {
  access: 'session',
  async run(context, { principal, request }) {
    const { account } = principal;
    if (!account) throw new AppError('NOT_FOUND');
    const read = await askProvider(context, principal, request.callOptions);
    if (read !== null) {
      await saveBalanceIfChanged(context, account, read.cents);
      const balance = numberFromCents(read.cents);
      return { status: 200, body: { balance, ...blockedPart(context, read), source: 'provider' } };
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

/** The blocked part, if the provider reports it. */
function blockedPart({ config }: Context, { blockedCents }: AccountBalance) {
  return blockedCents !== null && offers(config, 'blocked-balance')
    ? { blocked: numberFromCents(blockedCents) }
    : {};
}

/** @returns null when the provider fails. */
function askProvider(
  context: Context,
  principal: Principal,
  options: CallOptions,
): Promise<AccountBalance | null> {
  return readIfAvailable(async () =>
    context.provider.balance({ session: callerSession(context, principal), ...options }),
  );
}

/** Writes only a changed balance: most readings are repeats. */
async function saveBalanceIfChanged(
  context: Context,
  account: PrincipalAccount,
  cents: number,
): Promise<void> {
  if (account.balanceCents !== cents) await saveBalance(context, { accountId: account.id, cents });
}
