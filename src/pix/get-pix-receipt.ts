import type { PixReceipt, PixReceiptParty } from '../../contract/types.ts';
import type { Bank } from '../domain/bank.ts';
import { transactionType } from '../domain/pix.ts';
import { maskTaxId } from '../domain/tax-id.ts';
import { AppError, type Locale } from '../errors.ts';
import type { TokenOperation } from '../context/operation.ts';
import { readReceipt, type ReceiptFacts } from '../ledger/history-repository.ts';
import { correctionPart, failurePart } from './transaction-reply.ts';
import { bankPart, keyPart, otherParty, shownIds } from './shown-parties.ts';

/**
 * The receipt of a stored transaction. Unknown fields are omitted; of a payer who is not the user,
 * only that of a refund is known.
 */
export const getPixReceipt: TokenOperation<'getPixReceipt'> = {
  access: 'token',
  checksSession: true,
  async run(context, { input, token, request }) {
    const facts = await readReceipt(context, token, input.path.transactionId);
    if (!facts) throw new AppError('NOT_FOUND');
    const { bank } = context.config.provider;
    const issuedAt = context.clock.now().toISOString();
    return {
      status: 200,
      body: {
        ...transactionPart(facts, request.locale),
        ...parties(facts, bank),
        issued_at: issuedAt,
      },
    };
  },
};

function transactionPart(facts: ReceiptFacts, locale: Locale): Omit<PixReceipt, 'issued_at'> {
  const { id, operation, status, amount, createdAt, settledAt, expiresAt, description } = facts;
  const { refundedAmount } = facts;
  return {
    transaction_id: id,
    type: transactionType(operation),
    status,
    // Exact: a double represents every decimal of fifteen digits.
    amount: Number(amount),
    currency: 'BRL',
    created_at: createdAt.toISOString(),
    ...(settledAt !== null && { settled_at: settledAt.toISOString() }),
    ...(expiresAt !== null && { expires_at: expiresAt.toISOString() }),
    ...correctionPart(facts),
    ...shownIds(facts),
    ...(refundedAmount !== null && { refunded_amount: Number(refundedAmount) }),
    ...(description !== null && { description }),
    ...failurePart(facts, locale),
  };
}

/** The user is the payer of a send and of a refund, and the payee of everything else. */
function parties(facts: ReceiptFacts, bank: Bank): Pick<PixReceipt, 'payer' | 'payee'> {
  const user = userParty(facts, bank);
  const pays = facts.operation === 'SEND' || facts.operation === 'REFUND_OUT';
  const own = pays ? { payer: user } : { payee: { ...user, ...keyPart(facts.pixKey) } };
  return { ...otherParty(facts, bank), ...own };
}

/** Only an account at the provider has its institution. */
function userParty({ name, document, provider }: ReceiptFacts, bank: Bank): PixReceiptParty {
  const masked = document === null ? null : maskTaxId(document);
  return {
    name,
    ...(masked !== null && { document: masked }),
    ...(provider === 'provider' && bankPart(bank)),
  };
}
