import { accountForPix } from '../accounts/payer-account.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { readFromProvider } from '../auth/provider-failure.ts';
import { isAmbiguousPixKey, normalisePixKey } from '../domain/pix-key.ts';
import { AppError } from '../errors.ts';
import type { SessionOperation } from '../context/operation.ts';
import { readLookUp, sealLookUp } from './confirmed-payee.ts';
import { countLookUp, countMissingKey } from './directory-budget.ts';
import { keyReply, ownerReply } from './key-reply.ts';
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
    const pixKey = normalisePixKey(input.body.pix_key);
    const { key } = pixKey;
    await countLookUp(context, userId, key);
    const call = context.provider.lookUpKey({
      session,
      payerId: document,
      key,
      ...request.callOptions,
    });
    const owner = await readFromProvider(call).catch(async (error: unknown) => {
      const isMissing = error instanceof AppError && error.code === 'PIX_KEY_NOT_FOUND';
      if (isMissing) await countMissingKey(context, userId, { key, isTaken: true });
      throw error;
    });
    const found = readLookUp(owner, document);
    const { lookupId, expiresAt } = sealLookUp(context, { userId, key }, found);
    return {
      status: 200,
      body: {
        ...keyReply(pixKey),
        ...(isAmbiguousPixKey(input.body.pix_key) && { ambiguous: true }),
        ...ownerReply(found.owner, context.config.provider.bank),
        lookup_id: lookupId,
        expires_at: expiresAt.toISOString(),
      },
    };
  },
};
