import type { PixReceipt, PixReceiptParty } from '../../contract/types.ts';
import { normalisePixKey } from '../domain/pix-key.ts';
import { transactionType } from '../domain/pix.ts';
import { maskTaxId } from '../domain/tax-id.ts';
import { AppError, type Locale } from '../errors.ts';
import type { TokenOperation } from '../http/operation.ts';
import { failureReason } from './failure-reason.ts';
import { readReceipt, type ReceiptFacts } from './history-repository.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import { correctionPart } from './transaction-reply.ts';

/**
 * The receipt of a stored transaction. Unknown fields are omitted; of a payer who is not the user,
 * nothing is known.
 */
export const getPixReceipt: TokenOperation<'getPixReceipt'> = {
  access: 'token',
  checksSession: true,
  async run(context, { input, token, request }) {
    const facts = await readReceipt(context, token, input.path.transactionId);
    if (!facts) throw new AppError('NOT_FOUND');
    const { ispb } = context.config.provider;
    const issuedAt = context.clock.now().toISOString();
    return {
      status: 200,
      body: {
        ...transactionPart(facts, request.locale),
        ...parties(facts, ispb),
        issued_at: issuedAt,
      },
    };
  },
};

function transactionPart(facts: ReceiptFacts, locale: Locale): Omit<PixReceipt, 'issued_at'> {
  const { id, operation, status, amount, createdAt, settledAt, expiresAt, description } = facts;
  const reason = status === 'FAILED' ? failureReason(facts.failureCode) : null;
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
    ...refundPart(facts),
    ...correctionPart(facts),
    ...(description !== null && { description }),
    ...(reason !== null && { failure: { code: reason.code, message: reason.text[locale] } }),
  };
}

/** The ids, and the refunded amount. A refund has its return id as its end-to-end id. */
function refundPart({ endToEnd, originalId, originalEndToEnd, refundedAmount }: ReceiptFacts) {
  const ofPayment = originalId === null ? endToEnd : originalEndToEnd;
  return {
    ...(ofPayment !== null && { end_to_end: ofPayment }),
    ...(originalId !== null && {
      ...(endToEnd !== null && { return_id: endToEnd }),
      original_transaction_id: originalId,
    }),
    ...(refundedAmount !== null && { refunded_amount: Number(refundedAmount) }),
  };
}

/** The user is the payer of a send and of a refund, and the payee of everything else. */
function parties(facts: ReceiptFacts, ispb: string): Pick<PixReceipt, 'payer' | 'payee'> {
  const key = facts.pixKey === null ? {} : { key: shownKey(facts.pixKey) };
  const user = userParty(facts, ispb);
  const pays = facts.operation === 'SEND' || facts.operation === 'REFUND_OUT';
  if (!pays) return { payee: { ...user, ...key } };
  const payee = { ...ownerParty(facts.payee ?? {}), ...key };
  return { payer: user, ...(Object.keys(payee).length > 0 && { payee }) };
}

function ownerParty({ ispb, ...named }: ShownOwner): PixReceiptParty {
  return { ...named, ...(ispb !== undefined && { institution: { ispb } }) };
}

/** Only an account at the provider has its institution. */
function userParty({ name, document, provider }: ReceiptFacts, ispb: string): PixReceiptParty {
  const masked = document === null ? null : maskTaxId(document);
  return {
    name,
    ...(masked !== null && { document: masked }),
    ...(provider === 'provider' && { institution: { ispb } }),
  };
}

/** A key that is a document is masked like one. */
function shownKey(pixKey: string): string {
  const { kind, key } = normalisePixKey(pixKey);
  return (kind === 'CPF' || kind === 'CNPJ' ? maskTaxId(key) : null) ?? pixKey;
}
