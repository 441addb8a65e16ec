/** What the lines of a whole statement prove about a payment. The functions are pure. */
import { isReturnId, isSameId, namesCharge } from '../domain/pix.ts';
import type { SoughtOrder } from '../ledger/correction-repository.ts';
import {
  returnGroup,
  type ClearLine,
  type Group,
  type ReadStatement,
} from './statement-movements.ts';

/** The payment to find. */
export interface SoughtPayment {
  readonly endToEnd: string;
  /** In centavos. */
  readonly amountCents: number;
}

/** The payment that an order is to have made: of a return the id is the return id. */
type OrderPayment = Pick<SoughtOrder, 'operation'> & SoughtPayment;

/** Finds the evidence of an order in the lines that have its id. */
export function findOrderEvidence(statement: ReadStatement, order: OrderPayment): FoundEvidence {
  return order.operation === 'REFUND_OUT'
    ? findReturnEvidence(statement, order)
    : findSendEvidence(statement, order);
}

/**
 * - `completed`: the lines with the end-to-end id are one settled outgoing payment of the same
 *   amount.
 * - `returned`: a settled refund with a return id of its own gives money of the payment back, so
 *   that it was made, whatever its other lines say.
 * - `reversed`: settled debits, one of them of the amount, and as much money back under the
 *   end-to-end id, without a return id.
 * - `pending`: the payment is in progress, or only set-aside lines such as its hold have the id.
 * - `absent`: no line contains the end-to-end id.
 * - `unclear`: the lines with the id prove nothing: several lines, a part that came back, another
 *   amount, an unreadable direction or status, a failure.
 */
export type StatementEvidence =
  'completed' | 'returned' | 'reversed' | 'pending' | 'absent' | 'unclear';

export type FoundEvidence =
  /** The line proves the payment. */
  | { readonly evidence: 'completed' | 'returned'; readonly line: ClearLine }
  | { readonly evidence: Exclude<StatementEvidence, 'completed' | 'returned'> };

/**
 * Finds the evidence of a send. It is positive only: missing or unknown fields prove nothing. Money
 * that came back under a return id was paid before.
 */
export function findSendEvidence(statement: ReadStatement, payment: SoughtPayment): FoundEvidence {
  const { endToEnd, amountCents } = payment;
  const [group] = statement.byId.get(endToEnd) ?? [];
  const found = findGroupEvidence(group, amountCents);
  if (found.evidence === 'completed') return found;
  const refund = findRefund(statement, payment);
  if (refund) return { evidence: 'returned', line: refund };
  return group ? found : findMentionEvidence(statement, endToEnd);
}

/** Finds the evidence of a return in the lines with its return id. */
function findReturnEvidence(statement: ReadStatement, payment: SoughtPayment): FoundEvidence {
  const { endToEnd: returnId, amountCents } = payment;
  if (!isReturnId(returnId)) return { evidence: 'absent' };
  const [group, ...others] = statement.byId.get(returnGroup(returnId)) ?? [];
  if (!group) return { evidence: 'absent' };
  return others.length > 0 ? { evidence: 'unclear' } : findGroupEvidence(group, amountCents);
}

function findGroupEvidence(group: Group | undefined, amountCents: number): FoundEvidence {
  const movement = group?.movement;
  if (movement?.kind === 'reversed') {
    const isOfAmount = movement.debits.some((one) => one.amountCents === amountCents);
    return { evidence: movement.isUndone && isOfAmount ? 'reversed' : 'unclear' };
  }
  const line = movement?.kind === 'payment' || movement?.kind === 'refund' ? movement.line : null;
  const isSought = line !== null && line.direction === 'out' && line.amountCents === amountCents;
  if (!isSought) return { evidence: 'unclear' };
  if (line.status === 'COMPLETED') return { evidence: 'completed', line };
  return { evidence: line.status === 'PROCESSING' ? 'pending' : 'unclear' };
}

/** @returns a settled refund of the payment, with a return id, that came in. */
function findRefund(
  { groups }: ReadStatement,
  { endToEnd, amountCents }: SoughtPayment,
): ClearLine | null {
  for (const { movement } of groups) {
    if (movement.kind !== 'refund') continue;
    const { line } = movement;
    const isOfPayment = line.direction === 'in' && isSameId(line.ids.endToEnd, endToEnd);
    if (isOfPayment && line.status === 'COMPLETED' && line.amountCents <= amountCents) return line;
  }
  return null;
}

/**
 * No movement has the id; it may be that of a hold or a fee, or of a refund that proves nothing.
 */
function findMentionEvidence({ lines }: ReadStatement, endToEnd: string): FoundEvidence {
  const named = lines.filter(({ ids }) => ids.endToEnd === endToEnd);
  if (named.length === 0) return { evidence: 'absent' };
  const isSetAside = named.every(({ direction }) => direction === 'other');
  return { evidence: isSetAside ? 'pending' : 'unclear' };
}

/**
 * Finds a payment with the request id and the amount of a send, but another end-to-end id: the
 * record of a payment was lost, or another user has the same key.
 *
 * @returns the other end-to-end id, or null.
 */
export function findOtherPayment(
  { lines }: ReadStatement,
  payment: SoughtPayment & { readonly clientRequestId: string },
): string | null {
  const other = lines.find(
    ({ ids, amountCents, direction }) =>
      ids.clientRequestId === payment.clientRequestId &&
      amountCents === payment.amountCents &&
      direction !== 'other' &&
      ids.endToEnd !== null &&
      ids.endToEnd !== payment.endToEnd,
  );
  return other?.ids.endToEnd ?? null;
}

/** The charge whose payment is sought. */
export interface SoughtCharge {
  readonly transactionIdentification: string;
  /** In centavos. */
  readonly amountCents: number;
}

export type ChargeEvidence =
  | { readonly evidence: 'paid'; readonly line: ClearLine }
  /** `unclear`: lines that prove nothing name the charge. */
  | { readonly evidence: 'absent' | 'unclear' };

/** Looks for the payment of a charge, a settled receipt of its amount, in its owner's statement. */
export function findChargeEvidence(
  { groups }: ReadStatement,
  { transactionIdentification, amountCents }: SoughtCharge,
): ChargeEvidence {
  const naming = groups.filter(({ lines }) =>
    lines.some(
      ({ ids, direction }) =>
        direction !== 'out' &&
        ids.returnId === null &&
        namesCharge(ids.transactionIdentification, transactionIdentification),
    ),
  );
  for (const { movement } of naming) {
    if (movement.kind !== 'received') continue;
    const { line } = movement;
    const isPayment = line.status === 'COMPLETED' && line.amountCents === amountCents;
    if (isPayment) return { evidence: 'paid', line };
  }
  const isUnclear = naming.some(
    ({ movement }) => movement.kind === 'doubt' || movement.kind === 'reversed',
  );
  return { evidence: isUnclear ? 'unclear' : 'absent' };
}
