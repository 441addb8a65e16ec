/**
 * The second judgement of a send, before it is paid: where limits differ by payee, its look-up says
 * who is paid; and a send that is resumed was judged at the time of its first request.
 */
import type { Context } from '../context/context.ts';
import type { PayeeClass } from '../domain/payee-limits.ts';
import { AppError } from '../errors.ts';
import { findTerms, storePayeeClass } from '../ledger/spending-limit-repository.ts';
import { ruleRefusal } from './rule-refusal.ts';
import { limitOfPayees, refuseOverLimit, settingsDifferByPayee } from './spending-limits.ts';
import { failOverLimit } from './unpaid-send.ts';
import { releaseClaim } from './release-claim.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';

/** A send whose key this request has claimed. */
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
    const { version, isByPayee } = limits;
    const isLimited = limit.leftCents !== null;
    if (!isLimited && !isByPayee && !settingsDifferByPayee(context.config)) return true;
    const judged = { payeeClass, version, since: isLimited ? limit.period.beganAt : null };
    const refusal = refuseOverLimit(limit, order.amountCents);
    const result = refusal ? 'refused' : await storePayeeClass(context, transaction, judged);
    if (result === 'refused' || result === 'earlier') {
      await failOverLimit(context, send, refusal ?? refuseEarlier);
      return false;
    }
    if (result !== 'changed') return result === 'stored';
  }
  await releaseClaim(context, transaction);
  throw new AppError('BUSY', { order: { outcome: 'unknown' } });
}

/** A send counts in the period of its first request: in a later one it would count nowhere. */
const refuseEarlier = ruleRefusal('LIMIT_EXCEEDED', 'amount', {
  en: 'This payment was requested before your present limit began. Make it again.',
  pt: 'Este pagamento foi pedido antes do início do seu limite atual. Faça-o de novo.',
});
