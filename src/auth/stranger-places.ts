/**
 * The places of an address for logins by strangers: thirty a minute, held while a login is decided.
 * A right password gives its place back, so that thousands of customers may log in from one address
 * of a carrier. Others wait meanwhile for a place that may become free.
 */
import type { LocalContext } from '../context/context.ts';
import type { Waiting } from '../process/login-lines.ts';
import { countAttempt, refuseWhenUsedUp, strangerLimits, type Throttle } from './throttle.ts';

/** Who waits. */
export type Seeker = Pick<Waiting, 'place' | 'network' | 'signal'>;

/**
 * @param isRight whether the password was right: only then the place is free again.
 * @throws AppError THROTTLED when other processes have used the places up: a wrong guess beyond
 *   them learns nothing.
 */
type GiveUp = (isRight: boolean) => Promise<void>;

/**
 * Holds a place of an address, and of the networks that contain it.
 * @returns what gives it up; null when the wait has ended without a place.
 * @throws AppError THROTTLED when the wrong logins of the minute have used them up.
 */
export async function holdPlace(
  context: LocalContext,
  clientAddress: string,
  seeker: Seeker,
): Promise<GiveUp | null> {
  const limits = strangerLimits(context, clientAddress).filter(({ limit }) => limit > 0);
  if (limits.length === 0) return () => Promise.resolve();
  const names = limits.map(({ subject }) => subject);
  const { loginLines } = context;
  const { heldPlaces } = loginLines;
  const turn = await loginLines.take(`place ${clientAddress}`, {
    ...seeker,
    lane: 'places',
    rank: 0,
    mayBegin: () => whenFree(context, limits),
  });
  if (!turn) return null;
  heldPlaces.hold(names);
  turn.end(true);
  return async (isRight) => {
    try {
      if (!isRight) await countAttempt(context, limits);
    } finally {
      heldPlaces.release(names);
    }
  };
}

/** Resolves with 0 when a place is free. @throws AppError THROTTLED */
async function whenFree(context: LocalContext, limits: readonly Throttle[]): Promise<number> {
  const { heldPlaces } = context.loginLines;
  for (;;) {
    const { releases } = heldPlaces;
    const used = await refuseWhenUsedUp(context, limits);
    // A login that was decided meanwhile may be counted since.
    if (heldPlaces.releases !== releases) continue;
    const isFree = limits.every(({ subject, limit }, nth) => {
      return (used[nth] ?? 0) + heldPlaces.count(subject) < limit;
    });
    if (isFree) return 0;
    await heldPlaces.whenReleased(limits.map(({ subject }) => subject));
  }
}
