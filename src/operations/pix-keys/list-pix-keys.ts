import { callerSession } from '../../services/banking-session.ts';
import { accountForPix } from '../../services/payer-account.ts';
import { answered } from '../../services/provider-failure.ts';
import type { SessionOperation } from '../operation.ts';

/** The PIX keys of the caller's account, as the provider lists them. */
export const listPixKeys: SessionOperation<'listPixKeys'> = {
  access: 'session',
  async run(context, { principal, request }) {
    const account = accountForPix(principal);
    const session = callerSession(context, principal);
    const data = await answered(context.provider.listKeys(session, account, request.callOptions));
    return { status: 200, body: { data } };
  },
};
