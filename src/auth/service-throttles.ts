/**
 * Limits of the whole service within an hour, for all callers: many addresses together must not
 * spend its money or fill its database. Half of a limit raises an alarm, and from then on those who
 * have asked for most are refused first: what an address may have asked for falls from an eighth of
 * the limit to little, until four fifths of it are used. The rest is kept for those that have asked
 * for little.
 */
import type { LocalContext } from '../context/context.ts';
import { AppError } from '../errors.ts';
import {
  clientSite,
  countAttempt,
  countOnly,
  findNetworks,
  giveBack,
  hasReached,
  msUntilEnd,
  refuseWhenUsedUp,
  type Throttle,
} from './throttle.ts';

/** @public The labels of the metric. */
export type ServiceLimitName = 'codes' | 'uploads';

export interface ServiceLimit extends Omit<Throttle, 'scope' | 'subject'> {
  readonly name: ServiceLimitName;
  /** What an address has asked for at most to have a part of the kept share. */
  readonly little: number;
}

/** An attempt, by the throttles of its sender and by the limit of the service. */
export interface LimitedAttempt {
  readonly throttles: readonly Throttle[];
  readonly service: ServiceLimit;
  /** Null: senders have no limits of their own, because the throttles of addresses are off. */
  readonly clientAddress: string | null;
}

/** From this share of a limit on, an address that has asked for more than little is refused. */
const keptFrom = 0.8;

/** What an address may have asked for when half of a limit is used, as a share of the limit. */
const heavy = 1 / 8;

/** The most that a network may have asked for then, however many addresses it has. */
const heaviest = 1 / 4;

/** An IPv4 /24 is a network, too: an attacker who has one address often has its neighbours. */
const siteShare = 4;

/**
 * Refuses when one of the limits is used up, or the sender is one of the heaviest; counts nothing.
 * @throws AppError THROTTLED
 */
export async function refuseOverLimits(
  context: LocalContext,
  attempt: LimitedAttempt,
): Promise<void> {
  const { whole, senders, all } = toThrottles(attempt);
  const [used = 0, ...counts] = await refuseWhenUsedUp(context, all);
  if (isTooHeavy(whole, { used, senders, counts })) throw await tooHeavy(context, whole);
}

/**
 * Counts an attempt. One that is refused as one of the heaviest leaves the limit as it was.
 * @throws AppError THROTTLED
 */
export async function countWithinLimits(
  context: LocalContext,
  attempt: LimitedAttempt,
): Promise<void> {
  const { whole, senders, all } = toThrottles(attempt);
  const { weight = 1 } = whole;
  const [attempts = 0, ...counts] = await countAttempt(context, all);
  const before = counts.map((count) => count - weight);
  if (isTooHeavy(whole, { used: attempts - weight, senders, counts: before })) {
    await giveBack(context, all);
    throw await tooHeavy(context, whole);
  }
  raiseAlarm(context, attempt, attempts);
}

/** Counts what is spent already, such as the bytes of a failed upload; refuses nothing. */
export async function countSpent(context: LocalContext, attempt: LimitedAttempt): Promise<void> {
  const [attempts = 0] = await countOnly(context, toThrottles(attempt).all);
  raiseAlarm(context, attempt, attempts);
}

/** Raises an alarm when an attempt has used half of a limit, or the whole. */
function raiseAlarm(context: LocalContext, { service }: LimitedAttempt, attempts: number): void {
  const { name, limit, weight = 1 } = service;
  for (const [share, mark] of [['half', limit / 2] as const, ['whole', limit] as const]) {
    if (limit === 0 || !hasReached(mark, { attempts, weight })) continue;
    context.metrics.serviceLimits.inc({ limit: name, share });
    context.log.warn({ limit: name, share, attempts }, 'a limit of the whole service is used');
  }
}

/** What a sender has asked for in the hour, as an address and as the networks that contain it. */
interface Sender {
  readonly throttle: Throttle;
  /** The network's share of the limit as a multiple of an address's. */
  readonly share: number;
}

interface Whole extends Throttle {
  readonly little: number;
}

function toThrottles({ service, clientAddress, throttles }: LimitedAttempt) {
  const { name, little, ...throttle } = service;
  const whole: Whole = { scope: `service-${name}`, subject: '', ...throttle, little };
  const senders = clientAddress === null ? [] : toSenders(whole, clientAddress);
  return { whole, senders, all: [whole, ...senders.map((one) => one.throttle), ...throttles] };
}

/** Counted, and judged by {@link isTooHeavy}: no count alone refuses. */
function toSenders({ scope, windowMs, weight = 1 }: Whole, address: string): Sender[] {
  const networks = findNetworks(address);
  const site = { name: clientSite(address), share: siteShare };
  return (networks.length > 1 ? networks : [...networks, site]).map(({ name, share }) => {
    const throttle = { scope: `${scope}-from`, subject: name, limit: Infinity, windowMs, weight };
    return { throttle, share };
  });
}

interface Use {
  /** What is used of the limit. */
  readonly used: number;
  readonly senders: readonly Sender[];
  /** What each of the senders has asked for, in their order. */
  readonly counts: readonly number[];
}

function isTooHeavy({ limit, little }: Whole, { used, senders, counts }: Use): boolean {
  if (limit === 0 || used < limit / 2) return false;
  const left = Math.max(0, (keptFrom - used / limit) / (keptFrom - 1 / 2));
  const most = Math.max(little, limit * heavy * left);
  const widest = Math.max(little * siteShare, limit * heaviest * Math.max(left, 1 - keptFrom));
  return senders.some(({ share }, nth) => (counts[nth] ?? 0) >= Math.min(most * share, widest));
}

async function tooHeavy(context: LocalContext, whole: Whole): Promise<AppError> {
  const seconds = Math.max(1, Math.ceil((await msUntilEnd(context, whole)) / 1_000));
  return new AppError('THROTTLED', { headers: { 'Retry-After': String(seconds) } });
}
