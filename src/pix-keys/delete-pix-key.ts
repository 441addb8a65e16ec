import { normalisePixKey } from '../domain/pix-key.ts';
import { forgetPixKey, restorePixKey } from '../accounts/pix-key-repository.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { accountForPix } from '../accounts/payer-account.ts';
import { changeAtProvider } from '../auth/provider-failure.ts';
import type { Context } from '../context/context.ts';
import type { SessionOperation } from '../context/operation.ts';
import { ProviderError } from '../provider/errors.ts';

/** Removes a Pix key of the caller's account at the provider. */
export const deletePixKey: SessionOperation<'deletePixKey'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    const account = accountForPix(context, principal);
    const key = normalisePixKey(input.body.key).key;
    const session = callerSession(context, principal);
    const remove = () =>
      context.provider.deleteKey({ session, key, account, ...request.callOptions });
    const stored = principal.account && { accountId: principal.account.id, key };
    const data = await changeAtProvider(stored ? removeStored(context, stored, remove) : remove());
    return { status: 200, body: { data } };
  },
};

/** Forgets the key here, and removes it at the provider. */
async function removeStored<T>(
  context: Context,
  stored: Parameters<typeof forgetPixKey>[1],
  remove: () => Promise<T>,
): Promise<T> {
  // Before the call to the provider: if its response is lost, the key may be deleted.
  const version = await forgetPixKey(context, stored);
  try {
    const data = await remove();
    // A list that the provider made before the deletion may have been stored meanwhile.
    await forgetPixKey(context, stored);
    return data;
  } catch (error) {
    if (version !== null && isRefusal(error)) await restorePixKey(context, { ...stored, version });
    throw error;
  }
}

/** Whether the provider still has the key. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  return error.outcome !== 'unknown' && error.code !== 'PIX_KEY_NOT_FOUND';
}
