/** The bank's part of the directory of keys (DICT): the keys of its own customers. */
import type { AccountRef, NewPixKey, PixKeyType, ProviderPayload } from '../provider.ts';
import type { Refusal } from './answer.ts';
import type { KeyCreatedEntry } from './entries.ts';

/** BCB, Manual Operacional do DICT: keys of one account of a person, and of a company. */
const MAX_KEYS = { person: 5, company: 20 } as const;

const forms: Readonly<Record<PixKeyType, RegExp>> = {
  CPF: /^\d{11}$/,
  CNPJ: /^[0-9A-Z]{12}\d{2}$/,
  CELULAR: /^\+[1-9]\d{6,14}$/,
  E_MAIL: /^[^\s@A-Z]+@[^\s@A-Z]+$/,
  EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO: /^[0-9a-f-]{36}$/,
};

/** DICT holds no key longer than this; no pattern runs on a longer text. */
const MAX_KEY_LENGTH = 77;

/** The keys of the customers. */
export class PixKeys {
  readonly #keys = new Map<string, KeyCreatedEntry>();
  readonly #ofCustomer = new Map<string, Map<string, KeyCreatedEntry>>();

  /** The keys of a customer, oldest first. */
  of(email: string): KeyCreatedEntry[] {
    return [...(this.#ofCustomer.get(email)?.values() ?? [])];
  }

  /**
   * Why a key cannot be registered, with the directory's own words, or null.
   *
   * @param key the key itself, which for an EVP the directory has just drawn.
   */
  refusalOfNew(email: string, { keyType, account }: NewPixKey, key: string): Refusal | null {
    if (key.length > MAX_KEY_LENGTH || !forms[keyType].test(key)) return rule('EntryInvalid');
    const isDocument = keyType === 'CPF' || keyType === 'CNPJ';
    if (isDocument && key !== account.document) return rule('EntryInvalid');
    if (this.#keys.has(key)) return rule('EntryAlreadyExists');
    const limit = account.document.length === 11 ? MAX_KEYS.person : MAX_KEYS.company;
    return this.of(email).length < limit ? null : rule('EntryLimitExceeded');
  }

  /** Whether the key is this customer's. */
  isOf(email: string, key: string): boolean {
    return this.#ofCustomer.get(email)?.has(key) ?? false;
  }

  applyCreated(entry: KeyCreatedEntry): void {
    this.#keys.set(entry.key, entry);
    const own = this.#ofCustomer.get(entry.email) ?? new Map<string, KeyCreatedEntry>();
    this.#ofCustomer.set(entry.email, own.set(entry.key, entry));
  }

  applyDeleted({ email, key }: { readonly email: string; readonly key: string }): void {
    this.#keys.delete(key);
    this.#ofCustomer.get(email)?.delete(key);
  }
}

/** Writes a key as the directory does. */
export function keyPayload(ispb: string, entry: KeyCreatedEntry): ProviderPayload {
  const createdAt = new Date(entry.atMs).toISOString();
  return {
    key: entry.key,
    keyType: entry.keyType,
    account: accountPayload(ispb, entry),
    owner: {
      type: entry.document.length === 11 ? 'NATURAL_PERSON' : 'LEGAL_PERSON',
      taxIdNumber: entry.document,
    },
    creationDate: createdAt,
    keyOwnershipDate: createdAt,
  };
}

/** Writes the keys of an account as the provider does. */
export function keyListPayload(
  ispb: string,
  account: AccountRef,
  entries: readonly KeyCreatedEntry[],
): ProviderPayload {
  return {
    account: accountPayload(ispb, account),
    keys: entries.map((entry) => keyPayload(ispb, entry)),
  };
}

function accountPayload(
  ispb: string,
  { agency, accountNumber }: Pick<AccountRef, 'agency' | 'accountNumber'>,
): ProviderPayload {
  return { participant: ispb, branch: agency, accountNumber, accountType: 'TRAN' };
}

function rule(reason: string): Refusal {
  return { kind: 'rule', reason };
}
