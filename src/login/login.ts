import type { Context } from '../context/context.ts';
import { inTransaction } from '../db/unit-of-work.ts';
import { AppError, type Text } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions, ProviderLogin } from '../provider/provider.ts';
import { saveSession } from '../auth/banking-sessions.ts';
import { isHeldByUser, keepProviderAccount } from '../onboarding/account.ts';
import {
  countFailure,
  refuseGuesser,
  verifyInTurn,
  type LoginAttempt,
} from '../auth/login-pace.ts';
import { enterDeviceLane } from '../auth/device-lane.ts';
import { toAppError } from '../auth/provider-failure.ts';
import { countRefusedLogin } from '../auth/security-event-repository.ts';
import { countStrangerLogin } from '../auth/throttle.ts';
import { findLoginUser, replacePasswordHash, type LoginUser } from '../auth/user-repository.ts';
import type { PublicOperation } from '../context/operation.ts';
import { reconcileAtLogin } from './reconcile-at-login.ts';

/**
 * Logs a user in: verifies the local password, then the same credentials at the provider. An
 * unknown e-mail, a wrong password and the provider's refusal get the same reply after the same
 * time, so that it does not reveal which e-mails are known. A password that is reset during the
 * login is wrong.
 */
export const login: PublicOperation<'login'> = {
  access: 'public',
  countRefused: countStrangerLogin,
  async run(context, { input, request }) {
    const { password } = input.body;
    const { clientAddress, signal } = request;
    const email = input.body.email.toLowerCase();
    const user = await findLoginUser(context, email, clientAddress);
    const isDevice = await enterDeviceLane(context, user, request.bearer);
    const attempt = { email, clientAddress, user, isDevice, signal };
    const isRight = await verifyInTurn(context, attempt, password);
    if (!user || !isRight) return refuseLogin(context, attempt);

    const credentials = { email: user.email, password };
    const bank = await loginAtProvider(context, credentials, request.callOptions);
    if (!bank) return refuseAfterHash(context, attempt);
    if (!isHeldByUser(context, user, bank.account)) {
      const facts = { userId: user.id };
      request.log.warn(facts, 'a login was refused: the provider names another holder');
      return refuseAfterHash(context, attempt);
    }
    await refuseGuesser(context, attempt);

    const sessionId = await openSession(context, { user, password, clientAddress }, bank);
    if (sessionId === null) return refuseAfterHash(context, attempt);
    await reconcileAtLogin(context, { userId: user.id, sessionId }, request.callOptions);
    const accessToken = await context.accessTokens.issue({ userId: user.id, sessionId });
    const expiresIn = context.config.jwt.ttlSeconds;
    return {
      status: 200,
      body: { access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn },
    };
  },
};

const wrongCredentials: Text = {
  en: 'The e-mail or the password is wrong.',
  pt: 'E-mail ou senha incorretos.',
};

/** Refuses a login whose password was right here: the failure is not counted yet. */
async function refuseAfterHash(context: Context, attempt: LoginAttempt): Promise<never> {
  await countFailure(context, attempt);
  return refuseLogin(context, attempt);
}

async function refuseLogin(
  context: Context,
  { email, clientAddress, user }: LoginAttempt,
): Promise<never> {
  const userId = user?.id ?? null;
  await countRefusedLogin(context, { userId, email, clientAddress });
  throw new AppError('VALIDATION_FAILED', { fields: { email: [wrongCredentials] } });
}

/**
 * Opens the session with the account that the provider names, and renews an old hash of the
 * password. A concurrent login may have renewed it: the password is then verified against the new
 * hash.
 * @returns null when the password is no longer the user's.
 */
async function openSession(
  context: Context,
  attempt: { readonly user: LoginUser; readonly password: string; readonly clientAddress: string },
  bank: ProviderLogin,
): Promise<string | null> {
  const { user, password, clientAddress } = attempt;
  const sessionId = await storeLogin(context, { ...user, clientAddress }, bank);
  if (sessionId !== null) {
    await renewOldHash(context, user, password);
    return sessionId;
  }
  const current = await findLoginUser(context, user.email);
  if (current?.id !== user.id || current.passwordHash === user.passwordHash) return null;
  if (!(await context.passwords.verify(password, current.passwordHash))) return null;
  return storeLogin(context, { ...current, clientAddress }, bank);
}

/** In one commit: a token reads the statement of the account that is stored. */
function storeLogin(
  context: Context,
  user: LoginUser & { readonly clientAddress: string },
  bank: ProviderLogin,
): Promise<string | null> {
  return inTransaction(context, async (transaction) => {
    const sessionId = await saveSession(transaction, user, bank);
    if (sessionId !== null) await keepProviderAccount(transaction, user.id, bank.account);
    return sessionId;
  });
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

/** Whether the provider refuses the credentials: by any 4xx but 408 and 429. */
function isRefusal({ code, outcome, statusClass }: ProviderError): boolean {
  if (code === 'TOKEN_REFUSED' || statusClass === '4xx') return true;
  return outcome === 'rejected' && code !== 'PROVIDER_RATE_LIMITED';
}
