/** `pix resolve`: an operator decides an outcome that the provider does not report. */
import { phasesOpenToSettlement } from '../domain/pix.ts';
import { moveTransaction, type Move } from '../pix/move-repository.ts';
import { decisionError, type Decision } from './decision.ts';
import { OpError, type Op } from './op.ts';
import { recordAction } from './operator-action-repository.ts';
import { isHeld, type Circumstances } from './pix-next-step.ts';
import { findNamedPix } from './pix-reference.ts';
import type { InspectedPix } from './pix-repository.ts';
import { viewOfPix, type PixView } from './pix-view.ts';

/** The required confirmation to fail a payment that may have been sent. */
export const riskOfFailing = 'money may have moved';

/** The start of the note in the timeline, by which the audit recognises a decision. */
export const decisionNote = 'operator ';

/** The reason is stored in the timeline. */
export interface PixResolveInput extends Decision {
  readonly id: string;
  readonly as: 'completed' | 'failed';
  /** With `failed`: {@link riskOfFailing}, word for word. */
  readonly confirm?: string;
  /** Only checks whether this may be done, before the operator confirms. */
  readonly onlyCheck?: boolean;
}

/**
 * Settles a send by an operator's decision. A webhook that contradicts it later is an anomaly, as
 * for every final status.
 * @throws OpError when there is no such send, it was moved meanwhile, or the risk is not confirmed.
 */
export const resolvePix: Op<PixResolveInput, { readonly transaction: PixView }> = {
  async run(context, input, { operator }) {
    const now = context.clock.now();
    const find = async (): Promise<InspectedPix> => {
      return findNamedPix(context, input.id);
    };
    const row = await find();
    const { id } = row;
    const circumstances = { now, calls: context.config.provider };
    const refusal = refusalOf(row, circumstances) ?? mistakeOf(input, operator);
    if (refusal !== null) throw new OpError('REFUSED', refusal);
    if (input.onlyCheck) return { transaction: viewOfPix(row) };
    const { as, reason } = input;
    const action = { operator, command: `pix resolve --as ${as}`, reason: reason.trim() };
    const isMoved = await recordAction(context, action, async (transaction) => {
      const moved = await moveTransaction(transaction, id, decision(row, input, operator));
      const targets = moved ? [`pix:${id}`] : [];
      return { result: moved !== null, targets, outcome: moved?.status ?? 'nothing' };
    });
    if (!isMoved) {
      const { phase } = await find();
      throw new OpError('REFUSED', `it has moved to ${phase} meanwhile: check it again`);
    }
    context.log.warn({ transactionId: id, as }, 'an operator has resolved a payment');
    return { transaction: viewOfPix(await find()) };
  },
};

/** @returns why an operator may not resolve this transaction; null: it may be resolved. */
function refusalOf(
  row: InspectedPix,
  circumstances: Pick<Circumstances, 'now' | 'calls'>,
): string | null {
  const { operation, status, phase } = row;
  if (operation !== 'SEND') return `it is a ${operation}: only sends are resolved`;
  if (status !== 'PROCESSING') return `it is ${status}, and that is final`;
  if (phase === 'RESERVED' || phase === 'RESOLVED') {
    return `it is in ${phase}: nothing was sent, and the sweep or the next request ends it`;
  }
  if (phase === 'PAYING' && isHeld(row, circumstances)) {
    return 'a process may be sending it at this moment: wait until its claim has expired';
  }
  return phasesOpenToSettlement.some((one) => one === phase) ? null : `it is in ${phase}`;
}

function mistakeOf(input: PixResolveInput, operator: string): string | null {
  const { as, confirm } = input;
  const mistake = decisionError(input, operator);
  if (mistake !== null) return mistake;
  if (as === 'failed' && confirm !== riskOfFailing) {
    return `to call it failed, confirm that “${riskOfFailing}”: the person may pay twice`;
  }
  return null;
}

function decision(row: InspectedPix, { as, reason }: PixResolveInput, operator: string): Move {
  const completed = as === 'completed';
  const unsure = row.outcome === null || row.outcome === 'unknown';
  return {
    from: [row.phase],
    to: 'SETTLED',
    status: completed ? 'COMPLETED' : 'FAILED',
    ...(unsure && { outcome: completed ? 'accepted' : 'rejected' }),
    ...(!completed && { failureCode: 'PROVIDER_REJECTED' }),
    timeline: [{ phase: 'SETTLED', note: `${decisionNote}${operator.trim()}: ${reason.trim()}` }],
  };
}
