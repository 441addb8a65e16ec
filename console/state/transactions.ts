/** The columns of transactions, which the list of all and the statement share. */
import { formatAmount, shortLocalTime } from './format.ts';
import { cellText, memberColumns, type Column, type Row } from './table.ts';

/** @returns columns of these members; what was paid is negative, times are those of São Paulo. */
export function transactionColumns(names: readonly string[]): Column[] {
  return memberColumns(names, transactionCell);
}

/** What the user pays. */
const debits: ReadonlySet<unknown> = new Set(['PIX_SEND', 'PIX_REFUND_OUT']);

function transactionCell(row: Row, name: string): string {
  const value = row[name];
  if (name !== 'amount' || typeof value !== 'number') return shortLocalTime(cellText(row, name));
  return formatAmount(debits.has(row['type']) ? -value : value);
}
