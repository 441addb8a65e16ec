import { accountForPix } from '../accounts/payer-account.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { readFromProvider } from '../auth/provider-failure.ts';
import { bankOf } from '../domain/bank.ts';
import { isAmbiguousPixKey, toKeyType, normalisePixKey } from '../domain/pix-key.ts';
import { AppError } from '../errors.ts';
import type { SessionOperation } from '../context/operation.ts';
import { readLookUp, sealLookUp } from './confirmed-payee.ts';
import { countLookUp, countMissingKey } from './directory-budget.ts';
import { pausedRefusal } from './block-refusals.ts';
import { findPause } from '../ledger/pause-repository.ts';

/** Finds the owner of a Pix key, so that the payer can confirm the payee before the payment. */
export const lookUpPixKey: SessionOperation<'lookUpPixKey'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    if (await findPause(context)) throw pausedRefusal();
    const { document } = accountForPix(context, principal);
    const session = callerSession(context, principal);
    const userId = principal.user.id;
    const { kind, key } = normalisePixKey(input.body.pix_key);
    await countLookUp(context, userId, key);
    const call = context.provider.lookUpKey({
      session,
      payerId: document,
      key,
      ...request.callOptions,
    });
    const owner = await readFromProvider(call).catch(async (error: unknown) => {
      const isMissing = error instanceof AppError && error.code === 'PIX_KEY_NOT_FOUND';
      if (isMissing) await countMissingKey(context, userId, key);
      throw error;
    });
    const found = readLookUp(owner, document);
    const { lookupId, expiresAt } = sealLookUp(context, { userId, key }, found);
    const keyType = toKeyType(kind);
    const { ispb, ...named } = found.owner;
    const own = context.config.provider.bank;
    return {
      status: 200,
      body: {
        pix_key: key,
        ...(keyType !== null && { key_type: keyType, pix_key_type: keyType }),
        ...(isAmbiguousPixKey(input.body.pix_key) && { ambiguous: true }),
        ...named,
        ...(ispb !== undefined && { bank: bankOf(ispb, own), institution: ispb }),
        lookup_id: lookupId,
        expires_at: expiresAt.toISOString(),
      },
    };
  },
};
