/** Closes what an operator has explained, in the commit that records the decision. */
import type { LocalContext } from '../context/context.ts';
import { requireDecision, type OperatorDecision } from './decision.ts';
import { recordAction, type OperatorAction } from './operator-action-repository.ts';

export interface AcceptInput extends OperatorDecision {
  readonly ids: readonly string[];
}

export interface Accepted {
  readonly accepted: readonly string[];
  readonly notOpen: readonly string[];
}

/** What is closed, and how. */
interface Acceptance extends Pick<OperatorAction, 'operator' | 'command'> {
  /** The kind of the targets that are recorded. */
  readonly target: 'difference' | 'event';
  /** @throws OpError when an id has another form. */
  readonly checkIds: (ids: readonly string[]) => void;
  /** @returns the ids of those that were open. */
  readonly close: (transaction: LocalContext, ids: readonly string[]) => Promise<string[]>;
}

/** @throws OpError when the reason or the operator is missing, or an id is invalid. */
export async function accept(
  context: LocalContext,
  { ids: named, reason }: AcceptInput,
  { operator, command, target, checkIds, close }: Acceptance,
): Promise<Accepted> {
  requireDecision({ reason }, operator);
  checkIds(named);
  const ids = [...new Set(named)];
  const action = { operator, reason: reason.trim(), command };
  const accepted = await recordAction(context, action, async (transaction) => {
    const closed = await close(transaction, ids);
    const targets = closed.map((id) => `${target}:${id}`);
    return { result: closed, targets, outcome: 'accepted' };
  });
  return { accepted, notOpen: ids.filter((id) => !accepted.includes(id)) };
}
