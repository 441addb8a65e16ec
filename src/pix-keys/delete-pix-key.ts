import { normalisePixKey } from '../domain/pix-key.ts';
import { forgetPixKey } from '../accounts/pix-key-repository.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { accountForPix } from '../accounts/payer-account.ts';
import { changeAtProvider } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../context/operation.ts';

/** Removes a Pix key of the caller's account at the provider. */
export const deletePixKey: SessionOperation<'deletePixKey'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    const account = accountForPix(context, principal);
    const key = normalisePixKey(input.body.key).key;
    const session = callerSession(context, principal);
    const forget = async (): Promise<void> => {
      if (principal.account) await forgetPixKey(context, principal.account.id, key);
    };
    // Before the call to the provider: if its response is lost, the key may be deleted.
    await forget();
    const data = await changeAtProvider(
      context.provider.deleteKey({ session, key, account, ...request.callOptions }),
    );
    // A list that the provider made before the deletion may have been stored meanwhile.
    await forget();
    return { status: 200, body: { data } };
  },
};
