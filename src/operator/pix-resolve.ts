/** `pix resolve`: an operator decides an outcome that the provider does not report. */
import type { LocalContext } from '../context/context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import { isBeforePaying, receivedByPayee } from '../domain/pix.ts';
import { reportCorrection } from '../ledger/correction.ts';
import { correctTransaction, type Corrected } from '../ledger/correction-repository.ts';
import {
  judgeDecision,
  type DecisionRefusal,
  type DecisionVerdict,
} from '../ledger/judge-operator.ts';
import { moveTransaction } from '../ledger/move-repository.ts';
import { forgetReached, hasReachedPayee } from '../ledger/payment-repository.ts';
import { noteAnomaly } from '../ledger/pix-transaction-repository.ts';
import { findPause } from '../ledger/pause-repository.ts';
import { requireDecision, type OperatorDecision } from './decision.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-action-repository.ts';
import { isHeld } from './pix-next-step.ts';
import { findNamedPix } from './pix-reference.ts';
import type { FoundPix, InspectedPix } from './pix-repository.ts';
import {
  lookAtStatement,
  recordOfStatement,
  refusalOfStatement,
  type StatementLook,
} from './pix-statement-look.ts';
import { viewOfPix, type PixView } from './pix-view.ts';

/** The required confirmation to fail a payment that may have been sent. */
export const riskOfFailing = 'money may have moved';

const confirmFailing = `confirm that “${riskOfFailing}”`;

/** Said of a send whose payee is another customer, who has its money. */
export const reachedPayee = 'its payee, another customer, has received it, as a report says';

/** Said to an operator who has not confirmed it. */
export const unconfirmedFailing = `to call it failed, ${confirmFailing}: the person may pay twice`;

/** The required confirmation to complete one. */
export const riskOfCompleting = 'money has moved';

/** The start of the note in the timeline, by which the audit recognises a decision. */
export const decisionNote = 'operator ';

/** The reason is stored in the timeline. */
export interface PixResolveInput extends OperatorDecision {
  readonly id: string;
  readonly as: 'completed' | 'failed';
  /** With `completed`: the end-to-end id of the payment, for a send that lacks it after a loss. */
  readonly endToEnd?: string;
  /** {@link riskOfFailing} or {@link riskOfCompleting}, word for word. */
  readonly confirm?: string;
  /** With `failed`: although a line of the statement shows the payment, or is in doubt. */
  readonly despiteStatement?: boolean;
  /**
   * A line of a list, which confirms the end in the words of the bank: a completion needs no other,
   * and no statement is read.
   */
  readonly isListed?: boolean;
  /** The decider has seen that it is FAILED, and says that it was paid all the same. */
  readonly corrects?: boolean;
  /** Only checks whether this may be done, before the operator confirms. */
  readonly onlyCheck?: boolean;
}

export interface PixResolved {
  readonly transaction: PixView;
  /** What was read before it was called failed; null: nothing. */
  readonly statement: StatementLook | null;
}

/**
 * Settles an order or a charge by an operator's decision, or corrects a FAILED one that was paid.
 * Before one is called failed, the statement is read: a line that shows it refuses. An event that
 * contradicts the decision later is an anomaly, as for every final status.
 * @throws OpError when there is no such transaction, it may not be resolved, it was moved
 *   meanwhile, the statement shows it, or the risk is not confirmed.
 */
export const resolvePix: Op<PixResolveInput, PixResolved> = {
  needsDialects: true,
  async run(context, input, { operator }) {
    const checked = await findResolvable(context, input, operator);
    const isRead = input.as === 'failed' && !input.isListed;
    const statement = isRead ? await lookAtStatement(context, checked.row) : null;
    const refusal = statement && !input.despiteStatement ? refusalOfStatement(statement) : null;
    if (refusal !== null) throw new OpError('REFUSED', refusal);
    await requireUnreached(context, input, checked.row);
    if (input.onlyCheck) return { transaction: viewOfPix(checked.row), statement };
    // Another process may have taken it up during the reading.
    const found = statement === null ? checked : await findResolvable(context, input, operator);
    await record(context, { ...found, input, operator, statement });
    const { id } = found.row;
    context.log.warn({ transactionId: id, as: input.as }, 'an operator has resolved a payment');
    return { transaction: viewOfPix(await findNamedPix(context, id)), statement };
  },
};

/** A transaction, and what a decision does with it. */
interface Resolvable {
  readonly row: FoundPix;
  readonly verdict: Exclude<DecisionVerdict, { readonly kind: 'refused' }>;
}

/** @throws OpError when there is no such transaction, or it may not be resolved in this way. */
async function findResolvable(
  context: LocalContext,
  input: PixResolveInput,
  operator: string,
): Promise<Resolvable> {
  const row = await findNamedPix(context, input.id);
  const { as, endToEnd, corrects = false, onlyCheck = false, reason } = input;
  const circumstances = { now: context.clock.now(), calls: context.config.provider };
  const decision = {
    as,
    endToEnd,
    corrects: corrects || onlyCheck,
    note: `${decisionNote}${operator.trim()}: ${reason.trim()}`,
    isClaimed: isHeld(row, circumstances),
    mayBeLost: row.mayBeLost,
    isPaused: isBeforePaying(row.phase) && (await findPause(context)) !== null,
  };
  const verdict = judgeDecision(decision, row);
  if (verdict.kind === 'refused') throw new OpError('REFUSED', sentences[verdict.reason](row, as));
  requireConfirmed(input, operator);
  return { row, verdict };
}

type Sentence = (row: InspectedPix, as: PixResolveInput['as']) => string;

/** Why a decision is refused. */
const sentences: Readonly<Record<DecisionRefusal, Sentence>> = {
  reported: ({ operation }) =>
    `it is a reported ${operation}: only sends, charges and returns are resolved`,
  completed: (_row, as) =>
    as === 'completed'
      ? 'it is COMPLETED already'
      : 'it is COMPLETED, and that is final: money that comes back is a refund',
  failed_already: () => 'it is FAILED already',
  unseen: () => 'it is FAILED: check it again',
  never_sent: () => 'it failed before it was sent: this payment cannot have been made',
  claimed: ({ operation }) =>
    `a process may be ${operation === 'CHARGE' ? 'creating' : 'sending'} it at this moment: wait ` +
    'until its claim has expired',
  not_sent: ({ phase }) =>
    `it is in ${phase}: nothing was sent, and the sweep or the next request ends it`,
  not_open: ({ phase }) => `it is in ${phase}`,
  other_end_to_end: () => 'only a send that lacks it after a loss of commits takes --end-to-end',
  paused: () => 'sends are paused: resume them first',
  no_end_to_end: () => 'commits were lost: give the end-to-end id of its payment with --end-to-end',
};

interface Decided extends Resolvable {
  readonly input: PixResolveInput;
  readonly operator: string;
  readonly statement: StatementLook | null;
}

/** @throws OpError when another process has moved the transaction meanwhile. */
async function record(
  context: LocalContext,
  { row, verdict, input, operator, statement }: Decided,
): Promise<void> {
  const { id } = row;
  const { as, reason } = input;
  const action = { operator, command: `pix resolve --as ${as}`, reason: reason.trim() };
  const evidence = input.isListed ? 'list of the bank' : statement && recordOfStatement(statement);
  const result = await recordAction(context, action, async (transaction) => {
    if (as === 'failed' && input.despiteStatement) await contradictReceipt(transaction, id);
    const resolved = await resolve(transaction, id, verdict);
    if (!resolved) {
      const { phase } = await findNamedPix(transaction, id);
      throw new OpError('REFUSED', `it has moved to ${phase} meanwhile: check it again`);
    }
    return {
      result: resolved,
      targets: [`pix:${id}`],
      outcome: [as.toUpperCase(), evidence].filter((part) => part !== null).join('; '),
    };
  });
  if (result !== 'moved')
    reportCorrection(context, { transactionId: id, eventId: null, ...result });
}

/** @throws OpError when the decision is invalid, or its risk is not confirmed. */
function requireConfirmed(input: PixResolveInput, operator: string): void {
  const { as, confirm, isListed = false } = input;
  requireDecision(input, operator);
  if (as === 'failed' && confirm !== riskOfFailing) {
    throw new OpError('INVALID', unconfirmedFailing);
  }
  if (as === 'completed' && !isListed && confirm !== riskOfCompleting) {
    const rule = `to call it completed, confirm that “${riskOfCompleting}”: the person is told so`;
    throw new OpError('INVALID', rule);
  }
}

/** @throws OpError when a send that is called failed has reached another customer. */
async function requireUnreached(
  context: LocalContext,
  { as, despiteStatement = false }: PixResolveInput,
  { id }: FoundPix,
): Promise<void> {
  if (as === 'completed' || despiteStatement) return;
  if (!(await hasReachedPayee(context, id))) return;
  const way = 'to call it failed all the same, give --despite-statement';
  throw new OpError('REFUSED', `${reachedPayee}; ${way}`);
}

/** Lets a send fail that its payee has received, which an anomaly of it says. */
async function contradictReceipt(context: LocalContext, id: string): Promise<void> {
  if (!(await forgetReached(context, id))) return;
  await noteAnomaly(context, { transactionId: id, eventId: null, reason: receivedByPayee });
}

/** @returns null when another process has moved the transaction meanwhile. */
async function resolve(
  context: LocalContext,
  id: string,
  verdict: Resolvable['verdict'],
): Promise<'moved' | Corrected | null> {
  if (verdict.kind === 'correct') {
    const source = { eventId: null, note: verdict.note };
    const proof = { endToEnd: null, providerTxid: null, source };
    return refuseViolation(
      correctTransaction(context, id, proof),
      'its amount is no longer left: other refunds of the same Pix were made meanwhile',
    );
  }
  const moved = await refuseViolation(
    moveTransaction(context, id, verdict.move),
    'another send has this end-to-end id',
  );
  return moved ? 'moved' : null;
}

/** @throws OpError when a constraint refuses the change. */
async function refuseViolation<T>(change: Promise<T>, refusal: string): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (!isConstraintViolation(error)) throw error;
    throw new OpError('REFUSED', refusal);
  }
}
