import { normalisePixKey } from '../../domain/pix-key.ts';
import { callerSession } from '../../services/banking-session.ts';
import { accountForPix } from '../../services/payer-account.ts';
import { answeredChange } from '../../services/provider-failure.ts';
import type { SessionOperation } from '../operation.ts';

/** Removes a PIX key of the caller's account at the provider. */
export const deletePixKey: SessionOperation<'deletePixKey'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    const account = accountForPix(principal);
    const key = normalisePixKey(input.body.key).key;
    const session = callerSession(context, principal);
    const data = await answeredChange(
      context.provider.deleteKey(session, { key, account }, request.callOptions),
    );
    return { status: 200, body: { data } };
  },
};
