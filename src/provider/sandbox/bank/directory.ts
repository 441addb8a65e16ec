/** The directory of keys (DICT): who is paid by a key. */
import { normalisePixKey } from '../../../domain/pix-key.ts';
import type { BankParts } from './parts.ts';
import type { Party } from './rows.ts';

/** The owners of the keys that no customer has: at another bank, everybody is one person. */
const stranger: Party = { name: 'Recebedor de Teste', document: '12345678909' };

const company = 'Empresa de Teste Ltda';

/** Finds who is paid by a key. */
export class Directory {
  readonly #options: BankParts;

  constructor(options: BankParts) {
    this.#options = options;
  }

  /**
   * Finds the customer who is paid by a key: the one who has registered it, otherwise the one whose
   * e-mail or document it is, or who has made a charge that is paid to it, unless that is the
   * payer. The default key of a charge is such an e-mail or document.
   *
   * @returns the customer's e-mail; null: the key is that of an account at another bank.
   */
  customer(key: string, payer: string): string | null {
    const { state, accounts } = this.#options;
    const holder = state.pixKeys.get(key)?.email ?? accounts.find(key);
    const maker = state.chargesOfKeys.get(key)?.email ?? null;
    return holder ?? (maker === payer ? null : maker);
  }

  /** Finds the owner of a key. A key that is a document is that of its owner. */
  owner(key: string, payer: string): Party {
    const email = this.customer(key, payer);
    if (email !== null) return this.#options.accounts.party(email);
    const { kind } = normalisePixKey(key);
    if (kind === 'CNPJ') return { name: company, document: key };
    return kind === 'CPF' ? { ...stranger, document: key } : stranger;
  }

  /** Whether an account has a key: money that names another key would have no owner. */
  has(email: string, key: string): boolean {
    const { state, accounts } = this.#options;
    const { document, isDocumentMadeUp } = accounts.of(email);
    return state.customer(email).pixKeys.has(key) || (document === key && !isDocumentMadeUp);
  }

  /** @returns the identification of the customer's charge that the txid names, or null. */
  chargeOf(email: string, txid: string, key: string): string | null {
    const charge = this.#options.state.chargeNamed(txid);
    const isOwn = charge?.email === email && charge.order.key === key;
    return isOwn ? charge.order.transactionIdentification : null;
  }
}
