/** The account that a PIX goes out of or comes in to, and whose keys are managed. */
import { AppError, type Text } from '../errors.ts';
import type { AccountRef } from '../provider/provider.ts';
import type { Payer } from './principal.ts';

const incomplete: Text = {
  en: 'Your account is not complete yet: document, agency and account number are needed.',
  pt: 'Sua conta ainda não está completa: faltam documento, agência ou número da conta.',
};

/**
 * @returns the caller's account, complete.
 * @throws AppError VALIDATION_FAILED naming `account` when a part of it is missing.
 */
export function accountForPix(payer: Payer): AccountRef {
  const { account, user } = payer;
  const document = account?.document ?? user.document;
  if (!account?.agency || !account.accountNumber || !document) {
    throw new AppError('VALIDATION_FAILED', { fields: { account: [incomplete] } });
  }
  return { agency: account.agency, accountNumber: account.accountNumber, document };
}
