/** The caller's account for payments, charges and Pix keys. */
import type { LocalContext } from '../context/context.ts';
import type { AccountStatus } from '../domain/account.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import type { AccountRef } from '../provider/provider.ts';
import type { Payer } from '../domain/principal.ts';

const incomplete: Text = {
  en: 'Your account is not complete yet: document, agency and account number are needed.',
  pt: 'Sua conta ainda não está completa: faltam documento, agência ou número da conta.',
};

const onlyHere: Text = {
  en: 'Your account is not known to the bank yet. Log in again.',
  pt: 'O banco ainda não reconhece sua conta. Entre novamente.',
};

const inactive: Readonly<Record<Exclude<AccountStatus, 'ACTIVE'>, Text>> = {
  PENDING: {
    en: 'Your account is still under analysis.',
    pt: 'Sua conta ainda está em análise.',
  },
  REJECTED: { en: 'Your account was not approved.', pt: 'Sua conta não foi aprovada.' },
  BLOCKED: {
    en: 'Your account is blocked. Please contact support.',
    pt: 'Sua conta está bloqueada. Entre em contato com o atendimento.',
  },
};

/**
 * A condition in SQL: the provider knows an account. A local one has a number that this service
 * generated, which only the simulated bank may receive (`namesLocal`).
 */
export function isKnownToProvider(provider: string, namesLocal: string): string {
  return `(${provider} = 'provider' or ${namesLocal})`;
}

/** What the provider needs of an account, as conditions in SQL. */
const needed: Readonly<Record<keyof AccountRef, string>> = {
  agency: "agency <> ''",
  accountNumber: "account_number <> ''",
  document: "account_document <> ''",
};

/** The condition of {@link accountForPix} in SQL, for the statement that reserves a send. */
export const mayPay = [
  "account_status = 'ACTIVE'",
  isKnownToProvider('account_provider', 'names_local'),
  ...Object.values(needed),
].join(' and ');

/**
 * Returns the complete account for reads, whatever its status.
 * @throws AppError VALIDATION_FAILED naming `account` when it is incomplete, or local and the
 *   provider is not the simulated bank.
 */
export function completeAccount({ config }: LocalContext, { account }: Payer): AccountRef {
  if (account?.provider === 'local' && !config.provider.stub) {
    throw invalidField('account', onlyHere);
  }
  const { agency, accountNumber, document } = account ?? {};
  if (!agency || !accountNumber || !document) throw invalidField('account', incomplete);
  return { agency, accountNumber, document };
}

/**
 * Returns the complete account for changes.
 * @throws AppError VALIDATION_FAILED naming `account` when it is incomplete or not ACTIVE.
 */
export function accountForPix(context: LocalContext, payer: Payer): AccountRef {
  const status = payer.account?.status ?? null;
  if (status !== 'ACTIVE') throw inactiveAccount(status);
  return completeAccount(context, payer);
}

/** Like {@link accountForPix}, with the refusal as a value. */
export function accountOrRefusal(context: LocalContext, payer: Payer): AccountRef | AppError {
  try {
    return accountForPix(context, payer);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/**
 * The refusal for an account that is not ACTIVE.
 * @param status null when there is no account.
 */
export function inactiveAccount(status: keyof typeof inactive | null): AppError {
  return invalidField('account', status === null ? incomplete : inactive[status]);
}
