/** The columns of transactions, which the list of all and the statement share. */
import type { PixListItem, StatementItem, StatementRefund } from '../../contract/types.ts';
import { formatAmount, shortLocalTime } from './format.ts';
import { cellText, memberColumns, type Column, type Row } from './table.ts';

/** @returns columns of these members; times are those of São Paulo. */
export function transactionColumns(names: readonly string[]): Column[] {
  return memberColumns(names, (row, name) =>
    name === 'amount' ? signedAmount(row) : shortLocalTime(cellText(row, name)),
  );
}

/** A transaction of Ponte as a row: the other party is one text, beside what it is for. */
export function transactionRow(item: PixListItem | StatementItem | StatementRefund): Row {
  const { payee, payer, ...facts } = item;
  const { name, document, key, bank } = payee ?? payer ?? {};
  const who = [name ?? key, document, bank?.name ?? bank?.ispb].filter(
    (part) => part !== undefined,
  );
  return { ...facts, ...(who.length > 0 && { who: who.join(', ') }) };
}

/** The operations in which the user pays. The bank's own items have a direction. */
const debits: ReadonlySet<unknown> = new Set(['PIX_SEND', 'PIX_REFUND_OUT']);

/** @returns the amount, which is negative where the user pays. */
export function signedAmount(row: Row): string {
  const { amount, type, direction } = row;
  if (typeof amount !== 'number') return cellText(row, 'amount');
  return formatAmount(debits.has(type) || direction === 'DEBIT' ? -amount : amount);
}
