/** `limit show` and `limit set`: what a user may send by day and by night. */
import type { LocalContext } from '../context/context.ts';
import { decimalFromCents } from '../domain/money.ts';
import {
  changeLimit,
  changeNightHour,
  type NightHour,
  type Timed,
} from '../domain/spending-limits.ts';
import {
  changeLimits,
  findLimits,
  type CurrentLimits,
  type StoredLimit,
  type StoredLimits,
} from '../pix/spending-limit-repository.ts';
import { limitsAreOn } from '../pix/spending-limits.ts';
import { decisionError, type OperatorDecision } from './decision.ts';
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
  /** What the customer has set; the lower one of the two applies. Null: nothing. */
  readonly own: string | null;
  readonly nextOwn: { readonly amount: string | null; readonly at: string } | null;
  /** What applies now; null: no limit. */
  readonly applies: string | null;
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

export interface LimitsChange extends UserReference, OperatorDecision {
  /** In centavos; null: the default of the settings; absent: as it is. */
  readonly day?: number | null;
  readonly night?: number | null;
  readonly nightHour?: NightHour;
  /** Removes what the customer has set. */
  readonly resetsOwn?: boolean;
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
 * @throws OpError when limits are off and more than the own ones are reset, there is no such user,
 *   or the reason or the operator is missing.
 */
export const setLimits: Op<LimitsChange, LimitsView> = {
  async run(context, { user, reason, ...change }, { operator }) {
    const error = decisionError({ reason }, operator);
    if (error !== null) throw new OpError('REFUSED', error);
    const { resetsOwn = false, ...ofBank } = change;
    // Without the defaults, a raise could be taken for a reduction, but a reset never is.
    const isReset = resetsOwn && Object.values(ofBank).every((one) => one === undefined);
    if (!isReset && !limitsAreOn(context.config)) throw new OpError('REFUSED', limitsAreOff);
    const { id, email } = await findUser(context, user);
    const action = { operator, command: 'limit set', reason: reason.trim() };
    const limits = await recordAction(context, action, async (transaction) => {
      await changeLimits(transaction, id, (stored) => applyChange(context, stored, change));
      const changed = await findLimits(transaction, id);
      return { result: changed, targets: [`user:${id}`], outcome: describeLimits(changed) };
    });
    context.log.warn({ userId: id, operator }, "an operator changed a user's limits");
    return toView(context, { id, email }, limits);
  },
};

type RequestedLimits = Omit<LimitsChange, keyof UserReference | keyof OperatorDecision>;

function applyChange(
  { config, clock }: LocalContext,
  { day, night, nightHour }: StoredLimits,
  { day: dayCents, night: nightCents, nightHour: hour, resetsOwn = false }: RequestedLimits,
): StoredLimits {
  const now = clock.now();
  const changeOne = (
    { bank, own }: StoredLimit,
    wanted: number | null | undefined,
    byDefault: number | null,
  ): StoredLimit => ({
    bank: wanted === undefined ? bank : changeLimit(bank, wanted, { now, defaultCents: byDefault }),
    own: resetsOwn ? changeLimit(own, null, { now, defaultCents: bank.value ?? byDefault }) : own,
  });
  return {
    day: changeOne(day, dayCents, config.pixLimits.day),
    night: changeOne(night, nightCents, config.pixLimits.night),
    nightHour: hour === undefined ? nightHour : changeNightHour(nightHour, hour, now),
  };
}

const limitsAreOff =
  'limits are off: set PIX_LIMIT_DAY or PIX_LIMIT_NIGHT, with the same values as in the service';

/** The limits as stored: `day 100.00, later 200.00; night default, own 50.00; from 20`. */
function describeLimits({ day, night, nightHour }: StoredLimits): string {
  const timed = ({ value, next, nextAt }: Timed<number | null>, none: string): string => {
    const word = (cents: number | null): string =>
      cents === null ? none : decimalFromCents(cents);
    return nextAt === null ? word(value) : `${word(value)}, later ${word(next)}`;
  };
  const limit = ({ bank, own }: StoredLimit): string =>
    timed(bank, 'default') +
    (own.value === null && own.nextAt === null ? '' : `, own ${timed(own, 'none')}`);
  const later = nightHour.nextAt === null ? '' : `, later ${nightHour.next}`;
  return `day ${limit(day)}; night ${limit(night)}; from ${nightHour.value}${later}`;
}

function toView(
  { config }: LocalContext,
  user: Pick<LimitsView, 'id' | 'email'>,
  { day, night, nightHour, dayCents, nightCents }: CurrentLimits,
): LimitsView {
  const { nextAt } = nightHour;
  return {
    ...user,
    areOn: limitsAreOn(config),
    day: toLimitView(day, config.pixLimits.day, dayCents),
    night: toLimitView(night, config.pixLimits.night, nightCents),
    nightHour: nightHour.value,
    nextNightHour: nextAt === null ? null : { hour: nightHour.next, at: nextAt.toISOString() },
  };
}

function toLimitView(
  { bank, own }: StoredLimit,
  defaultCents: number | null,
  appliesCents: number | null,
): LimitView {
  const shown = (cents: number | null) => ({
    amount: toAmount(cents ?? defaultCents),
    isDefault: cents === null,
  });
  return {
    ...shown(bank.value),
    next: bank.nextAt === null ? null : { ...shown(bank.next), at: bank.nextAt.toISOString() },
    own: toAmount(own.value),
    nextOwn:
      own.nextAt === null ? null : { amount: toAmount(own.next), at: own.nextAt.toISOString() },
    applies: toAmount(appliesCents),
  };
}

function toAmount(cents: number | null): string | null {
  return cents === null ? null : decimalFromCents(cents);
}
