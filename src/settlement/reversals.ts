/**
 * Money that came back under the end-to-end id of a send, without a return id: a bank books a
 * rejected payment as a debit and its reversal. It ends nothing here; after COMPLETED it is
 * recorded as money back.
 */
import type { LocalContext } from '../context/context.ts';
import { centsFromDecimal } from '../domain/money.ts';
import type { ClearLine } from './statement-movements.ts';
import type { StoredMovement } from './movement-repository.ts';
import { storeReversal } from '../ledger/reversal-repository.ts';
import {
  aboutMovement,
  nothing,
  onlyDifference,
  type LineResult,
  type SettleLineOptions,
} from './settle-line.ts';
import type { ReversedPayment } from './statement-lines.ts';

/** Settles a payment whose money came back. It may be repeated. */
export async function settleReversed(
  context: LocalContext,
  reversed: ReversedPayment,
  options: Omit<SettleLineOptions, 'reading'>,
): Promise<LineResult> {
  const { debits, reversals, isUndone } = reversed;
  const line = debits[0] ?? reversals[0];
  if (!line) return nothing;
  const sends = options.stored.filter(({ operation }) => operation === 'SEND');
  const send = sends.find(({ userId }) => userId === options.userId);
  if (!send && sends.length > 0) {
    return onlyDifference(line, { kind: 'UNPROVEN', reason: 'other_account' });
  }
  if (!send) {
    const received = options.stored.find((one) => isReceipt(one, options.userId));
    if (received)
      return onlyDifference(line, aboutMovement(received, 'OTHER_STATUS', 'taken_back'));
    // No money has moved: nothing is missing here.
    return isUndone
      ? nothing
      : onlyDifference(line, { kind: 'MISSING_HERE', reason: 'payment_out' });
  }
  const cents = centsFromDecimal(send.amount);
  if (debits.length > 0 && debits.every(({ amountCents }) => amountCents !== cents)) {
    return onlyDifference(line, aboutMovement(send, 'DIFFERENT_AMOUNT', 'amount_mismatch'));
  }
  const isFailure = debits.length > 0 && debits.every(({ status }) => status === 'FAILED');
  if (send.status === 'COMPLETED') return recordReversals(context, send, { reversals, options });
  const agrees = send.status === 'FAILED' && (isUndone || isFailure || debits.length === 0);
  const reason = isFailure ? 'failed_there' : 'money_back';
  return agrees ? nothing : onlyDifference(line, aboutMovement(send, 'OTHER_STATUS', reason));
}

/** Whether a user has received the money of a transaction: a debit under its id takes it back. */
function isReceipt({ userId, operation, status }: StoredMovement, ofUser: number): boolean {
  const isIn = operation === 'CHARGE' || operation === 'RECEIVED';
  return userId === ofUser && isIn && status === 'COMPLETED';
}

interface Reversals {
  readonly reversals: readonly ClearLine[];
  readonly options: Pick<SettleLineOptions, 'isDryRun'>;
}

/** Records each settled reversal, unless a refund of the same amount records it. */
async function recordReversals(
  context: LocalContext,
  send: StoredMovement,
  { reversals, options: { isDryRun } }: Reversals,
): Promise<LineResult> {
  const settled = reversals.filter(({ status }) => status === 'COMPLETED');
  const results: LineResult[] = [];
  const counts = new Map<number, number>();
  for (const line of settled) {
    const { amountCents, ids } = line;
    const nth = (counts.get(amountCents) ?? 0) + 1;
    counts.set(amountCents, nth);
    const { providerTxid } = ids;
    const reversal = { originalId: send.id, amountCents, nth, providerTxid };
    const stored = await storeReversal(context, reversal, { isDryRun });
    results.push(describe(line, send, stored));
  }
  return {
    done: results.flatMap(({ done }) => done),
    differences: results.flatMap(({ differences }) => differences),
  };
}

function describe(
  line: ClearLine,
  send: StoredMovement,
  stored: Awaited<ReturnType<typeof storeReversal>>,
): LineResult {
  switch (stored.kind) {
    case 'known':
      return nothing;
    case 'stored': {
      const { endToEnd } = line.ids;
      const { amountCents } = line;
      const done = { action: 'returned', transactionId: stored.id, endToEnd, amountCents } as const;
      return { done: [done], differences: [] };
    }
    case 'unclear':
      return onlyDifference(line, aboutMovement(send, 'DIFFERENT_AMOUNT', 'reversed_again'));
    case 'exceeds':
      return onlyDifference(line, aboutMovement(send, 'DIFFERENT_AMOUNT', 'refunds_exceed_amount'));
    case 'changed':
      // The next reading finds how.
      return onlyDifference(line, aboutMovement(send, 'OTHER_STATUS', 'money_back'));
  }
}
