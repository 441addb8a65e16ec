/** The provider's statement: its lines, and which of them prove a completed payment. */
import type { Payment } from './ledger.ts';
import type { Policy } from './policy.ts';
import { meaningOf } from './words.ts';

type Line = Readonly<Record<string, unknown>>;

/** The fee of a payment, listed with the same end-to-end id, in centavos. */
const feeCents = 35;

/**
 * Writes the statement of one customer.
 * @param payments the payments that were executed in the requested days.
 */
export function writeStatement(policy: Policy, payments: readonly Payment[]): unknown {
  const lines = payments.flatMap((payment) => linesOf(policy, payment));
  const { list } = policy.statement;
  if (list === 'array') return lines;
  return policy.wrapsAnswers && list !== 'data' ? { data: { [list]: lines } } : { [list]: lines };
}

/**
 * Whether the statement proves that a payment was completed: exactly one line with its id and its
 * amount, marked as a debit, with a documented final status.
 */
export function statementProves(policy: Policy, payment: Payment): boolean {
  return whatStatementLacks(policy, payment) === null;
}

/** The reason why the statement does not prove it; null when it does. */
export function whatStatementLacks(policy: Policy, payment: Payment): string | null {
  const { statement, vocabulary } = policy;
  if (payment.state !== 'completed') return `the payment is not completed`;
  if (statement.fees) return 'a fee has the id of the payment as well';
  if (statement.sign === 'none') return 'no line of the statement states a direction';
  if (statement.status === 'none') return 'no line of the statement has a status';
  return vocabulary.isKnown ? null : 'the words of the statement are not documented';
}

function linesOf(policy: Policy, payment: Payment): Line[] {
  const { holds, reversal, fees } = policy.statement;
  if (payment.state === 'under_way' && !holds) return [];
  if (payment.state === 'reversed' && reversal === 'removed') return [];
  const line = lineOf(policy, payment);
  const back = { ...line, ...(policy.statement.sign === 'minus' && { amount: reais(payment) }) };
  return [
    line,
    ...(payment.state === 'reversed' && reversal === 'credit' ? [{ ...back, type: 'CREDIT' }] : []),
    ...(payment.state === 'reversed' && reversal === 'same' ? [{ ...back, type: 'PIX' }] : []),
    ...(fees ? [{ ...line, amount: signed(policy, feeCents / 100), description: 'Tarifa' }] : []),
  ];
}

function lineOf(policy: Policy, payment: Payment): Line {
  const { sign, status, reversal } = policy.statement;
  // Unless the return updates its line, the line keeps the earlier status.
  const isUpdated = payment.state !== 'reversed' || reversal === 'status';
  const meaning = isUpdated ? meaningOf(payment) : 'completed';
  return {
    id: payment.bankId,
    date: new Date(payment.executedAtMs).toISOString(),
    endToEndId: payment.endToEnd,
    amount: signed(policy, reais(payment)),
    type: sign === 'direction' ? 'DEBIT' : 'PIX',
    ...(status === 'word' && { status: policy.vocabulary.status[meaning] }),
  };
}

function signed({ statement }: Policy, amount: number): number {
  return statement.sign === 'minus' ? -amount : amount;
}

function reais({ amountCents }: Payment): number {
  return amountCents / 100;
}
