import { findKeysVersion, keepPixKeys } from '../accounts/pix-key-repository.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { completeAccount } from '../accounts/payer-account.ts';
import { readFromProvider } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../context/operation.ts';

/**
 * The Pix keys of the caller's account, as the provider lists them. They are stored, to find the
 * payee of a received Pix.
 */
export const listPixKeys: SessionOperation<'listPixKeys'> = {
  access: 'session',
  async run(context, { principal, request }) {
    const account = completeAccount(context, principal);
    const session = callerSession(context, principal);
    const seen = await findKeysVersion(context);
    const data = await readFromProvider(
      context.provider.listKeys({ session, account, ...request.callOptions }),
    );
    if (principal.account) {
      const keys = context.dialects.readKeys(data);
      // A response that is not understood says nothing about the keys that are stored.
      if (keys) await keepPixKeys(context, { accountId: principal.account.id, keys, seen });
    }
    return { status: 200, body: { data } };
  },
};
