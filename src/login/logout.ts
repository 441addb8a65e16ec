import { endSession } from '../auth/banking-sessions.ts';
import type { TokenOperation } from '../context/operation.ts';

const farewell = { en: 'You are logged out.', pt: 'Você saiu da sua conta.' };

/**
 * Ends the banking session and destroys the provider's token: every access token that names it is
 * refused from then on.
 */
export const logout: TokenOperation<'logout'> = {
  access: 'token',
  // A repeat gets the same reply.
  checksSession: false,
  async run(context, { token, request }) {
    await endSession(context, token);
    return { status: 200, body: { message: farewell[request.locale] } };
  },
};
