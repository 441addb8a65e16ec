/** `pix resolve`: an operator decides an outcome that the provider does not report. */
import type { LocalContext } from '../context/context.ts';
import { isConstraintViolation } from '../db/unavailable.ts';
import {
  foundAfterLossNote,
  isBeforePaying,
  isOrder,
  phasesOpenToSettlement,
} from '../domain/pix.ts';
import { timeOfSpiId } from '../domain/reconciliation.ts';
import { noteCorrection } from '../ledger/correction.ts';
import { correctTransaction, type Corrected } from '../ledger/correction-repository.ts';
import { moveTransaction, type Move } from '../ledger/move-repository.ts';
import { findPause } from '../ledger/pause-repository.ts';
import { decisionError, type OperatorDecision } from './decision.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-action-repository.ts';
import { isHeld, type Circumstances } from './pix-next-step.ts';
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
    const statement = isRead ? await lookAtStatement(context, checked) : null;
    const refusal = statement && !input.despiteStatement ? refusalOfStatement(statement) : null;
    if (refusal !== null) throw new OpError('REFUSED', refusal);
    if (input.onlyCheck) return { transaction: viewOfPix(checked), statement };
    // Another process may have taken it up during the reading.
    const row = statement === null ? checked : await findResolvable(context, input, operator);
    await record(context, { row, input, operator, statement });
    const { id } = row;
    context.log.warn({ transactionId: id, as: input.as }, 'an operator has resolved a payment');
    return { transaction: viewOfPix(await findNamedPix(context, id)), statement };
  },
};

/** @throws OpError when there is no such transaction, or it may not be resolved in this way. */
async function findResolvable(
  context: LocalContext,
  input: PixResolveInput,
  operator: string,
): Promise<FoundPix> {
  const row = await findNamedPix(context, input.id);
  const circumstances = { now: context.clock.now(), calls: context.config.provider };
  const refusal =
    findRefusal(row, input, circumstances) ??
    (await refusalAfterLoss(context, row, input)) ??
    findMistake(input, operator);
  if (refusal !== null) throw new OpError('REFUSED', refusal);
  return row;
}

interface Decided {
  readonly row: FoundPix;
  readonly input: PixResolveInput;
  readonly operator: string;
  readonly statement: StatementLook | null;
}

/** @throws OpError when another process has moved the transaction meanwhile. */
async function record(
  context: LocalContext,
  { row, input, operator, statement }: Decided,
): Promise<void> {
  const { id } = row;
  const { as, reason, endToEnd } = input;
  const action = { operator, command: `pix resolve --as ${as}`, reason: reason.trim() };
  const note = `${decisionNote}${operator.trim()}: ${reason.trim()}`;
  const evidence = input.isListed ? 'list of the bank' : statement && recordOfStatement(statement);
  const result = await recordAction(context, action, async (transaction) => {
    const resolved = await resolve(transaction, row, { as, note, endToEnd });
    return {
      result: resolved,
      targets: resolved ? [`pix:${id}`] : [],
      outcome: [as.toUpperCase(), evidence].filter((part) => part !== null).join('; '),
    };
  });
  if (!result) {
    const { phase } = await findNamedPix(context, id);
    throw new OpError('REFUSED', `it has moved to ${phase} meanwhile: check it again`);
  }
  if (result !== 'moved') noteCorrection(context, { transactionId: id, eventId: null, ...result });
}

/**
 * @returns why an operator may not resolve this transaction in this way; null: it may be resolved.
 */
function findRefusal(
  row: FoundPix,
  input: PixResolveInput,
  circumstances: Pick<Circumstances, 'now' | 'calls'>,
): string | null {
  const { operation, status, phase } = row;
  if (row.idempotencyKey === null) {
    return `it is a reported ${operation}: only sends, charges and returns are resolved`;
  }
  if (status === 'COMPLETED') {
    return 'it is COMPLETED, and that is final: money that comes back is a refund';
  }
  if (status === 'FAILED') return refusalOfCorrection(row, input);
  const isHeldNow = isHeld(row, circumstances);
  if (operation === 'CHARGE') {
    return phase === 'RESERVED' && isHeldNow
      ? 'a process may be creating it at this moment: wait until its claim has expired'
      : null;
  }
  if (isBeforePaying(phase) && !row.mayBeLost) {
    return `it is in ${phase}: nothing was sent, and the sweep or the next request ends it`;
  }
  if (phase !== 'ACCEPTED' && phase !== 'UNKNOWN' && isHeldNow) {
    return 'a process may be sending it at this moment: wait until its claim has expired';
  }
  if (isBeforePaying(phase)) return null;
  return phasesOpenToSettlement.some((one) => one === phase) ? null : `it is in ${phase}`;
}

/** The record of a send before PAYING may lack that it was paid: the provider knows. */
async function refusalAfterLoss(
  context: LocalContext,
  { operation, phase, endToEnd: stored }: FoundPix,
  { as, endToEnd = stored ?? undefined }: PixResolveInput,
): Promise<string | null> {
  const isLost = isOrder(operation) && isBeforePaying(phase);
  if (!isLost || operation !== 'SEND') {
    const isOther = endToEnd !== undefined && endToEnd !== stored;
    if (isOther) return 'only a send that lacks it after a loss of commits takes --end-to-end';
  }
  if (!isLost) return null;
  if (await findPause(context)) return 'sends are paused: resume them first';
  if (operation !== 'SEND') return null;
  if (as === 'failed') return null;
  return endToEnd === undefined || timeOfSpiId(endToEnd) === null || !endToEnd.startsWith('E')
    ? 'commits were lost: give the end-to-end id of its payment with --end-to-end'
    : null;
}

function refusalOfCorrection(
  { operation, endToEnd }: InspectedPix,
  { as, corrects = false, onlyCheck = false }: PixResolveInput,
): string | null {
  if (as === 'failed') return 'it is FAILED already';
  // The provider may have reported the failure after the decision.
  if (!corrects && !onlyCheck) return 'it is FAILED: check it again';
  return operation === 'SEND' && endToEnd === null
    ? 'it failed before it was sent: this payment cannot have been made'
    : null;
}

function findMistake(input: PixResolveInput, operator: string): string | null {
  const { as, confirm, isListed = false } = input;
  const mistake = decisionError(input, operator);
  if (mistake !== null) return mistake;
  if (as === 'failed' && confirm !== riskOfFailing) {
    return `to call it failed, confirm that “${riskOfFailing}”: the person may pay twice`;
  }
  if (as === 'completed' && !isListed && confirm !== riskOfCompleting) {
    return `to call it completed, confirm that “${riskOfCompleting}”: the person is told so`;
  }
  return null;
}

interface Resolution extends Pick<PixResolveInput, 'as'> {
  readonly endToEnd: string | undefined;
  /** For the timeline. */
  readonly note: string;
}

/** @returns null when another process has moved the transaction meanwhile. */
async function resolve(
  context: LocalContext,
  row: InspectedPix,
  resolution: Resolution,
): Promise<'moved' | Corrected | null> {
  if (row.status === 'FAILED') {
    const proof = { endToEnd: null, providerTxid: null, eventId: null, source: resolution.note };
    return refuseViolation(
      correctTransaction(context, row.id, proof),
      'its amount is no longer left: other refunds of the same Pix were made meanwhile',
    );
  }
  const moved = await refuseViolation(
    moveTransaction(context, row.id, decision(row, resolution)),
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

/** Why the app sees the decision as a failure: only that of an order before PAYING is certain. */
function failureCode({ operation, phase }: InspectedPix): string {
  if (!isOrder(operation)) return 'PROVIDER_REJECTED';
  return isBeforePaying(phase) ? 'ABANDONED' : 'OPERATOR_DECISION';
}

function decision(row: InspectedPix, { as, note, endToEnd }: Resolution): Move {
  const completed = as === 'completed';
  const unsure = row.outcome === null || row.outcome === 'unknown';
  const isLost = completed && isOrder(row.operation) && isBeforePaying(row.phase);
  return {
    from: [row.phase],
    to: 'SETTLED',
    status: completed ? 'COMPLETED' : 'FAILED',
    ...(unsure && { outcome: completed ? 'accepted' : 'rejected' }),
    ...(!completed && { failureCode: failureCode(row) }),
    ...(endToEnd !== undefined && { endToEnd }),
    timeline: [
      ...(isLost ? [{ phase: 'PAYING', note: foundAfterLossNote } as const] : []),
      { phase: 'SETTLED', note },
    ],
  };
}
