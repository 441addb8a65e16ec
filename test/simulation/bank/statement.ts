/** The provider's statement: its lines, and which of them prove a completed payment. */
import type { OrderedReturn, Payment, Receipt } from './ledger.ts';
import { firstPage, mayBePage } from './pages.ts';
import type { Policy } from './policy.ts';
import { getMeaning } from './words.ts';

type Line = Readonly<Record<string, unknown>>;

/** The fee of a payment, listed with the same end-to-end id, in centavos. */
const feeCents = 35;

/** What happened to one customer's account in the requested days. */
interface Movements {
  readonly payments: readonly Payment[];
  readonly receipts: readonly Receipt[];
  readonly returns: readonly OrderedReturn[];
}

/**
 * Writes the statement of one customer.
 * @returns the body of the response, and whether it has every line and cannot be taken for a page.
 */
export function writeStatement(
  policy: Policy,
  { payments, receipts, returns }: Movements,
): { readonly body: unknown; readonly isWhole: boolean } {
  const { furtherPages, listsReceipts } = policy.adversary;
  const lines = [
    ...payments.flatMap((payment) => makeLines(policy, payment)),
    ...(listsReceipts ? receipts.map((receipt) => lineOfReceipt(policy, receipt)) : []),
    ...returns.flatMap((one) => lineOfReturn(policy, one)),
  ];
  const { list } = policy.statement;
  const page = firstPage(lines, furtherPages);
  if (page) return { body: { items: page.lines, ...page.beside }, isWhole: false };
  const isWhole = !mayBePage(lines);
  if (list === 'array') return { body: lines, isWhole };
  const isWrapped = policy.wrapsResponses && list !== 'data';
  return { body: isWrapped ? { data: { [list]: lines } } : { [list]: lines }, isWhole };
}

/**
 * The reason why the lines of a payment do not prove that it was made; null when they do: exactly
 * one with its id and its amount is marked as a debit with a documented final status, and no other
 * one has its id, except one that gives the money back.
 */
export function whatLinesLack(policy: Policy, payment: Payment): string | null {
  const { statement, vocabulary } = policy;
  if (payment.state !== 'completed') return `the payment is not completed`;
  if (statement.fees && !statement.booksAtOnce) return 'a fee has the id of the payment as well';
  if (statement.sign === 'none') return 'no line of the statement states a direction';
  if (statement.status === 'none') return 'no line of the statement has a status';
  return vocabulary.isKnown ? null : 'the words of the statement are not documented';
}

/** As `whatLinesLack`, with the pages of the statement. */
export function whatStatementLacks(policy: Policy, payment: Payment): string | null {
  if (policy.adversary.furtherPages !== null) return 'the statement has further pages';
  return whatLinesLack(policy, payment);
}

function makeLines(policy: Policy, payment: Payment): Line[] {
  const { holds, reversal, fees, booksAtOnce, listsBeside } = policy.statement;
  if (payment.state === 'under_way' && !holds && !booksAtOnce) return [];
  if (payment.state === 'reversed' && reversal === 'removed' && !booksAtOnce) return [];
  const line = makeLine(policy, payment);
  const back = { ...line, ...(policy.statement.sign === 'minus' && { amount: reais(payment) }) };
  const beside = listsBeside ? makeLinesBeside(policy, line) : [];
  if (booksAtOnce) {
    const isReversed = payment.state === 'reversed';
    return [...beside, line, ...(isReversed ? [{ ...back, type: 'ESTORNO' }] : [])];
  }
  return [
    ...beside,
    line,
    ...(payment.state === 'reversed' && reversal === 'credit' ? [{ ...back, type: 'CREDIT' }] : []),
    ...(payment.state === 'reversed' && reversal === 'same' ? [{ ...back, type: 'PIX' }] : []),
    ...(fees ? [{ ...line, amount: signed(policy, feeCents / 100), description: 'Tarifa' }] : []),
  ];
}

/** The fee and the hold of a payment, and its line from before it was settled. */
function makeLinesBeside({ statement, vocabulary }: Policy, line: Line): Line[] {
  const { completed, under_way: pending } = vocabulary.status;
  const wasPending = statement.status === 'word' && line['status'] === completed;
  return [
    { ...line, id: `fee-${String(line['id'])}`, type: 'TARIFA', amount: feeCents / 100 },
    { ...line, id: `hold-${String(line['id'])}`, type: 'BLOQUEIO' },
    ...(wasPending ? [{ ...line, status: pending }] : []),
  ];
}

function makeLine(policy: Policy, payment: Payment): Line {
  const { sign, status, reversal, booksAtOnce } = policy.statement;
  // Unless the return updates its line, the line keeps the earlier status.
  const isUpdated = payment.state !== 'reversed' || reversal === 'status';
  const meaning = isUpdated && !booksAtOnce ? getMeaning(payment) : 'completed';
  return {
    id: payment.bankId,
    date: new Date(payment.executedAtMs).toISOString(),
    endToEndId: payment.endToEnd,
    ...(policy.statement.namesRequests && { clientRequestId: payment.clientRequestId }),
    amount: signed(policy, reais(payment)),
    type: sign === 'direction' ? 'DEBIT' : 'PIX',
    ...(status === 'word' && { status: policy.vocabulary.status[meaning] }),
  };
}

function lineOfReceipt(
  { statement, vocabulary }: Policy,
  { bankId, atMs, endToEnd, charge, amountCents }: Receipt,
): Line {
  return {
    id: bankId,
    date: new Date(atMs).toISOString(),
    endToEndId: endToEnd,
    ...(charge && { transactionIdentification: charge.txid }),
    amount: amountCents / 100,
    type: 'CREDIT',
    ...(statement.status === 'word' && { status: vocabulary.status.completed }),
  };
}

/** A return that failed has no line. */
function lineOfReturn(policy: Policy, made: OrderedReturn): Line[] {
  const { sign, status, holds } = policy.statement;
  if (made.state === 'reversed' || (made.state === 'under_way' && !holds)) return [];
  const meaning = made.state === 'completed' ? 'completed' : 'under_way';
  return [
    {
      id: made.bankId,
      date: new Date(made.executedAtMs).toISOString(),
      returnId: made.returnId,
      originalEndToEnd: made.endToEnd,
      amount: signed(policy, made.amountCents / 100),
      type: sign === 'direction' ? 'DEBIT' : 'PIX',
      ...(status === 'word' && { status: policy.vocabulary.status[meaning] }),
    },
  ];
}

/** Whether the statement proves a return that was completed. */
export function provesReturn({ statement, vocabulary, adversary }: Policy): boolean {
  return (
    adversary.furtherPages === null &&
    statement.sign !== 'none' &&
    statement.status === 'word' &&
    vocabulary.isKnown
  );
}

function signed({ statement }: Policy, amount: number): number {
  return statement.sign === 'minus' ? -amount : amount;
}

function reais({ amountCents }: Payment): number {
  return amountCents / 100;
}
