import { pause } from '../clock.ts';
import type { Context } from '../context.ts';
import { countAttempt, minuteMs, refuseWhenUsedUp, clientSite, type Throttle } from './throttle.ts';
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
 * Logs a user in: verifies the local password, then the same credentials at the provider. An
 * unknown e-mail, a wrong password and the provider's refusal get the same response after the same
 * time, so that it does not reveal which e-mails are known. A password that is reset during the
 * login is wrong.
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
    // A customer at a known address does not wait behind the guesses of others.
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

/** The hourly limit of an e-mail, as a multiple of the limit of a network per minute. */
const emailShare = 10;

/** The longest delay of a login, when the failures of its e-mail reach their limit. */
const longestDelayMs = 10_000;

/** The part of that limit that causes no delay. */
const undelayedShare = 0.2;

interface Attempt {
  readonly email: string;
  readonly clientAddress: string;
  readonly user: LoginUser | null;
}

/**
 * The throttles of failed logins. Failures from an address that the user has logged in from count
 * separately, so that an attacker elsewhere cannot use up the customer's attempts. All others count
 * for the e-mail with its network, and for the e-mail alone.
 */
function failedLogins({ config }: Context, { email, clientAddress, user }: Attempt): Throttle[] {
  const limit = config.throttle.loginPerMinute;
  if (user?.knowsAddress) {
    const subject = `${email} ${clientAddress}`;
    return [{ scope: 'login-known', subject, limit, windowMs: minuteMs }];
  }
  const subject = `${email} ${clientSite(clientAddress)}`;
  return [
    { scope: 'login-network', subject, limit, windowMs: minuteMs },
    { scope: 'login-email', subject: email, limit: emailShare * limit, windowMs: 60 * minuteMs },
  ];
}

/** @returns the delay of an attempt after some failures of its e-mail, in milliseconds. */
function delayMs({ config }: Context, failures: number): number {
  const limit = emailShare * config.throttle.loginPerMinute;
  const delayed = failures - undelayedShare * limit;
  if (delayed < 0 || limit === 0) return 0;
  return Math.ceil((longestDelayMs * (delayed + 1)) / ((1 - undelayedShare) * limit));
}

/**
 * Counts the failure before the response. Concurrent attempts have all passed the first check, so
 * the count decides again: attempts over the limit get 429 and reveal nothing.
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
 * Opens the session, and renews an old hash of the password. A concurrent login may have renewed
 * it: the password is then verified against the new hash.
 * @returns null when the password is no longer the user's.
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
 * @param user with the hash that the password was verified against.
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
 * Whether the provider refuses the credentials. A 408, a 429, and a 4xx with an unknown outcome do
 * not concern them.
 */
function isRefusal({ code, outcome }: ProviderError): boolean {
  if (code === 'TOKEN_REFUSED') return true;
  return outcome === 'rejected' && code !== 'PROVIDER_RATE_LIMITED';
}
