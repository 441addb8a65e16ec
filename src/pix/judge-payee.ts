/** The second judgement of a send, where limits differ by payee: its look-up says who is paid. */
import type { Context } from '../context/context.ts';
import type { PayeeClass } from '../domain/payee-limits.ts';
import { AppError } from '../errors.ts';
import { findTerms, storePayeeClass } from '../ledger/spending-limit-repository.ts';
import { limitOfPayees, refuseOverLimit } from './spending-limits.ts';
import { failOverLimit } from './unpaid-send.ts';
import { releaseClaim } from './unstarted-order.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';

/** A send whose key this request has acquired. */
interface JudgedSend {
  readonly transaction: PixTransaction;
  readonly order: { readonly amountCents: number };
}

/** More than a person orders at the same time: one of several sends is always judged. */
const maxAttempts = 50;

/**
 * Judges a send by who is paid, and stores that under the version of the limits that it was judged
 * by, before it is paid: of two sends at once, the second sees the payee of the first.
 * @returns whether the send may be paid; false: another process has moved it.
 * @throws AppError the refusal: the send is FAILED, and nothing was sent.
 */
export async function judgePayee(
  context: Context,
  send: JudgedSend,
  payeeClass: PayeeClass,
): Promise<boolean> {
  const { transaction, order } = send;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const now = context.clock.now();
    const excludedId = transaction.id;
    const { limits } = await findTerms(context, transaction.userId, { now, excludedId });
    const limit = limitOfPayees(limits, context.config, { payees: [payeeClass], now });
    const refusal = refuseOverLimit(limit, order.amountCents);
    if (refusal) {
      await failOverLimit(context, send, refusal);
      return false;
    }
    const { version } = limits;
    const result = await storePayeeClass(context, transaction, { payeeClass, version });
    if (result !== 'changed') return result === 'stored';
  }
  await releaseClaim(context, transaction);
  throw new AppError('BUSY', { order: { outcome: 'unknown' } });
}
