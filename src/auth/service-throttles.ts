/**
 * Limits of the whole service within a period, for all callers: many addresses together
 * must not spend its money or fill its database. Half of a limit raises an alarm.
 */
import type { LocalContext } from '../context/context.ts';
import { countAttempt, hasReached, refuseWhenUsedUp, type Throttle } from './throttle.ts';

/** @public The labels of the metric. */
export type ServiceLimitName = 'codes' | 'uploads';

export interface ServiceLimit extends Omit<Throttle, 'scope' | 'subject'> {
  readonly name: ServiceLimitName;
}

/** An attempt, by the throttles of its sender and by the limit of the service. */
export interface LimitedAttempt {
  readonly throttles: readonly Throttle[];
  readonly service: ServiceLimit;
}

/**
 * Refuses when one of the limits is used up; counts nothing.
 * @throws AppError THROTTLED
 */
export async function refuseOverLimits(
  context: LocalContext,
  { throttles, service }: LimitedAttempt,
): Promise<void> {
  await refuseWhenUsedUp(context, [serviceThrottle(service), ...throttles]);
}

/**
 * Counts an attempt.
 * @throws AppError THROTTLED
 */
export async function countWithinLimits(
  context: LocalContext,
  { throttles, service }: LimitedAttempt,
): Promise<void> {
  const { name, limit, weight = 1 } = service;
  const all = [serviceThrottle(service), ...throttles];
  const [attempts = 0] = await countAttempt(context, all);
  for (const [share, mark] of [['half', limit / 2] as const, ['whole', limit] as const]) {
    if (limit === 0 || !hasReached(mark, { attempts, weight })) continue;
    context.metrics.serviceLimits.inc({ limit: name, share });
    context.log.warn({ limit: name, share, attempts }, 'a limit of the whole service is used');
  }
}

function serviceThrottle({ name, ...limit }: ServiceLimit): Throttle {
  return { scope: `service-${name}`, subject: '', ...limit };
}
