/**
 * How fast passwords of one e-mail are tried, so that guesses are slow and the customer gets in.
 *
 * At most five logins wait for one e-mail and address, none of them over ten seconds. A device that
 * shows its last access token does not wait. At an address that the user has logged in from,
 * no count refuses: from five wrong passwords in an hour on, one is hashed in 3 s. Elsewhere a
 * network has some attempts a minute and an hour, and the guesses of all networks together are
 * hashed one at a time, from 30 failures in an hour on one in 3 s: first those of networks that
 * have not guessed wrong that day, then at random, and of these 5,000 a day.
 */
import { dayMs } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { AppError } from '../errors.ts';
import {
  clientSite,
  countAttempt,
  countOnly,
  hasReached,
  minuteMs,
  readAttempts,
  refuseRemembered,
  refuseWhenUsedUp,
  takePlace,
  widestNetwork,
  type Throttle,
} from './throttle.ts';
import { holdPlace, type Seeker } from './stranger-places.ts';
import type { LoginUser } from './user-repository.ts';

const hourMs = 60 * minuteMs;

/** The limit of a network in an hour, as a multiple of THROTTLE_LOGIN_PER_MINUTE. */
const perHour = 10;

/** Paced logins have one hash in this time. */
const paceMs = 3_000;

/** The strangers' failures of an e-mail in an hour from which on they are paced together. */
const pacedFrom = 30;

/** The longest wait of a login. */
const maxWaitMs = 10_000;

/** The strangers' failures of an e-mail in a day after which only new networks are hashed. */
const perDay = 5_000;

/** The strangers' failures of an e-mail in a day that raise an alarm. */
const alarming = 300;

export interface LoginAttempt {
  /** Lower case. */
  readonly email: string;
  readonly clientAddress: string;
  /** Null for an unknown e-mail. */
  readonly user: LoginUser | null;
  /** Whether the device has shown its last access token, and has a place in its lane. */
  readonly isDevice: boolean;
  /** Aborts when the client disconnects; a stop waits for longer than a login does. */
  readonly signal: AbortSignal;
}

/**
 * Verifies a password when its turn has come, and counts a wrong one.
 * @throws AppError THROTTLED for a stranger over the limits of the network, and for a wait that has
 *   ended without a turn; BUSY.
 */
export async function verifyInTurn(
  context: LocalContext,
  attempt: LoginAttempt,
  password: string,
): Promise<boolean> {
  const late = new AbortController();
  const cancel = context.clock.after(maxWaitMs, () => late.abort());
  const signal = AbortSignal.any([attempt.signal, late.signal]);
  const bounded = { ...attempt, signal };
  const hash = attempt.user?.passwordHash ?? null;
  const network = widestNetwork(attempt.clientAddress);
  const options = { isKnown: hasLane(attempt), network, signal };
  const isRight = (): Promise<boolean> => context.passwords.verify(password, hash, options);
  const verify = (): Promise<boolean> => inTurn(context, bounded, isRight);
  try {
    return await (hasLane(attempt) ? verify() : inPlace(context, bounded, verify));
  } catch (error) {
    // What has waited for ten seconds is refused as one that was replaced.
    const hasGone = attempt.signal.aborted;
    if (late.signal.aborted && !hasGone && isBusy(error)) throw tooMany(maxWaitMs);
    throw error;
  } finally {
    cancel();
  }
}

/** Verifies in a place of the address, which a right password gives back. */
async function inPlace(
  context: LocalContext,
  attempt: LoginAttempt,
  verify: () => Promise<boolean>,
): Promise<boolean> {
  refuseRemembered(context, networkLimits(context, attempt));
  const giveUp = await holdPlace(context, attempt.clientAddress, placeOf(attempt));
  if (!giveUp) throw withoutTurn(attempt);
  let isRight = false;
  try {
    isRight = await verify();
    return isRight;
  } finally {
    await giveUp(isRight);
  }
}

/** Whether the login waits behind no stranger: at a known address, or of a device with a token. */
function hasLane({ user, isDevice }: LoginAttempt): boolean {
  return isDevice || (user?.knowsAddress ?? false);
}

function inTurn(
  context: LocalContext,
  attempt: LoginAttempt,
  isRight: () => Promise<boolean>,
): Promise<boolean> {
  const isUnlimited = context.config.throttle.loginPerMinute === 0;
  const hashAndCount = async (): Promise<boolean> => {
    if (await isRight()) return true;
    await countFailure(context, attempt);
    return false;
  };
  if (isUnlimited || attempt.isDevice) return hashAndCount();
  return hasLane(attempt)
    ? inTurnOfCustomer(context, attempt, hashAndCount)
    : inTurnOfStranger(context, attempt, hashAndCount);
}

/**
 * Counts a failed login. Concurrent attempts in several processes have all passed the first check,
 * so the count decides again: a stranger over the limits gets 429 and learns nothing.
 * @throws AppError THROTTLED
 */
export async function countFailure(context: LocalContext, attempt: LoginAttempt): Promise<void> {
  if (context.config.throttle.loginPerMinute === 0) return;
  if (attempt.user?.knowsAddress) {
    await countOnly(context, [knownLimit(context, attempt)]);
    return;
  }
  context.loginLines.demote(attempt.email, clientSite(attempt.clientAddress));
  const days = [emailFailures(attempt, dayMs), networkDay(attempt), emailFailures(attempt, hourMs)];
  const [attempts = 0] = await countOnly(context, days);
  if (hasReached(alarming, { attempts })) {
    context.metrics.guessedEmails.inc();
    const facts = { userId: attempt.user?.id ?? null, attempts };
    context.log.warn(facts, 'strangers guess the password of an e-mail');
  }
  const limits = networkLimits(context, attempt);
  await (attempt.isDevice ? countOnly(context, limits) : countAttempt(context, limits));
}

/**
 * Refuses a stranger from a network whose failures are used up, also during the login.
 * @throws AppError THROTTLED
 */
export async function refuseGuesser(context: LocalContext, attempt: LoginAttempt): Promise<void> {
  if (!hasLane(attempt)) await readStanding(context, attempt);
}

async function inTurnOfCustomer(
  context: LocalContext,
  attempt: LoginAttempt,
  hash: () => Promise<boolean>,
): Promise<boolean> {
  const known = knownLimit(context, attempt);
  const turn = await context.loginLines.take(`known ${known.subject}`, {
    ...placeOf(attempt),
    lane: 'customers',
    rank: 0,
    async mayBegin() {
      const [failures = 0] = await readAttempts(context, [known]);
      if (failures < known.limit) return 0;
      return takePlace(context, onePace('login-known-pace', known.subject));
    },
  });
  if (!turn) throw withoutTurn(attempt);
  try {
    return await hash();
  } finally {
    turn.end(true);
  }
}

async function inTurnOfStranger(
  context: LocalContext,
  attempt: LoginAttempt,
  hash: () => Promise<boolean>,
): Promise<boolean> {
  const { email } = attempt;
  const standing = await readStanding(context, attempt);
  const turn = await context.loginLines.take(email, {
    ...placeOf(attempt),
    lane: 'strangers',
    rank: standing.hasGuessed ? 1 : 0,
    async mayBegin(isFirst) {
      const hour = emailFailures(attempt, hourMs);
      const [failures = 0] = isFirst ? [standing.failures] : await readAttempts(context, [hour]);
      return failures < pacedFrom ? 0 : takePlace(context, onePace('login-pace', email));
    },
  });
  if (!turn) throw withoutTurn(attempt);
  let isUsed = false;
  try {
    // Others of the network may have been wrong meanwhile.
    if (turn.hasWaited) await readStanding(context, attempt);
    isUsed = true;
    return await hash();
  } finally {
    turn.end(isUsed);
  }
}

function placeOf({ email, clientAddress, signal }: LoginAttempt): Seeker {
  return { place: `${email} ${clientAddress}`, network: clientSite(clientAddress), signal };
}

interface Standing {
  /** Whether the network has sent a wrong password for the e-mail this day. */
  readonly hasGuessed: boolean;
  /** The strangers' failures of the e-mail in this hour. */
  readonly failures: number;
}

/**
 * @throws AppError THROTTLED when the failures of the network are used up, or it has guessed and
 *   those of the e-mail's day are.
 */
async function readStanding(context: LocalContext, attempt: LoginAttempt): Promise<Standing> {
  if (context.config.throttle.loginPerMinute === 0) return { hasGuessed: false, failures: 0 };
  const [hour, day] = [emailFailures(attempt, hourMs), emailFailures(attempt, dayMs)];
  const limits = [hour, day, networkDay(attempt), ...networkLimits(context, attempt)];
  const [failures = 0, ofDay = 0, ofNetwork = 0] = await refuseWhenUsedUp(context, limits);
  if (ofNetwork > 0 && ofDay >= perDay) throw tooMany(hourMs);
  return { hasGuessed: ofNetwork > 0, failures };
}

function onePace(scope: string, subject: string): Throttle {
  return { scope, subject, limit: 1, windowMs: paceMs };
}

/** Why a wait has ended: the client has gone, or it was too long a wait. */
function withoutTurn({ signal }: LoginAttempt): AppError {
  return signal.aborted
    ? new AppError('BUSY', { headers: { 'Retry-After': '1' } })
    : tooMany(maxWaitMs);
}

function isBusy(error: unknown): boolean {
  return error instanceof AppError && error.code === 'BUSY';
}

function tooMany(retryAfterMs: number): AppError {
  const seconds = String(retryAfterMs / 1_000);
  return new AppError('THROTTLED', { headers: { 'Retry-After': seconds } });
}

/** The wrong passwords of an hour after which a known address waits. */
function knownLimit({ config }: LocalContext, { email, clientAddress }: LoginAttempt): Throttle {
  const { loginPerMinute: limit } = config.throttle;
  const subject = `${email} ${clientAddress}`;
  return { scope: 'login-known', subject, limit, windowMs: hourMs };
}

function networkLimits(
  { config }: LocalContext,
  { email, clientAddress }: LoginAttempt,
): readonly Throttle[] {
  const { loginPerMinute: limit } = config.throttle;
  const subject = `${email} ${clientSite(clientAddress)}`;
  return [
    { scope: 'login-network', subject, limit, windowMs: minuteMs },
    { scope: 'login-network-hour', subject, limit: perHour * limit, windowMs: hourMs },
  ];
}

/** Counts the wrong passwords of an e-mail from all networks of strangers; it refuses no one. */
function emailFailures({ email }: LoginAttempt, windowMs: number): Throttle {
  const subject = windowMs === dayMs ? `${email} day` : email;
  return { scope: 'login-email', subject, limit: Infinity, windowMs };
}

/** Counts the wrong passwords of an e-mail from a network; it refuses no one. */
function networkDay({ email, clientAddress }: LoginAttempt): Throttle {
  const subject = `${email} ${clientSite(clientAddress)} day`;
  return { scope: 'login-network', subject, limit: Infinity, windowMs: dayMs };
}
