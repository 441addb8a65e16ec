/** The bank's part of the directory of keys (DICT): the keys of its own customers. */
import { randomUUID } from 'node:crypto';
import type { PixKeyType } from '../../../domain/pix-key.ts';
import type { AccountRef, NewPixKey, ProviderPayload } from '../../provider.ts';
import { type BankResponse, brokenRule, done, refused } from './response.ts';
import type { PixKey } from './rows.ts';
import type { BankParts } from './parts.ts';

/** BCB, Manual Operacional do DICT: keys of one account of a person, and of a company. */
const maxKeys = { person: 5, company: 20 } as const;

const formats: Readonly<Record<PixKeyType, RegExp>> = {
  CPF: /^\d{11}$/,
  CNPJ: /^[0-9A-Z]{12}\d{2}$/,
  CELULAR: /^\+[1-9]\d{6,14}$/,
  E_MAIL: /^[^\s@A-Z]+@[^\s@A-Z]+$/,
  EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO: /^[0-9a-f-]{36}$/,
};

/** DICT holds no key longer than this; no pattern runs on a longer text. */
const maxKeyLength = 77;

/** The keys of the customers. */
export class PixKeys {
  readonly #options: BankParts;

  constructor(options: BankParts) {
    this.#options = options;
  }

  list(email: string, account: AccountRef): BankResponse<ProviderPayload> {
    const { state, ispb } = this.#options;
    const keys = [...state.customer(email).pixKeys.values()].map((key) => writeKey(ispb, key));
    return done({ account: writeAccount(ispb, account), keys });
  }

  create(email: string, { keyType, key, account }: NewPixKey): BankResponse<ProviderPayload> {
    const { state, ispb, clock } = this.#options;
    const { agency, accountNumber, document } = account;
    const pixKey: PixKey = {
      row: 'pix_key',
      key: keyType === 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO' ? randomUUID() : (key ?? ''),
      email,
      keyType,
      agency,
      accountNumber,
      document,
      atMs: clock.now().getTime(),
      isDeleted: false,
    };
    const rule = this.#findBrokenRule(pixKey);
    if (rule !== null) return brokenRule(rule);
    state.save(pixKey);
    return done(writeKey(ispb, pixKey));
  }

  delete(email: string, key: string): BankResponse<ProviderPayload> {
    const { state, ispb } = this.#options;
    const pixKey = state.customer(email).pixKeys.get(key);
    if (pixKey === undefined) return refused({ kind: 'not_found', reason: 'NotFound' });
    state.save({ ...pixKey, isDeleted: true });
    return done({ key, participant: ispb, reason: 'USER_REQUESTED' });
  }

  /** The rule that a new key breaks, in the directory's own words, or null. */
  #findBrokenRule({ email, keyType, key, document }: PixKey): string | null {
    const { state } = this.#options;
    if (key.length > maxKeyLength || !formats[keyType].test(key)) return 'EntryInvalid';
    const isDocument = keyType === 'CPF' || keyType === 'CNPJ';
    if (isDocument && key !== document) return 'EntryInvalid';
    if (state.pixKeys.has(key)) return 'EntryAlreadyExists';
    const limit = document.length === 11 ? maxKeys.person : maxKeys.company;
    return state.customer(email).pixKeys.size < limit ? null : 'EntryLimitExceeded';
  }
}

/** Writes a key as the directory does. */
function writeKey(ispb: string, pixKey: PixKey): ProviderPayload {
  const createdAt = new Date(pixKey.atMs).toISOString();
  return {
    key: pixKey.key,
    keyType: pixKey.keyType,
    account: writeAccount(ispb, pixKey),
    owner: {
      type: pixKey.document.length === 11 ? 'NATURAL_PERSON' : 'LEGAL_PERSON',
      taxIdNumber: pixKey.document,
    },
    creationDate: createdAt,
    keyOwnershipDate: createdAt,
  };
}

function writeAccount(
  ispb: string,
  { agency, accountNumber }: Pick<AccountRef, 'agency' | 'accountNumber'>,
): ProviderPayload {
  return { participant: ispb, branch: agency, accountNumber, accountType: 'TRAN' };
}
