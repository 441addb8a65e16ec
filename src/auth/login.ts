import { pause } from '../clock.ts';
import type { Context } from '../context.ts';
import { countAttempt, minuteMs, refuseWhenUsedUp, siteOf, type Throttle } from './throttle.ts';
import { AppError, type Text } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions, ProviderLogin } from '../provider/provider.ts';
import { keepProviderLogin } from './banking-sessions.ts';
import { isHeldByUser, keepProviderAccount } from '../onboarding/account.ts';
import { toAppError } from './provider-failure.ts';
import { noteSecurityEvent } from './security-event-repository.ts';
import { findLoginUser, replacePasswordHash, type LoginUser } from './user-repository.ts';
import type { PublicOperation } from '../http/operation.ts';

/**
 * Logs a user in: the local password first, then the provider with the same credentials. An
 * unknown e-mail, a wrong password and the provider's refusal get the same answer in the same
 * time, so that no caller learns which e-mails are known. A password that is reset during the login
 * is a wrong one.
 */
export const login: PublicOperation<'login'> = {
  access: 'public',
  async run(context, { input, request }) {
    const { password } = input.body;
    const { clientAddress } = request;
    const email = input.body.email.trim().toLowerCase();
    const user = await findLoginUser(context, email, clientAddress);
    const throttles = failedLogins(context, { email, clientAddress, user });
    const [, failuresOfEmail = 0] = await refuseWhenUsedUp(context, throttles);
    const waitMs = delayMs(context, failuresOfEmail);
    if (waitMs > 0) await pause(context.clock, waitMs, request.signal);

    const refuse = (): Promise<never> =>
      refuseLogin(context, throttles, { email, clientAddress, user });
    // A customer at a known address does not wait for the guesses of strangers.
    const isKnown = user?.knowsAddress ?? false;
    const known = await context.passwords.verify(password, user?.passwordHash ?? null, { isKnown });
    if (!user || !known) return refuse();

    const credentials = { email: user.email, password };
    const bank = await loginAtProvider(context, credentials, request.callOptions);
    if (!bank) return refuse();
    if (!isHeldByUser(context, user, bank.account)) {
      const facts = { userId: user.id };
      request.log.warn(facts, 'a login was refused: the provider names another holder');
      return refuse();
    }
    await refuseWhenUsedUp(context, throttles);

    const sessionId = await openSession(context, { user, password, clientAddress }, bank);
    if (sessionId === null) return refuse();
    await keepProviderAccount(context, user.id, bank.account);
    const event = { kind: 'login', userId: user.id, email, clientAddress } as const;
    await noteSecurityEvent(context, event);
    const accessToken = await context.accessTokens.issue({ userId: user.id, sessionId });
    return { status: 200, body: { access_token: accessToken, token_type: 'Bearer' } };
  },
};

const wrongCredentials: Text = {
  en: 'The e-mail or the password is wrong.',
  pt: 'E-mail ou senha incorretos.',
};

/** The limit of an e-mail alone, in an hour, for each failure that a network has in a minute. */
const emailShare = 10;

/** As the failures of an e-mail come near their limit, a login waits up to so long. */
const longestDelayMs = 10_000;

/** The part of that limit that causes no delay. */
const undelayedShare = 0.2;

interface Attempt {
  readonly email: string;
  readonly clientAddress: string;
  readonly user: LoginUser | null;
}

/**
 * What failures count against. Those from an address that the user has logged in from count apart:
 * an attacker elsewhere cannot use up the attempts of a customer at home. All others count for the
 * e-mail with its network, and for the e-mail alone.
 */
function failedLogins({ config }: Context, { email, clientAddress, user }: Attempt): Throttle[] {
  const limit = config.throttle.loginPerMinute;
  if (user?.knowsAddress) {
    const subject = `${email} ${clientAddress}`;
    return [{ scope: 'login-known', subject, limit, windowMs: minuteMs }];
  }
  const subject = `${email} ${siteOf(clientAddress)}`;
  return [
    { scope: 'login-network', subject, limit, windowMs: minuteMs },
    { scope: 'login-email', subject: email, limit: emailShare * limit, windowMs: 60 * minuteMs },
  ];
}

/** @returns how long an attempt waits after some failures of its e-mail. */
function delayMs({ config }: Context, failures: number): number {
  const limit = emailShare * config.throttle.loginPerMinute;
  const delayed = failures - undelayedShare * limit;
  if (delayed < 0 || limit === 0) return 0;
  return Math.ceil((longestDelayMs * (delayed + 1)) / ((1 - undelayedShare) * limit));
}

/**
 * Counts the failure before it is told. Many attempts at once have all passed the first check, so
 * the count decides again here: what comes after the limit learns nothing, not even by a 422.
 */
async function refuseLogin(
  context: Context,
  throttles: readonly Throttle[],
  { email, clientAddress, user }: Attempt,
): Promise<never> {
  await countAttempt(context, throttles);
  const userId = user?.id ?? null;
  await noteSecurityEvent(context, { kind: 'login_refused', userId, email, clientAddress });
  throw new AppError('VALIDATION_FAILED', { fields: { email: [wrongCredentials] } });
}

/**
 * Opens the session, and hashes the password again if its hash is an old one. Another login of the
 * user may do so meanwhile: the password is then checked against the new hash.
 * @returns null when the password is not the user's any more.
 */
async function openSession(
  context: Context,
  attempt: { readonly user: LoginUser; readonly password: string; readonly clientAddress: string },
  bank: ProviderLogin,
): Promise<string | null> {
  const { user, password, clientAddress } = attempt;
  const sessionId = await keepProviderLogin(context, { ...user, clientAddress }, bank);
  if (sessionId !== null) {
    await renewOldHash(context, user, password);
    return sessionId;
  }
  const current = await findLoginUser(context, user.email);
  if (current?.id !== user.id || current.passwordHash === user.passwordHash) return null;
  if (!(await context.passwords.verify(password, current.passwordHash))) return null;
  return keepProviderLogin(context, { ...current, clientAddress }, bank);
}

/**
 * Hashes the password again when its hash has other parameters than new hashes. If the queue is
 * full, the next login does it.
 * @param user with the hash that was checked against the password.
 */
async function renewOldHash(
  context: Context,
  { id, passwordHash }: LoginUser,
  password: string,
): Promise<void> {
  if (!context.passwords.isOld(passwordHash)) return;
  try {
    const renewed = await context.passwords.hash(password);
    await replacePasswordHash(context, { userId: id, from: passwordHash, to: renewed });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'BUSY') throw error;
  }
}

/** @returns the provider's login, or null when the provider refuses the credentials. */
async function loginAtProvider(
  context: Context,
  credentials: { email: string; password: string },
  options: CallOptions,
): Promise<ProviderLogin | null> {
  try {
    return await context.provider.login({ ...credentials, ...options });
  } catch (error) {
    if (error instanceof ProviderError && isRefusal(error)) return null;
    throw toAppError(error);
  }
}

/**
 * A refused login is a definite 4xx of the provider. A 408, a 429, and a 4xx that does not say that
 * the request was looked at, are not about these credentials.
 */
function isRefusal({ code, outcome }: ProviderError): boolean {
  if (code === 'TOKEN_REFUSED') return true;
  return outcome === 'rejected' && code !== 'PROVIDER_RATE_LIMITED';
}
