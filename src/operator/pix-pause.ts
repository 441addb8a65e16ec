/** `pix pause` and `pix resume`: the switch of all sends. */
import { dayMs } from '../clock.ts';
import { maxCallMs } from '../domain/call-duration.ts';
import { awaitClaims, beginPause, endPause, findPause } from '../ledger/pause-repository.ts';
import { requireDecision, type OperatorDecision } from './decision.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-action-repository.ts';

/** A backup is not older, and providers list no longer periods in one statement. */
const maxLossDays = 90;

export interface PauseInput extends OperatorDecision {
  /** Since when commits may be lost, ISO 8601; absent: none are. */
  readonly since?: string;
}

/** A pause; times are ISO 8601. */
export interface PauseView {
  /** Since when commits may be lost; null: none are. */
  readonly lostSince: string | null;
}

export interface PauseBegun extends PauseView {
  /** False: a send that was being claimed may still be paid, for some seconds. */
  readonly isComplete: boolean;
}

/**
 * Pauses all sends, in every instance: none is paid afterwards that was not in PAYING. In a pause
 * it sets since when commits may be lost, if that is earlier.
 * @throws OpError when sends are paused already and nothing changes, the time is in the future or
 *   over 90 days ago, or the reason or the operator is missing.
 */
export const pausePix: Op<PauseInput, PauseBegun> = {
  async run(context, { reason, since }, { operator }) {
    requireDecision({ reason }, operator);
    const lostSince = since === undefined ? null : new Date(since);
    if (lostSince) requireRecent(lostSince, context.clock.now());
    const action = { operator, command: 'pix pause', reason: reason.trim() };
    await recordAction(context, action, async (transaction) => {
      const pause = { by: operator, reason: reason.trim(), lostSince };
      const result = await beginPause(transaction, pause);
      if (result === null) throw new OpError('REFUSED', 'sends are paused already');
      return { result, targets: ['pix'], outcome: result };
    });
    const isComplete = await awaitClaims(context);
    context.log.warn({ operator, lostSince, isComplete }, 'an operator paused all sends');
    return { lostSince: lostSince?.toISOString() ?? null, isComplete };
  },
};

/** @throws OpError for a time that is no time of a loss of commits, as one with a wrong year. */
function requireRecent(lostSince: Date, now: Date): void {
  if (lostSince > now) throw new OpError('REFUSED', '--since is in the future');
  if (now.getTime() - lostSince.getTime() <= maxLossDays * dayMs) return;
  const rule = `--since is over ${maxLossDays} days ago: is the year right?`;
  const effect = 'Customers send again only when the provider lists all since then';
  throw new OpError('INVALID', `${rule} ${effect}.`);
}

/**
 * Ends the pause. If commits were lost, the end records the loss: each user sends again only when
 * their statement was read since then. Events whose job was lost get one.
 * @throws OpError when sends are not paused, when payments from before the loss may still be made,
 *   or the reason or the operator is missing.
 */
export const resumePix: Op<OperatorDecision, PauseView> = {
  async run(context, { reason }, { operator }) {
    requireDecision({ reason }, operator);
    const pause = await findPause(context);
    if (!pause) throw new OpError('REFUSED', 'sends are not paused');
    const { beganAt, lostSince } = pause;
    const { clock, config } = context;
    const quietAt = new Date(beganAt.getTime() + maxCallMs(config.provider));
    if (lostSince && clock.now() < quietAt) {
      const time = quietAt.toISOString();
      const rule = `a payment from before the pause may still be made: resume after ${time}`;
      throw new OpError('REFUSED', rule);
    }
    const action = { operator, command: 'pix resume', reason: reason.trim() };
    await recordAction(context, action, async (transaction) => {
      const isEnded = await endPause(transaction, pause, operator);
      if (!isEnded)
        throw new OpError('REFUSED', 'the pause has changed meanwhile: look at it again');
      const since = lostSince?.toISOString();
      const outcome = since ? `commits lost since ${since}` : 'no commits lost';
      return { result: undefined, targets: ['pix'], outcome };
    });
    context.log.warn({ operator, lostSince }, 'an operator resumed sends');
    return { lostSince: lostSince?.toISOString() ?? null };
  },
};
