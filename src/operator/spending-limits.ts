/** `limit show` and `limit set`: what a user may send by day and by night. */
import type { LocalContext } from '../context/context.ts';
import { decimalFromCents } from '../domain/money.ts';
import {
  changeLimit,
  changeNightHour,
  timedValue,
  type NightHour,
  type Timed,
} from '../domain/spending-limits.ts';
import { changeLimits, findLimits, type StoredLimits } from '../pix/spending-limit-repository.ts';
import { limitsAreOn } from '../pix/spending-limits.ts';
import { decisionError, type Decision } from './decision.ts';
import { type Op, OpError } from './op.ts';
import { recordAction } from './operator-action-repository.ts';
import { findUser } from './users.ts';

/** A limit; the amounts are decimals of reais, such as `5000.00`, and null means no limit. */
export interface LimitView {
  readonly amount: string | null;
  /** Whether the amount is the default of the settings. */
  readonly isDefault: boolean;
  /** What replaces it later; null: nothing. */
  readonly next: {
    readonly amount: string | null;
    readonly isDefault: boolean;
    /** ISO 8601. */
    readonly at: string;
  } | null;
}

/** The limits of a user. */
export interface LimitsView {
  readonly id: number;
  readonly email: string;
  /** Whether the service has limits: `PIX_LIMIT_DAY` or `PIX_LIMIT_NIGHT` is set. */
  readonly areOn: boolean;
  readonly day: LimitView;
  readonly night: LimitView;
  /** The hour at which the night begins. */
  readonly nightHour: NightHour;
  readonly nextNightHour: { readonly hour: NightHour; readonly at: string } | null;
}

interface UserReference {
  /** An id or an e-mail. */
  readonly user: string;
}

export interface LimitsChange extends UserReference, Decision {
  /** In centavos; null: the default of the settings; absent: as it is. */
  readonly day?: number | null;
  readonly night?: number | null;
  readonly nightHour?: NightHour;
}

/** Shows the limits of a user. */
export const showLimits: Op<UserReference, LimitsView> = {
  async run(context, { user }) {
    const { id, email } = await findUser(context, user);
    return toView(context, { id, email }, await findLimits(context, id));
  },
};

/**
 * Sets limits of a user: less applies at once, more after 24 hours.
 * @throws OpError when limits are off, there is no such user, or the reason or the operator is
 *   missing.
 */
export const setLimits: Op<LimitsChange, LimitsView> = {
  async run(context, { user, reason, day, night, nightHour }, { operator }) {
    const error = decisionError({ reason }, operator);
    if (error !== null) throw new OpError('REFUSED', error);
    const { pixLimits } = context.config;
    // Without the defaults, a raise could be taken for a reduction.
    if (!limitsAreOn(context.config)) throw new OpError('REFUSED', limitsAreOff);
    const { id, email } = await findUser(context, user);
    const now = context.clock.now();
    const action = { operator, command: 'limit set', reason: reason.trim() };
    const limits = await recordAction(context, action, async (transaction) => {
      const changed = await changeLimits(transaction, id, (stored) => ({
        day:
          day === undefined
            ? stored.day
            : changeLimit(stored.day, day, { now, defaultCents: pixLimits.day }),
        night:
          night === undefined
            ? stored.night
            : changeLimit(stored.night, night, { now, defaultCents: pixLimits.night }),
        nightHour:
          nightHour === undefined
            ? stored.nightHour
            : changeNightHour(stored.nightHour, nightHour, now),
      }));
      return { result: changed, targets: [`user:${id}`], outcome: describeLimits(changed) };
    });
    context.log.warn({ userId: id, operator }, "an operator changed a user's limits");
    return toView(context, { id, email }, limits);
  },
};

const limitsAreOff =
  'limits are off: set PIX_LIMIT_DAY or PIX_LIMIT_NIGHT, with the same values as in the service';

/** The limits as stored: `day 100.00, later 200.00; night default; from 20`. */
function describeLimits({ day, night, nightHour }: StoredLimits): string {
  const word = (cents: number | null): string =>
    cents === null ? 'default' : decimalFromCents(cents);
  const limit = ({ value, next, nextAt }: Timed<number | null>): string =>
    nextAt === null ? word(value) : `${word(value)}, later ${word(next)}`;
  const later = nightHour.nextAt === null ? '' : `, later ${nightHour.next}`;
  return `day ${limit(day)}; night ${limit(night)}; from ${nightHour.value}${later}`;
}

function toView(
  { clock, config }: LocalContext,
  user: Pick<LimitsView, 'id' | 'email'>,
  { day, night, nightHour }: StoredLimits,
): LimitsView {
  const now = clock.now();
  const { pixLimits } = config;
  const { nextAt } = nightHour;
  return {
    ...user,
    areOn: limitsAreOn(config),
    day: toLimitView(day, pixLimits.day, now),
    night: toLimitView(night, pixLimits.night, now),
    nightHour: timedValue(nightHour, now),
    nextNightHour:
      nextAt === null || nextAt <= now ? null : { hour: nightHour.next, at: nextAt.toISOString() },
  };
}

function toLimitView(
  limit: Timed<number | null>,
  defaultCents: number | null,
  now: Date,
): LimitView {
  const shown = (own: number | null) => {
    const cents = own ?? defaultCents;
    return { amount: cents === null ? null : decimalFromCents(cents), isDefault: own === null };
  };
  const { next, nextAt } = limit;
  const waits = nextAt !== null && nextAt > now;
  return {
    ...shown(timedValue(limit, now)),
    next: waits ? { ...shown(next), at: nextAt.toISOString() } : null,
  };
}
