/**
 * The own limits that changes have replaced, so that what applied before can be restored. A thief
 * with the password may change them often: of too many, those that stood longest are kept.
 */
import {
  readByPayee,
  type LimitsByPayee,
  type NightHour,
  type StoredByPayee,
  type Timed,
} from './spending-limits.ts';

/** Bounds the size of the stored list. */
const maxKept = 20;

/** All that a customer sets, in centavos. */
export interface OwnLimits {
  readonly day: Timed<number | null>;
  readonly night: Timed<number | null>;
  readonly byPayee: LimitsByPayee;
  readonly nightHour: Timed<NightHour>;
}

/** Own limits that a change has replaced, as JSON. */
export interface EarlierLimits {
  /** Since when they stood, ISO 8601; null: since before the oldest change. */
  readonly from: string | null;
  /** When the change replaced them, ISO 8601. */
  readonly until: string;
  /** Who has made that change. */
  readonly by: LimitSetter;
  readonly limits: {
    readonly day: StoredTimed<number | null>;
    readonly night: StoredTimed<number | null>;
    readonly byPayee: StoredByPayee;
    readonly nightHour: StoredTimed<NightHour>;
  };
}

export type LimitSetter = 'customer' | 'operator';

type StoredTimed<Value> = Omit<Timed<Value>, 'nextAt'> & { readonly nextAt: string | null };

/** A change of the own limits. */
interface Replacement {
  readonly replaced: OwnLimits;
  readonly by: LimitSetter;
  readonly now: Date;
}

/** Adds limits that are replaced now; the list is in the order of their ends. */
export function addEarlier(
  earlier: readonly EarlierLimits[],
  { replaced, by, now }: Replacement,
): readonly EarlierLimits[] {
  // oxlint-disable-next-line unicorn/prefer-structured-clone -- dates become texts
  const limits = JSON.parse(JSON.stringify(replaced)) as EarlierLimits['limits'];
  const from = earlier.at(-1)?.until ?? null;
  const all = [...earlier, { from, until: now.toISOString(), by, limits }];
  if (all.length <= maxKept) return all;
  const shortest = all.reduce((least, one) => (stoodMs(one) < stoodMs(least) ? one : least));
  return all.filter((one) => one !== shortest);
}

function stoodMs({ from, until }: EarlierLimits): number {
  return from === null ? Infinity : Date.parse(until) - Date.parse(from);
}

/**
 * @param at a time at which the limits stood; null: before the customer's last change.
 * @returns null when there were none, or they are no longer kept.
 */
export function findEarlier(
  earlier: readonly EarlierLimits[],
  at: Date | null,
): EarlierLimits | null {
  if (at === null) return earlier.findLast(({ by }) => by === 'customer') ?? null;
  const stoodAt = ({ from, until }: EarlierLimits): boolean =>
    at < new Date(until) && (from === null || at >= new Date(from));
  return earlier.find(stoodAt) ?? null;
}

/** @returns earlier limits as they are in force at a time: a raise that is due has come. */
export function readEarlier({ limits }: EarlierLimits, now: Date): OwnLimits {
  const { day, night, byPayee, nightHour } = limits;
  return {
    day: inForce(day, null, now),
    night: inForce(night, null, now),
    byPayee: readByPayee(byPayee, now),
    nightHour: inForce(nightHour, nightHour.next, now),
  };
}

function inForce<Value>(stored: StoredTimed<Value>, none: Value, now: Date): Timed<Value> {
  const nextAt = stored.nextAt === null ? null : new Date(stored.nextAt);
  // In the order of other limits: the database has stored them in an order of its own.
  if (nextAt === null || nextAt > now) return { value: stored.value, next: stored.next, nextAt };
  return { value: stored.next, next: none, nextAt: null };
}
