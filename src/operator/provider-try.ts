/**
 * `provider unknown --try`: what further codes that mean "not executed" would settle, and settling
 * it. A payment fails only if the codes account for each of its attempts, and a statement that is
 * read whole does not show it. An event or a statement ends most payments within the hour, so that
 * only those are taken that have waited for longer.
 */
import type { LocalContext } from '../context/context.ts';
import { nilUuid } from '../domain/text.ts';
import { moveTransaction, type Move } from '../ledger/move-repository.ts';
import { hasReachedPayee } from '../ledger/payment-repository.ts';
import type { ReadStatement } from '../settlement/statement-movements.ts';
import type { Provider } from '../provider/provider.ts';
import { requireDecision, type OperatorDecision } from './decision.ts';
import type { Op, OpCaller } from './op.ts';
import { recordAction } from './operator-action-repository.ts';
import { decisionNote, reachedPayee } from './pix-resolve.ts';
import { judgeStatement } from './pix-statement-look.ts';
import { readUserStatement, unreadSentence } from './read-user-statement.ts';
import { findRefusedOrders, type RefusedOrder } from './unknown-repository.ts';
import { withProvider } from './with-provider.ts';

export interface ProviderTryInput {
  /** Codes that mean that a payment was examined and not executed, in upper case. */
  readonly codes: readonly string[];
  /** Settles the payments; absent: only shows them. */
  readonly apply?: OperatorDecision;
  /** The `next` of an earlier call. */
  readonly after?: string;
  /** The largest number of payments of this call: 1 to 100. */
  readonly limit: number;
}

/** A payment that the codes account for. */
export interface TriedPayment {
  readonly id: string;
  readonly code: string | null;
  /** `open`: it is not settled, for this reason. `too_young`: it may be from `takenFrom` on. */
  readonly result: 'would_fail' | 'failed' | 'open' | 'too_young';
  readonly reason: string | null;
  /** ISO 8601, of one that is too young; else null. */
  readonly takenFrom: string | null;
}

export interface ProviderTry {
  readonly payments: readonly TriedPayment[];
  /** The `after` of the next call; null when there are no more payments. */
  readonly next: string | null;
}

const maxAtOnce = 100;

/** How long the outcome of a payment must have been unknown, in ms. */
const minUnknownMs = 60 * 60_000;

/**
 * Examines a page of open payments, oldest first. A caller that is interrupted continues from its
 * last `next`, or begins again: a settled payment is not found again.
 * @throws OpError when the decision is invalid.
 */
export const tryCodes: Op<ProviderTryInput, ProviderTry> = {
  needsDialects: true,
  async run(context, { codes, apply, after = nilUuid, limit }, { operator }) {
    if (apply) requireDecision(apply, operator);
    const size = Math.min(Math.max(1, limit), maxAtOnce);
    const all = [...new Set([...context.dialects.refusals.keys(), ...codes])];
    const sends = await findRefusedOrders(context, { codes: all, after, limit: size });
    const payments = await withProvider(context, async (provider) => {
      const now = context.clock.now();
      const [young, old] = partition(sends, (send) => takenFrom(send) > now);
      const tried = young.map(tooYoung);
      for (const group of Map.groupBy(old, ({ userId }) => userId).values()) {
        if (context.stopping.aborted) break;
        tried.push(...(await settleGroup(context, group, { provider, apply, operator })));
      }
      return tried;
    });
    const isOver = sends.length < size;
    return { payments, next: isOver ? null : (sends.at(-1)?.id ?? null) };
  },
};

function partition<T>(all: readonly T[], is: (one: T) => boolean): [T[], T[]] {
  return [all.filter((one) => is(one)), all.filter((one) => !is(one))];
}

function takenFrom({ unknownSince }: RefusedOrder): Date {
  return new Date(unknownSince.getTime() + minUnknownMs);
}

function tooYoung(send: RefusedOrder): TriedPayment {
  const { id, code } = send;
  const reason = 'its outcome has been unknown for less than an hour';
  return { id, code, result: 'too_young', reason, takenFrom: takenFrom(send).toISOString() };
}

interface Trial extends Pick<OpCaller, 'operator'> {
  readonly provider: Provider | null;
  readonly apply: OperatorDecision | undefined;
}

/** Settles orders of one user, the oldest first: a statement of all days until now shows them. */
async function settleGroup(
  context: LocalContext,
  sends: readonly RefusedOrder[],
  trial: Trial,
): Promise<TriedPayment[]> {
  const [first] = sends;
  if (!first) return [];
  const { session, createdAt } = first;
  const days = { first: createdAt, last: context.clock.now() };
  const { provider } = trial;
  const statement = await readUserStatement(context, { session, provider, ...days });
  const tried: TriedPayment[] = [];
  for (const send of sends) {
    const { id, code } = send;
    const reason =
      typeof statement === 'string'
        ? unreadSentence(statement)
        : await reasonToStay(context, statement, send);
    const shown = { id, code, reason, takenFrom: null };
    if (reason !== null) tried.push({ ...shown, result: 'open' });
    else if (trial.apply === undefined) tried.push({ ...shown, result: 'would_fail' });
    else tried.push(await fail(context, send, { ...trial, apply: trial.apply }));
  }
  return tried;
}

/** Why a statement does not allow that an order is failed; null: it does. */
async function reasonToStay(
  context: LocalContext,
  statement: ReadStatement,
  send: RefusedOrder,
): Promise<string | null> {
  const { says } = await judgeStatement(context, statement, send);
  if (await hasReachedPayee(context, send.id)) return reachedPayee;
  if (says === 'absent') return null;
  return says === 'similar' ? 'a debit of its amount may be it' : 'the statement shows it';
}

async function fail(
  context: LocalContext,
  { id, code }: RefusedOrder,
  { apply, operator }: Trial & { readonly apply: OperatorDecision },
): Promise<TriedPayment> {
  const reason = apply.reason.trim();
  const action = { operator, command: 'provider unknown --try --apply', reason };
  const move: Move = {
    from: ['UNKNOWN'],
    to: 'SETTLED',
    status: 'FAILED',
    outcome: 'rejected',
    failureCode: 'OPERATOR_DECISION',
    timeline: [{ phase: 'SETTLED', note: `${decisionNote}${operator.trim()}: ${reason}` }],
  };
  const isMoved = await recordAction(context, action, async (transaction) => {
    const moved = await moveTransaction(transaction, id, move);
    const targets = moved ? [`pix:${id}`] : [];
    return { result: moved !== null, targets, outcome: moved?.status ?? 'nothing' };
  });
  const ended = { id, code, takenFrom: null };
  if (!isMoved) return { ...ended, result: 'open', reason: 'it has moved meanwhile' };
  context.log.warn({ transactionId: id, code }, 'an operator has failed a refused payment');
  return { ...ended, result: 'failed', reason: null };
}
