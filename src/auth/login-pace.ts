/**
 * How fast passwords of one e-mail are tried, so that guesses are slow and the customer gets in.
 *
 * At an address that the user has logged in from, nothing is ever refused: from a number of wrong
 * passwords in an hour on, one is hashed in 30 s. Elsewhere a network has some attempts a minute
 * and an hour, and the guesses of all networks together are hashed one at a time: first those of
 * networks that have not guessed wrong, at once; the others after ever longer waits.
 */
import { dayMs, pause } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { AppError } from '../errors.ts';
import {
  clientSite,
  countAttempt,
  countOnly,
  hasReached,
  minuteMs,
  readAttempts,
  refuseWhenUsedUp,
  takePlace,
  type Throttle,
} from './throttle.ts';
import type { LoginUser } from './user-repository.ts';

const hourMs = 60 * minuteMs;

/** The limit of a network in an hour, as a multiple of THROTTLE_LOGIN_PER_MINUTE. */
const perHour = 10;

/** A known address over its limits has one hash of the e-mail in this time. */
const knownEveryMs = 30_000;

/** The longest wait of a stranger, and the longest time between two hashes of guessing networks. */
const maxWaitMs = 10_000;

/** The failures of an e-mail in an hour that make no network wait. */
const undelayed = 10;

/** The failures of an e-mail in an hour that raise an alarm. */
const alarming = 100;

export interface LoginAttempt {
  /** Lower case. */
  readonly email: string;
  readonly clientAddress: string;
  /** Null for an unknown e-mail. */
  readonly user: LoginUser | null;
  /** Aborts when the client disconnects or the service stops. */
  readonly signal: AbortSignal;
}

/**
 * Verifies a password when its turn has come, and counts a wrong one.
 * @throws AppError THROTTLED for a stranger over the limits of the network; BUSY.
 */
export function verifyInTurn(
  context: LocalContext,
  attempt: LoginAttempt,
  password: string,
): Promise<boolean> {
  const { user } = attempt;
  const isKnown = user?.knowsAddress ?? false;
  const hashAndCount = async (): Promise<boolean> => {
    const hash = user?.passwordHash ?? null;
    const isRight = await context.passwords.verify(password, hash, { isKnown });
    if (!isRight) await countFailure(context, attempt);
    return isRight;
  };
  if (context.config.throttle.loginPerMinute === 0) return hashAndCount();
  return isKnown
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
  const [attempts = 0] = await countOnly(context, [emailFailures(attempt)]);
  if (hasReached(alarming, { attempts })) {
    context.metrics.guessedEmails.inc();
    const facts = { userId: attempt.user?.id ?? null, attempts };
    context.log.warn(facts, 'strangers guess the password of an e-mail');
  }
  await countAttempt(context, networkLimits(context, attempt));
}

/**
 * Refuses a stranger from a network whose failures are used up, also during the login.
 * @throws AppError THROTTLED
 */
export async function refuseGuesser(context: LocalContext, attempt: LoginAttempt): Promise<void> {
  if (!attempt.user?.knowsAddress) await readStanding(context, attempt);
}

async function inTurnOfCustomer(
  context: LocalContext,
  attempt: LoginAttempt,
  hash: () => Promise<boolean>,
): Promise<boolean> {
  const { email, clientAddress, signal } = attempt;
  const waiting = { isPreferred: false, maxMs: dayMs, signal };
  const endTurn = await context.loginTurns.take(`known ${email} ${clientAddress}`, waiting);
  try {
    const throttle = knownLimit(context, attempt);
    const [failures = 0] = await readAttempts(context, [throttle]);
    if (failures >= throttle.limit) {
      const pace = { scope: 'login-known-pace', everyMs: knownEveryMs, maxMs: dayMs };
      await waitForPlace(context, attempt, pace);
    }
    refuseWhenGone(attempt);
    return await hash();
  } finally {
    endTurn?.();
  }
}

async function inTurnOfStranger(
  context: LocalContext,
  attempt: LoginAttempt,
  hash: () => Promise<boolean>,
): Promise<boolean> {
  const { loginTurns, clock } = context;
  const { email, signal } = attempt;
  const endsAtMs = clock.now().getTime() + maxWaitMs;
  const leftMs = (): number => Math.max(0, endsAtMs - clock.now().getTime());
  let standing = await readStanding(context, attempt);
  for (;;) {
    const { hasGuessed, everyMs } = standing;
    const pace = { scope: 'login-pace', everyMs, maxMs: leftMs() };
    if (hasGuessed && !(await waitForPlace(context, attempt, pace))) throw tooManyGuesses();
    const isContended = loginTurns.isTaken(email);
    const waiting = { isPreferred: !hasGuessed, maxMs: leftMs(), signal };
    const endTurn = await loginTurns.take(email, waiting);
    try {
      refuseWhenGone(attempt);
      if (endTurn === null && hasGuessed) throw tooManyGuesses();
      // It has waited, and others may have been wrong meanwhile.
      if (isContended || hasGuessed) standing = await readStanding(context, attempt);
      // Another attempt of the network was wrong meanwhile: this one goes to the end of the line.
      if (!hasGuessed && standing.hasGuessed) continue;
      return await hash();
    } finally {
      endTurn?.();
    }
  }
}

interface Standing {
  /** Whether the network has sent a wrong password for the e-mail in this hour. */
  readonly hasGuessed: boolean;
  /** The time between two hashes of networks that have, in ms. */
  readonly everyMs: number;
}

/** @throws AppError THROTTLED when the failures of the network are used up. */
async function readStanding(context: LocalContext, attempt: LoginAttempt): Promise<Standing> {
  if (context.config.throttle.loginPerMinute === 0) return { hasGuessed: false, everyMs: 0 };
  const limits = [...networkLimits(context, attempt), emailFailures(attempt)];
  const [, ofNetwork = 0, ofEmail = 0] = await refuseWhenUsedUp(context, limits);
  return { hasGuessed: ofNetwork > 0, everyMs: delayMs(context, ofEmail) };
}

/**
 * Grows with the failures of the e-mail, from {@link undelayed} to a network's limit of an hour.
 */
function delayMs({ config }: LocalContext, failures: number): number {
  const steps = Math.max(1, perHour * config.throttle.loginPerMinute - undelayed);
  const share = Math.min(1, (failures - undelayed + 1) / steps);
  return Math.max(0, Math.ceil(maxWaitMs * share));
}

interface Pace {
  readonly scope: string;
  readonly everyMs: number;
  readonly maxMs: number;
}

/** @returns false when the wait has ended without a place. */
async function waitForPlace(
  context: LocalContext,
  { email, signal }: LoginAttempt,
  { scope, everyMs, maxMs }: Pace,
): Promise<boolean> {
  if (everyMs === 0) return true;
  const { clock } = context;
  const endsAtMs = clock.now().getTime() + maxMs;
  const throttle = { scope, subject: email, limit: 1, windowMs: everyMs };
  for (;;) {
    const waitMs = await takePlace(context, throttle);
    if (waitMs === 0) return true;
    if (signal.aborted || clock.now().getTime() + waitMs > endsAtMs) return false;
    await pause(clock, waitMs, signal);
  }
}

/** @throws AppError BUSY when the client has gone or the service stops. */
function refuseWhenGone({ signal }: LoginAttempt): void {
  if (signal.aborted) throw new AppError('BUSY', { headers: { 'Retry-After': '1' } });
}

function tooManyGuesses(): AppError {
  const seconds = String(maxWaitMs / 1_000);
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

/** Counts the wrong passwords of an e-mail from all networks; it refuses no one. */
function emailFailures({ email }: LoginAttempt): Throttle {
  return { scope: 'login-email', subject: email, limit: Infinity, windowMs: hourMs };
}
