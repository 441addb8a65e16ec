/** `limit show`, `set` and `restore`: what a user may send by day and by night. */
import type { LocalContext } from '../context/context.ts';
import {
  findEarlier,
  readEarlier,
  type LimitSetter,
  type OwnLimits,
} from '../domain/earlier-limits.ts';
import { decimalFromCents } from '../domain/money.ts';
import { apartClasses, type ApartClass, type PayeeClass } from '../domain/payee-limits.ts';
import {
  changeClassLimit,
  changeLimit,
  changeNightHour,
  type ClassLimit,
  type NightHour,
  type PeriodName,
  type Timed,
} from '../domain/spending-limits.ts';
import { announceLimits } from '../pix/limit-event-repository.ts';
import {
  changeLimits,
  findEarlierLimits,
  findLimits,
  type CurrentLimits,
  type LockedLimits,
  type StoredLimit,
  type StoredLimits,
} from '../ledger/spending-limit-repository.ts';
import { allowanceOf, limitsAreOn, maximumOf } from '../pix/spending-limits.ts';
import { requireDecision, type OperatorDecision } from './decision.ts';
import { type Op, OpError } from './op.ts';
import { recordAction, recordReading, type OperatorAction } from './operator-action-repository.ts';
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

/** The limits of the sends to a class of payees; null: they are part of the user's limits. */
export interface PayeeLimitsView {
  readonly day: LimitView | null;
  readonly night: LimitView | null;
}

/** The limits of a user. */
export interface LimitsView {
  readonly id: number;
  readonly email: string;
  /** Whether the service has limits: `PIX_LIMIT_DAY`, `PIX_LIMIT_NIGHT` or one by payee is set. */
  readonly areOn: boolean;
  readonly day: LimitView;
  readonly night: LimitView;
  /** What differs for payees with a CNPJ, and for the user's own document. */
  readonly companies: PayeeLimitsView;
  readonly ownDocument: PayeeLimitsView;
  /** The hour at which the night begins. */
  readonly nightHour: NightHour;
  readonly nextNightHour: { readonly hour: NightHour; readonly at: string } | null;
  /** What the customer had set before, oldest first; absent: nothing is kept. */
  readonly earlier?: readonly EarlierLimitsView[];
}

/** Own limits that a change has replaced. */
export interface EarlierLimitsView {
  /** Since when they stood, ISO 8601; null: since before the first change. */
  readonly from: string | null;
  readonly until: string;
  /** Who has replaced them. */
  readonly by: LimitSetter;
  /** In words: `day 500.00; night none; from 20`. */
  readonly own: string;
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
  async run(context, { user }, { operator, reason }) {
    const { id, email } = await findUser(context, user);
    await recordReading(context, { operator, reason, command: 'limit show' }, [`user:${id}`]);
    return readView(context, { id, email });
  },
};

/**
 * Sets limits of a user: less applies at once, more after 24 hours.
 * @throws OpError when limits are off and more than the own ones are reset, there is no such user,
 *   or the reason or the operator is missing.
 */
export const setLimits: Op<LimitsChange, LimitsView> = {
  async run(context, { user, reason, ...change }, { operator }) {
    requireDecision({ reason }, operator);
    const { resetsOwn = false, ...ofBank } = change;
    // Without the defaults, a raise could be taken for a reduction, but a reset never is.
    const isReset = resetsOwn && Object.values(ofBank).every((one) => one === undefined);
    if (!isReset && !limitsAreOn(context.config)) throw new OpError('REFUSED', limitsAreOff);
    const { id, email } = await findUser(context, user);
    const action = { operator, command: 'limit set', reason: reason.trim() };
    const isChanged = await recordChange(context, action, {
      id,
      isOwn: resetsOwn,
      change: (stored) => applyChange(context, stored, change),
    });
    if (isChanged) {
      context.log.warn({ userId: id, operator }, "an operator changed a user's limits");
    }
    return readView(context, { id, email });
  },
};

export interface LimitsRestore extends UserReference, OperatorDecision {
  /** A time at which the limits stood, ISO 8601; absent: before the customer's last change. */
  readonly at?: string;
}

/**
 * Restores own limits that stood before, at once: who has a customer's token and password may set
 * limits with which the customer cannot pay.
 * @throws OpError when none are kept, there is no such user, or the reason or the operator is
 *   missing.
 */
export const restoreLimits: Op<LimitsRestore, LimitsView> = {
  async run(context, { user, reason, at }, { operator }) {
    requireDecision({ reason }, operator);
    const { id, email } = await findUser(context, user);
    const action = { operator, command: 'limit restore', reason: reason.trim() };
    const isChanged = await recordChange(context, action, {
      id,
      isOwn: true,
      change: (stored) =>
        restoreOwn(stored, at === undefined ? null : new Date(at), context.clock.now()),
    });
    if (isChanged) {
      context.log.warn({ userId: id, operator }, "an operator restored a user's own limits");
    }
    return readView(context, { id, email });
  },
};

interface UserChange {
  readonly id: number;
  /** Whether the customer's own limits may change. */
  readonly isOwn: boolean;
  readonly change: (limits: LockedLimits) => StoredLimits;
}

/**
 * Records a change of a user's limits, with an event to the app's backend where the customer's own
 * change. A change that changes nothing is not recorded.
 * @returns whether anything was changed.
 */
function recordChange(
  context: LocalContext,
  action: OperatorAction,
  { id, isOwn, change }: UserChange,
): Promise<boolean> {
  return recordAction(context, action, async (transaction) => {
    const isChanged = await changeLimits(transaction, { userId: id, by: 'operator' }, change);
    if (isChanged && isOwn) await announceLimits(transaction, id);
    const outcome = describeLimits(await findLimits(transaction, id));
    return { result: isChanged, targets: isChanged ? [`user:${id}`] : [], outcome };
  });
}

/** @throws OpError when no such limits are kept. */
function restoreOwn(
  { earlier, ...stored }: LockedLimits,
  at: Date | null,
  now: Date,
): StoredLimits {
  const found = findEarlier(earlier, at);
  if (found === null) {
    const when = at === null ? 'before a change by the customer' : 'at that time';
    throw new OpError('REFUSED', `no own limits are kept that stood ${when}: see ponte limit show`);
  }
  const { day, night, byPayee, nightHour } = readEarlier(found, now);
  return {
    day: { ...stored.day, own: day },
    night: { ...stored.night, own: night },
    byPayee,
    nightHour,
  };
}

type RequestedLimits = Omit<LimitsChange, keyof UserReference | keyof OperatorDecision>;

function applyChange(
  { config, clock }: LocalContext,
  stored: StoredLimits,
  { day: dayCents, night: nightCents, nightHour: hour, resetsOwn = false }: RequestedLimits,
): StoredLimits {
  const now = clock.now();
  const { day, night, byPayee, nightHour } = stored;
  const changeOne = (
    { bank, own }: StoredLimit,
    wanted: number | null | undefined,
    byDefault: number | null,
  ): StoredLimit => ({
    bank: wanted === undefined ? bank : changeLimit(bank, wanted, { now, defaultCents: byDefault }),
    own: resetsOwn ? changeLimit(own, null, { now, defaultCents: bank.value ?? byDefault }) : own,
  });
  const resetClass = (payee: ApartClass, period: PeriodName): ClassLimit => {
    const maximumCents = maximumOf(stored, config, { payee, period });
    const { value: sharedCents } = stored[period].own;
    const facts = { now, sharedCents, maximumCents };
    return changeClassLimit(byPayee[payee][period], null, facts);
  };
  const reset = (payee: ApartClass) => ({
    day: resetClass(payee, 'day'),
    night: resetClass(payee, 'night'),
  });
  return {
    day: changeOne(day, dayCents, config.pixLimits.day),
    night: changeOne(night, nightCents, config.pixLimits.night),
    byPayee: resetsOwn ? { company: reset('company'), own: reset('own') } : byPayee,
    nightHour: hour === undefined ? nightHour : changeNightHour(nightHour, hour, now),
  };
}

const limitsAreOff =
  'limits are off: set PIX_LIMIT_DAY or PIX_LIMIT_NIGHT, with the same values as in the service';

/** The limits as stored: `day 100.00, later 200.00; night default, own 50.00; from 20`. */
function describeLimits({ day, night, byPayee, nightHour }: StoredLimits): string {
  const limit = ({ bank, own }: StoredLimit): string =>
    describeTimed(bank, 'default') + (isSet(own) ? `, own ${describeTimed(own, 'none')}` : '');
  const rest = describeRest({ byPayee, nightHour });
  return [`day ${limit(day)}`, `night ${limit(night)}`, ...rest].join('; ');
}

/** Own limits: `day 500.00; night none; from 20`. */
function describeOwn({ day, night, ...rest }: OwnLimits): string {
  const limits = [`day ${describeTimed(day, 'none')}`, `night ${describeTimed(night, 'none')}`];
  return [...limits, ...describeRest(rest)].join('; ');
}

function describeRest({ byPayee, nightHour }: Pick<OwnLimits, 'byPayee' | 'nightHour'>): string[] {
  const ofPayees = apartClasses.flatMap((payee) =>
    (['day', 'night'] as const).flatMap((period) => {
      const own = byPayee[payee][period];
      return isSet(own) ? [`${period} to ${words[payee]}, own ${describeTimed(own, 'none')}`] : [];
    }),
  );
  const later = nightHour.nextAt === null ? '' : `, later ${nightHour.next}`;
  return [...ofPayees, `from ${nightHour.value}${later}`];
}

function describeTimed({ value, next, nextAt }: Timed<number | null>, none: string): string {
  const word = (cents: number | null): string => (cents === null ? none : decimalFromCents(cents));
  return nextAt === null ? word(value) : `${word(value)}, later ${word(next)}`;
}

function isSet({ value, nextAt }: Timed<number | null>): boolean {
  return value !== null || nextAt !== null;
}

const words: Readonly<Record<ApartClass, string>> = {
  company: 'companies',
  own: 'the own document',
};

async function readView(
  context: LocalContext,
  user: Pick<LimitsView, 'id' | 'email'>,
): Promise<LimitsView> {
  const limits = await findLimits(context, user.id);
  const earlier = await findEarlierLimits(context, user.id);
  if (earlier.length === 0) return toView(context, user, limits);
  const now = context.clock.now();
  const views = earlier.map((one) => {
    const { from, until, by } = one;
    return { from, until, by, own: describeOwn(readEarlier(one, now)) };
  });
  return { ...toView(context, user, limits), earlier: views };
}

function toView(
  { config }: LocalContext,
  user: Pick<LimitsView, 'id' | 'email'>,
  limits: CurrentLimits,
): LimitsView {
  const { nextAt, next, value } = limits.nightHour;
  const view = (payee: PayeeClass, period: PeriodName): LimitView =>
    toLimitView(limits, config, { payee, period });
  const isApart = (payee: ApartClass, period: PeriodName): boolean => {
    const own = limits.byPayee[payee][period];
    const isSetting = limits[period].bank.value === null || limits[period].bank.nextAt !== null;
    const setting = config.pixLimitsByPayee[payee][period];
    return (isSetting && setting !== null) || own.value !== null || own.nextAt !== null;
  };
  const ofPayee = (payee: ApartClass): PayeeLimitsView => ({
    day: isApart(payee, 'day') ? view(payee, 'day') : null,
    night: isApart(payee, 'night') ? view(payee, 'night') : null,
  });
  return {
    ...user,
    areOn: limitsAreOn(config),
    day: view('person', 'day'),
    night: view('person', 'night'),
    companies: ofPayee('company'),
    ownDocument: ofPayee('own'),
    nightHour: value,
    nextNightHour: nextAt === null ? null : { hour: next, at: nextAt.toISOString() },
  };
}

function toLimitView(
  limits: CurrentLimits,
  config: LocalContext['config'],
  part: { readonly payee: PayeeClass; readonly period: PeriodName },
): LimitView {
  const { payee, period } = part;
  const { bank } = limits[period];
  const own = payee === 'person' ? limits[period].own : limits.byPayee[payee][period];
  const shown = (value: number | null) => {
    const then = { ...limits, [period]: { ...limits[period], bank: { ...bank, value } } };
    return { amount: toAmount(maximumOf(then, config, part)), isDefault: value === null };
  };
  return {
    ...shown(bank.value),
    next: bank.nextAt === null ? null : { ...shown(bank.next), at: bank.nextAt.toISOString() },
    own: toAmount(own.value),
    nextOwn:
      own.nextAt === null ? null : { amount: toAmount(own.next), at: own.nextAt.toISOString() },
    applies: toAmount(allowanceOf(limits, config, part).limitCents),
  };
}

function toAmount(cents: number | null): string | null {
  return cents === null ? null : decimalFromCents(cents);
}
