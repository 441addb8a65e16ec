/** The statement as a provider of this family would write it. */
import { numberFromCents } from '../../domain/money.ts';
import type { ProviderStatement, ProviderStatementItem } from '../provider.ts';
import type { Movement } from './ledger.ts';

const types = {
  payment: 'PIX_PAYMENT_OUT',
  reversal: 'PIX_PAYMENT_REVERSAL',
  received: 'PIX_RECEIVED',
} as const satisfies Record<Movement['kind'], string>;

const statusWords = {
  PROCESSING: 'PROCESSING',
  COMPLETED: 'CONFIRMED',
  FAILED: 'ERROR',
} as const satisfies Record<Movement['status'], string>;

/** Writes one movement; the amount is in reais and always positive. */
export function statementItem(movement: Movement): ProviderStatementItem {
  const { clientRequestId, transactionIdentification, description } = movement;
  return {
    id: movement.id,
    type: types[movement.kind],
    direction: movement.kind === 'payment' ? 'DEBIT' : 'CREDIT',
    endToEnd: movement.endToEnd,
    ...(clientRequestId === null ? {} : { clientRequestId }),
    ...(transactionIdentification === null ? {} : { transactionIdentification }),
    ...(description === null ? {} : { description }),
    amount: numberFromCents(movement.amountCents),
    status: statusWords[movement.status],
    createdAt: movement.createdAt.toISOString(),
  };
}

/** Writes a statement. */
export function statement(movements: readonly Movement[]): ProviderStatement {
  return { items: movements.map((movement) => statementItem(movement)) };
}
