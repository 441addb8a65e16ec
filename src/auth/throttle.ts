/**
 * Limits the attempts of a subject within a window, counted in the database so that all instances
 * share the count. A window begins with its first attempt. Subjects are stored as keyed digests,
 * because e-mails, phones and addresses can be guessed; another ENCRYPTION_KEY begins new windows.
 * A process caches the windows that are used up, so that refusing costs no statement.
 */
import type { LocalContext } from '../context/context.ts';
import { AppError } from '../errors.ts';
import { countAttempts, openWindows, type Window } from './throttle-repository.ts';

export const minuteMs = 60_000;

export interface Throttle {
  /** The limited action, such as `login-email`. */
  readonly scope: string;
  /** The limited subject, such as an e-mail or a client's address. */
  readonly subject: string;
  /** Attempts in a window; 0: no limit, and not counted; Infinity: counted only. */
  readonly limit: number;
  readonly windowMs: number;
  /** How much one attempt adds to the count; 1 by default. */
  readonly weight?: number;
}

type Limits = ReadonlyMap<string, Throttle>;

/**
 * Counts one attempt against each limit.
 * @returns the attempts in the current window of each limit, in the order of the limits.
 * @throws AppError THROTTLED when a limit is exceeded, with `Retry-After` in seconds.
 */
export async function countAttempt(
  context: LocalContext,
  throttles: readonly Throttle[],
): Promise<number[]> {
  const limits = toLimits(context, throttles);
  if (limits.size === 0) return throttles.map(() => 0);
  refuseWhenRemembered(context, limits);
  const now = context.clock.now();
  const counted = [...limits].map(([key, { windowMs, weight = 1 }]) => {
    return { key, weight, windowMs };
  });
  const windows = await countAttempts(context, counted);
  // The last accepted attempt uses the window up. A transaction may roll back: cache nothing then.
  if (!context.db.isTransaction) remember(context, findUsedUp(windows, limits));
  const exceeded = windows.filter(({ key, attempts }) => attempts > getLimit(limits, key));
  refuse(exceeded, now);
  return listAttempts(context, throttles, windows);
}

/**
 * Refuses when this process remembers that one of the limits is used up, without a statement.
 * @throws AppError THROTTLED
 */
export function refuseRemembered(context: LocalContext, throttles: readonly Throttle[]): void {
  refuseWhenRemembered(context, toLimits(context, throttles));
}

/**
 * Refuses when one of the limits is used up; counts nothing.
 * @returns the attempts in the current window of each limit, in the order of the limits.
 * @throws AppError THROTTLED
 */
export async function refuseWhenUsedUp(
  context: LocalContext,
  throttles: readonly Throttle[],
): Promise<number[]> {
  const limits = toLimits(context, throttles);
  if (limits.size === 0) return throttles.map(() => 0);
  refuseWhenRemembered(context, limits);
  const now = context.clock.now();
  const windows = await openWindows(context, [...limits.keys()]);
  const usedUp = findUsedUp(windows, limits);
  remember(context, usedUp);
  refuse(usedUp, now);
  return listAttempts(context, throttles, windows);
}

/**
 * Reads the attempts of each limit; refuses nothing.
 * @returns the attempts in the current window of each limit, in the order of the limits.
 */
export async function readAttempts(
  context: LocalContext,
  throttles: readonly Throttle[],
): Promise<number[]> {
  return listAttempts(
    context,
    throttles,
    await openWindows(
      context,
      throttles.map((one) => throttleKey(context, one)),
    ),
  );
}

/** @returns the time until the current window of a limit ends, in ms; 0 when none is open. */
export async function msUntilEnd(context: LocalContext, throttle: Throttle): Promise<number> {
  const [window] = await openWindows(context, [throttleKey(context, throttle)]);
  return window ? window.endsAtMs - context.clock.now().getTime() : 0;
}

/**
 * Counts an attempt; refuses nothing.
 * @returns the attempts in the current window of each limit, in the order of the limits.
 */
export async function countOnly(
  context: LocalContext,
  throttles: readonly Throttle[],
): Promise<number[]> {
  return listAttempts(context, throttles, await addAttempts(context, throttles, 1));
}

/** Takes an attempt back that was counted. */
export async function giveBack(
  context: LocalContext,
  throttles: readonly Throttle[],
): Promise<void> {
  await addAttempts(
    context,
    throttles.filter(({ limit }) => limit > 0),
    -1,
  );
}

function addAttempts(
  context: LocalContext,
  throttles: readonly Throttle[],
  sign: 1 | -1,
): Promise<Window[]> {
  const counted = throttles.map((throttle) => {
    const { weight = 1, windowMs } = throttle;
    return { key: throttleKey(context, throttle), weight: sign * weight, windowMs };
  });
  return countAttempts(context, counted);
}

/**
 * Takes one of the places that a window has.
 * @returns 0 for a place; otherwise the time until the window ends, in ms.
 */
export async function takePlace(context: LocalContext, throttle: Throttle): Promise<number> {
  const key = throttleKey(context, throttle);
  const nowMs = context.clock.now().getTime();
  const fullUntilMs = context.usedUp.findEnd(key, nowMs);
  if (fullUntilMs !== null) return fullUntilMs - nowMs;
  const { limit, windowMs } = throttle;
  const [window] = await countAttempts(context, [{ key, weight: 1, windowMs }]);
  if (!window) return 0;
  if (window.attempts >= limit) remember(context, [window]);
  return window.attempts > limit ? Math.max(1, window.endsAtMs - nowMs) : 0;
}

function listAttempts(
  context: LocalContext,
  throttles: readonly Throttle[],
  windows: readonly Window[],
): number[] {
  const attempts = new Map(windows.map((window) => [window.key, window.attempts]));
  return throttles.map((throttle) => attempts.get(throttleKey(context, throttle)) ?? 0);
}

/** Whether the last attempt has brought a count to a mark, which happens once in a window. */
export function hasReached(
  mark: number,
  { attempts, weight = 1 }: { readonly attempts: number; readonly weight?: number },
): boolean {
  return attempts >= mark && attempts - weight < mark;
}

/**
 * The limits of an address: its own, and larger ones of the networks that contain it.
 * @param largest of these limits, by default 16 times that of an address.
 */
export function addressThrottles(
  throttle: Omit<Throttle, 'subject'>,
  address: string,
  largest = Infinity,
): Throttle[] {
  const { scope, limit, windowMs, weight = 1 } = throttle;
  return findNetworks(address).map(({ name, share }) => {
    return { scope, subject: name, limit: Math.min(largest, limit * share), windowMs, weight };
  });
}

/** The limit of unknown ids per address: ids cannot be guessed. */
const missesPerMinute = 60;

/**
 * Counts an id that names no application.
 * @throws AppError THROTTLED after too many from the address.
 */
export async function countMiss(context: LocalContext, clientAddress: string): Promise<void> {
  const isLifted = context.config.throttle.addressPerMinute === 0;
  const limit = isLifted ? 0 : missesPerMinute;
  const misses = { scope: 'onboarding-404', limit, windowMs: minuteMs };
  const throttles = addressThrottles(misses, clientAddress);
  await refuseWhenUsedUp(context, throttles);
  await countAttempt(context, throttles);
}

/**
 * Counts an attempt from an address, and from the networks that contain it.
 * @throws AppError THROTTLED
 */
export async function countAddress(
  context: LocalContext,
  scope: string,
  address: string,
): Promise<void> {
  const limit = context.config.throttle.addressPerMinute;
  await countAttempt(context, addressThrottles({ scope, limit, windowMs: minuteMs }, address));
}

/** A request that costs more than reading rows. */
interface CostlyRequest {
  readonly scope: string;
  /** How many an address has a minute, unless its share of all requests is more. */
  readonly perMinute: number;
  readonly share: number;
}

/** The limits of a costly request from an address, and from the networks that contain it. */
export function costlyThrottles(
  { config }: LocalContext,
  { scope, perMinute, share }: CostlyRequest,
  address: string,
): readonly Throttle[] {
  const { addressPerMinute } = config.throttle;
  const limit = Math.max(Math.min(perMinute, addressPerMinute), addressPerMinute * share);
  return addressThrottles({ scope, limit, windowMs: minuteMs }, address);
}

/** A login by a stranger costs a hash: an address has this many a minute, or a twentieth of all. */
const strangerLogins: CostlyRequest = { scope: 'login', perMinute: 30, share: 1 / 20 };

/** The limits of logins by strangers from an address, and from the networks that contain it. */
export function strangerLimits(context: LocalContext, address: string): readonly Throttle[] {
  return costlyThrottles(context, strangerLogins, address);
}

/**
 * Counts a login of a user who has not logged in from the address, or one that names no user.
 * @throws AppError THROTTLED
 */
export async function countStrangerLogin(context: LocalContext, address: string): Promise<void> {
  await countAttempt(context, strangerLimits(context, address));
}

function getLimit(limits: Limits, key: string): number {
  return limits.get(key)?.limit ?? Infinity;
}

function findUsedUp(windows: readonly Window[], limits: Limits): Window[] {
  return windows.filter(({ key, attempts }) => attempts >= getLimit(limits, key));
}

/** Omits limits of 0. */
function toLimits(context: LocalContext, throttles: readonly Throttle[]): Limits {
  const set = throttles.filter(({ limit }) => limit > 0);
  return new Map(set.map((throttle) => [throttleKey(context, throttle), throttle]));
}

function throttleKey({ sealer }: LocalContext, { scope, subject }: Throttle): string {
  return `${scope}:${sealer.identify(subject).toString('base64url')}`;
}

function remember({ usedUp }: LocalContext, windows: readonly Window[]): void {
  for (const window of windows) usedUp.add(window.key, window.endsAtMs);
}

/** @throws AppError THROTTLED */
function refuseWhenRemembered({ usedUp, clock }: LocalContext, limits: Limits): void {
  const now = clock.now();
  const ends = [...limits.keys()].flatMap((key) => usedUp.findEnd(key, now.getTime()) ?? []);
  if (ends.length > 0) throw throttled(ends, now);
}

/** @throws AppError THROTTLED when there are windows that are used up. */
function refuse(windows: readonly Window[], now: Date): void {
  const ends = windows.map(({ endsAtMs }) => endsAtMs);
  if (ends.length > 0) throw throttled(ends, now);
}

/** `Retry-After` is the time until the last of the windows ends. */
function throttled(endsMs: readonly number[], now: Date): AppError {
  const seconds = Math.max(1, Math.ceil((Math.max(...endsMs) - now.getTime()) / 1_000));
  return new AppError('THROTTLED', { headers: { 'Retry-After': String(seconds) } });
}

interface Network {
  readonly name: string;
  /** The network's limit as a multiple of an address's limit: it may serve several customers. */
  readonly share: number;
}

/**
 * The /64, the /56, the /48, the /40 and the /32 of an IPv6 address; an IPv4 address alone.
 * @param address IPv4, or the /64 of an IPv6 address, as `clientAddress` returns it.
 */
export function findNetworks(address: string): readonly Network[] {
  const own = { name: address, share: 1 };
  const groups = ipv6Groups(address);
  if (!groups) return [own];
  const wider = [
    { name: slash56(groups), share: 4 },
    { name: `${groups.slice(0, 3).join(':')}::/48`, share: 16 },
    { name: slash40(groups), share: 64 },
    { name: `${groups.slice(0, 2).join(':')}::/32`, share: 256 },
  ];
  return [own, ...wider];
}

/** The network of one household or office: an IPv4 /24, an IPv6 /56. */
export function clientSite(address: string): string {
  const groups = ipv6Groups(address);
  return groups ? slash56(groups) : `${address.split('.').slice(0, 3).join('.')}.0/24`;
}

/** What one attacker may have: an IPv4 /24, an IPv6 /32. */
export function widestNetwork(address: string): string {
  const [, ...wider] = findNetworks(address);
  return wider.at(-1)?.name ?? clientSite(address);
}

/** The first four groups of a /64; null for anything else. */
function ipv6Groups(address: string): readonly string[] | null {
  return address.endsWith('::/64') ? address.slice(0, -'::/64'.length).split(':') : null;
}

function slash40([a = '0', b = '0', c = '0']: readonly string[]): string {
  return `${a}:${b}:${(Number.parseInt(c, 16) & 0xff00).toString(16)}::/40`;
}

function slash56([a = '0', b = '0', c = '0', d = '0']: readonly string[]): string {
  return `${a}:${b}:${c}:${(Number.parseInt(d, 16) & 0xff00).toString(16)}::/56`;
}
