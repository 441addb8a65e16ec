import type { Context } from '../../context.ts';
import { numberFromCents } from '../../domain/money.ts';
import { AppError } from '../../errors.ts';
import type { CallOptions } from '../../provider/provider.ts';
import { callerSession } from '../../services/banking-session.ts';
import type { Principal, PrincipalAccount } from '../../services/principal.ts';
import { keepProviderBalance } from '../../services/provider-account.ts';
import { unlessSilent } from '../../services/provider-reading.ts';
import type { SessionOperation } from '../operation.ts';

/**
 * The caller's balance: the provider's when it answers, otherwise the last one that it told. No
 * account, or no balance ever told: there is nothing to show, and 404 is better than a made-up 0.
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
    if (account.balanceCents === null) throw new AppError('NOT_FOUND');
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
  return unlessSilent(async () =>
    context.provider.balance(callerSession(context, principal), options),
  );
}

/** Writes only what has changed: most readings repeat the one before. */
async function keepReading(
  context: Context,
  account: PrincipalAccount,
  cents: number,
): Promise<void> {
  if (account.balanceCents !== cents) await keepProviderBalance(context, account.id, cents);
}
