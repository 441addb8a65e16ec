/** The incoming side of the bank: charges, their payments, and every other received PIX. */
import type { Chance } from '../chance.ts';
import type { StoredCustomer } from '../store.ts';
import { json, result, type BankResponse } from './responses.ts';
import {
  toPayeeIdentifiers,
  drawIdentifiers,
  drawOtherPayee,
  noIdentifiers,
  type PayeeIdentifiers,
} from './identifiers.ts';
import { portableKey, portableKeyOwners } from './listed-key.ts';
import type { Ids } from './ids.ts';
import type { Charge, Ledger, Payment, Receipt } from './ledger.ts';
import type { Policy } from './policy.ts';
import { writeReceivedNotice, type ReceivedNotice } from './received-notices.ts';

export interface CollectionsOptions {
  readonly policy: Policy;
  readonly ledger: Ledger;
  readonly chance: Chance;
  readonly ids: Ids;
  readonly nowMs: () => number;
  /** Sends a notice to the service; `again` writes another notice of the same receipt. */
  readonly post: (notice: ReceivedNotice, again: () => ReceivedNotice) => void;
  /** Called for each charge that was created: a payer may pay it. */
  readonly made: (charge: Charge) => void;
  /** Called for each received PIX: it may be refunded. */
  readonly received: (receipt: Receipt) => void;
}

/** The order of a charge, as the bank has received it. */
interface ChargeOrder {
  readonly kind: Charge['kind'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** The bank refuses to create a charge for this key. */
export const refusedChargeKey = 'reject@ponte.test';

/** Another institution, whose customers pay. */
const foreignIspb = '99999004';

/** The length to which a static code truncates the identification, in characters. */
const staticTxidLength = 25;

export class Collections {
  readonly #options: CollectionsOptions;

  constructor(options: CollectionsOptions) {
    this.#options = options;
  }

  /** Creates one charge for each identification. */
  makeCharge(customer: StoredCustomer, { kind, body }: ChargeOrder): BankResponse {
    const { ledger, policy, ids, made } = this.#options;
    const txid = String(body['transactionIdentification']);
    if (body['key'] === refusedChargeKey) {
      return {
        ...json(422, { code: 'CH01', message: 'Chave inválida' }),
        summary: 'charge refused',
      };
    }
    const known = ledger.charges.find((one) => one.customer === customer && one.txid === txid);
    if (known && policy.repeatedCharges === 'refused') {
      return { ...json(409, { message: 'Conflict' }), summary: 'charge conflict' };
    }
    if (known) return this.makeCode(known);
    const amount = Number(kind === 'dynamic' ? body['initialAmount'] : body['amount']);
    const bankId = `charge-${ids.next()}`;
    const terms = { key: String(body['key']), amountCents: Math.round(amount * 100) };
    const charge = { customer, txid, kind, bankId, ...terms };
    const seconds = Number(body['expirationQR']);
    const expiresAtMs = kind === 'dynamic' ? this.#options.nowMs() + seconds * 1_000 : null;
    const stored = { ...charge, copyPaste: `000201${bankId}`, expiresAtMs };
    ledger.makeCharge(stored);
    made(stored);
    return this.makeCode(stored);
  }

  /** A customer of another institution pays a charge. */
  pay(charge: Charge, amountCents: number): void {
    const { customer } = charge;
    this.#receive({ customer, charge, amountCents, endToEnd: this.#foreignEndToEnd() });
  }

  /**
   * A payer has copied the identification of a charge into a code of another payee, and pays that:
   * another customer, or somebody at another institution, whose receipt is not in the ledger.
   */
  payByCopiedCode(charge: Charge): void {
    const { ledger, chance, post, policy, ids, nowMs, received } = this.#options;
    const { amountCents, customer: owner } = charge;
    const [customer] = chance.shuffled(ledger.customers.filter((one) => one !== owner));
    const other = customer && chance.happens(0.5) ? customer : null;
    const payee = drawOtherPayee(chance, charge, other);
    const receipt: Receipt = {
      customer: other ?? owner,
      charge: null,
      amountCents,
      endToEnd: this.#foreignEndToEnd(),
      bankId: `in-${ids.next()}`,
      atMs: nowMs(),
    };
    if (other) ledger.receive(receipt);
    const write = (): ReceivedNotice => {
      const facts = { receipt, txid: this.#spelled(charge), payee, isCopied: true } as const;
      return writeReceivedNotice(chance, facts, policy.vocabulary);
    };
    post(write(), write);
    if (other) received(receipt);
  }

  /** A customer of another institution pays by the key that has got another owner. */
  payByPortableKey(amountCents: number): void {
    const { ledger, chance, post, policy, ids, nowMs } = this.#options;
    const customer = ledger.customers.find(({ name }) => name === portableKeyOwners[1]);
    if (!customer) return;
    const bankId = `in-${ids.next()}`;
    const came = { customer, charge: null, amountCents, endToEnd: this.#foreignEndToEnd() };
    const receipt: Receipt = { ...came, bankId, atMs: nowMs() };
    ledger.receive(receipt);
    const payee = { ...noIdentifiers, key: portableKey };
    const write = (): ReceivedNotice =>
      writeReceivedNotice(chance, { receipt, txid: null, payee }, policy.vocabulary);
    post(write(), write);
  }

  /** A customer of another institution pays a customer without a charge. */
  payCustomer(customer: StoredCustomer, amountCents: number): void {
    this.#receive({ customer, charge: null, amountCents, endToEnd: this.#foreignEndToEnd() });
  }

  /** One customer has paid another: both sides have the same end-to-end id. */
  credit({ endToEnd, amountCents }: Payment, customer: StoredCustomer): void {
    this.#receive({ customer, charge: null, amountCents, endToEnd });
  }

  #foreignEndToEnd(): string {
    const { ids, nowMs } = this.#options;
    return ids.endToEnd(foreignIspb, nowMs());
  }

  #receive(came: Pick<Receipt, 'customer' | 'charge' | 'amountCents' | 'endToEnd'>): void {
    const { ledger, ids, nowMs, post } = this.#options;
    const receipt = { ...came, bankId: `in-${ids.next()}`, atMs: nowMs() };
    ledger.receive(receipt);
    post(this.#write(receipt), () => this.#write(receipt));
    this.#options.received(receipt);
  }

  #write(receipt: Receipt): ReceivedNotice {
    const { chance, policy } = this.#options;
    const { charge } = receipt;
    const namesCharge = charge !== null && chance.happens(0.8);
    const facts = namesCharge
      ? { receipt, txid: this.#spelled(charge), payee: this.#payeeBeside(charge) }
      : { receipt, txid: null, payee: this.identifyPayee(receipt) };
    return writeReceivedNotice(chance, facts, policy.vocabulary);
  }

  identifyPayee({ customer }: Receipt): PayeeIdentifiers {
    const { chance, ledger } = this.#options;
    const others = ledger.customers.filter((one) => one !== customer);
    return drawIdentifiers(chance, customer, others);
  }

  /** Further identifiers of the payee; the identification of a charge is proof without them. */
  #payeeBeside({ customer, key }: Charge): PayeeIdentifiers {
    const { chance, ledger, policy } = this.#options;
    const [other] = chance.shuffled(ledger.customers.filter((one) => one !== customer));
    if (other && chance.happens(policy.foreignPayees)) return toPayeeIdentifiers(other);
    return chance.pick([noIdentifiers, { ...noIdentifiers, key }, toPayeeIdentifiers(customer)]);
  }

  #spelled({ kind, txid }: Charge): string {
    const isCut = kind === 'static' && this.#options.chance.happens(0.7);
    return isCut ? txid.slice(0, staticTxidLength) : txid;
  }

  makeCode({ txid, kind, bankId, copyPaste }: Charge): BankResponse {
    const { policy } = this.#options;
    const body = {
      id: bankId,
      ...(kind === 'dynamic' && { transactionIdentification: txid }),
      ...(policy.chargeCode === 'image' && { qrcode: 'iVBORw0KGgo=' }),
      ...(policy.chargeCode === 'bare' ? { qrcode: copyPaste } : { emv: copyPaste }),
    };
    return { ...result(policy, body), summary: 'charge' };
  }
}
