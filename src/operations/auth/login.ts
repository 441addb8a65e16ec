import type { Context } from '../../context.ts';
import { AppError, type Text } from '../../errors.ts';
import { ProviderError } from '../../provider/outcome.ts';
import type { CallOptions, ProviderLogin } from '../../provider/provider.ts';
import { keepProviderLogin } from '../../services/banking-session.ts';
import { isHeldByUser, keepProviderAccount } from '../../services/provider-account.ts';
import { answerTo } from '../../services/provider-failure.ts';
import { countAttempt, refuseWhenUsedUp, type Throttle } from '../../services/throttle.ts';
import { findLoginUser } from '../../services/users.ts';
import type { PublicOperation } from '../operation.ts';

/**
 * Logs a user in: the local password first, then the provider with the same credentials. An
 * unknown e-mail, a wrong password and the provider's refusal get the same answer in the same
 * time, so that no caller learns which e-mails are known. A password that is reset during the login
 * is a wrong one.
 */
export const login: PublicOperation<'login'> = {
  access: 'public',
  async run(context, { input, request }) {
    const email = input.body.email.trim().toLowerCase();
    const throttle = failedLogins(context, email);
    await refuseWhenUsedUp(context, throttle);

    const user = await findLoginUser(context, email);
    const known = await context.passwords.verify(input.body.password, user?.passwordHash ?? null);
    if (!user || !known) return refuse(context, throttle);

    const bank = await loginAtProvider(
      context,
      { email: user.email, password: input.body.password },
      request.callOptions,
    );
    if (!bank) return refuse(context, throttle);
    if (!(await isHeldByUser(context, user.id, bank.account))) {
      const facts = { userId: user.id };
      request.log.warn(facts, 'a login was refused: the provider names another holder');
      return refuse(context, throttle);
    }
    await refuseWhenUsedUp(context, throttle);

    const sessionId = await keepProviderLogin(context, user, bank);
    if (sessionId === null) return refuse(context, throttle);
    await keepProviderAccount(context, user.id, bank.account);
    const accessToken = await context.accessTokens.issue({ userId: user.id, sessionId });
    return { status: 200, body: { access_token: accessToken, token_type: 'Bearer' } };
  },
};

const wrongCredentials: Text = {
  en: 'The e-mail or the password is wrong.',
  pt: 'E-mail ou senha incorretos.',
};

function failedLogins(context: Context, email: string): Throttle {
  return {
    scope: 'login-email',
    subject: email,
    limitPerMinute: context.config.throttle.loginPerMinute,
  };
}

/**
 * Counts the failure before it is told. Many attempts at once have all passed the first check, so
 * the count decides again here: what comes after the limit learns nothing, not even by a 422.
 */
async function refuse(context: Context, throttle: Throttle): Promise<never> {
  await countAttempt(context, throttle);
  throw new AppError('VALIDATION_FAILED', { fields: { email: [wrongCredentials] } });
}

/** @returns the provider's login, or null when the provider refuses the credentials. */
async function loginAtProvider(
  context: Context,
  credentials: { email: string; password: string },
  options: CallOptions,
): Promise<ProviderLogin | null> {
  try {
    return await context.provider.login(credentials, options);
  } catch (error) {
    if (error instanceof ProviderError && isRefusal(error)) return null;
    throw answerTo(error);
  }
}

/** A refused login is the provider's 4xx; a 408 and a 429 are not about these credentials. */
function isRefusal({ code, outcome, statusClass }: ProviderError): boolean {
  if (code === 'TOKEN_REFUSED' || statusClass === '4xx') return true;
  return outcome === 'rejected' && code !== 'PROVIDER_RATE_LIMITED';
}
