/**
 * Charges: what the app is answered about them at every moment, and what they must be at rest. A
 * charge is COMPLETED when a PIX with its identification and its amount has come in and an event
 * that was acknowledged says so, FAILED when one says that it has expired, or a day after it has;
 * until then it waits for its payer.
 */
import { centsFromDecimal } from '../../../src/domain/money.ts';
import type { PixStatus } from '../../../src/domain/pix.ts';
import type { Charge, Ledger } from '../bank/ledger.ts';
import type { Names } from '../names.ts';
import type { Scheduler } from '../scheduler.ts';
import type { StoredCustomer } from '../store.ts';
import type { Accounts } from './accounts.ts';
import type { FinalRow } from './stored-rows.ts';
import type { LostCommits } from './lost-commits.ts';
import type { Expiries } from './expiries.ts';
import type { Receipts } from './receipts.ts';
import { nameOf, type Ask } from './requests.ts';

/** What came back. */
export interface ChargeAnswer {
  readonly status: number;
  /** The fields of a 422. */
  readonly fields: readonly string[];
  readonly charge: {
    readonly transactionId: string;
    readonly status: PixStatus;
    /** `copy_paste`. */
    readonly code: string | null;
  } | null;
}

export interface ChargesOptions {
  readonly ledger: Ledger;
  readonly accounts: Accounts;
  readonly lost: LostCommits;
  readonly receipts: Receipts;
  readonly expiries: Expiries;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly violated: (text: string) => void;
}

/** The code of a charge as the app was told it, and the step that it was told at. */
interface ToldCode {
  readonly code: string;
  readonly at: number;
}

export class Charges {
  /** The transaction of each key, by `customer/key`, as the app was told. */
  readonly transactions = new Map<string, string>();
  readonly violated: (text: string) => void;
  readonly #options: ChargesOptions;
  /** The amounts that the app has asked for under a key. */
  readonly #asked = new Map<string, Set<number>>();
  readonly #codes = new Map<string, ToldCode>();

  constructor(options: ChargesOptions) {
    this.#options = options;
    this.violated = options.violated;
  }

  asked(customer: StoredCustomer, key: string, amountCents: number): void {
    const name = nameOf(customer, key);
    this.#asked.set(name, (this.#asked.get(name) ?? new Set()).add(amountCents));
  }

  /** The service has answered a request about a charge. */
  told(ask: Ask, { status, fields, charge }: ChargeAnswer): void {
    const { accounts, scheduler } = this.#options;
    const name = nameOf(ask.customer, ask.key);
    scheduler.count(`charge answered ${status}`);
    if (status === 422) {
      const isOther = fields.includes('Idempotency-Key') && (this.#asked.get(name)?.size ?? 0) > 1;
      const isBlocked =
        fields.includes('account') && accounts.wasBlockedSince(ask.customer.id, ask.askedAt);
      if (!isOther && !isBlocked) this.violated(`the charge ${name} was refused for no reason`);
    }
    if (!charge || this.#isTakenBack) return;
    const known = this.transactions.get(name) ?? charge.transactionId;
    if (known !== charge.transactionId) this.violated(`the charge ${name} has two transactions`);
    this.transactions.set(name, known);
    this.#checkCode(ask, charge);
  }

  /** After a failover the rows of charges may be others, and so may what the app is told. */
  get #isTakenBack(): boolean {
    return this.#options.lost.failedOverAt !== null;
  }

  #checkCode(ask: Ask, { code, status }: NonNullable<ChargeAnswer['charge']>): void {
    const { ledger, scheduler } = this.#options;
    const name = nameOf(ask.customer, ask.key);
    const told = this.#codes.get(name);
    if (told && code === null && ask.askedAt > told.at) {
      this.violated(`the app was told the code of the charge ${name}, then none`);
    }
    const named = told && ledger.charges.find(({ copyPaste }) => copyPaste === told.code);
    if (told && status === 'FAILED' && !(named && this.#options.expiries.mayHaveEnded(named))) {
      this.violated(`the app was told the code of the charge ${name}, then that it failed`);
    }
    if (code === null) return;
    if (told && told.code !== code) this.violated(`the charge ${name} has two codes`);
    if (!told) this.#codes.set(name, { code, at: scheduler.taken });
    const made = ledger.charges.find(({ copyPaste }) => copyPaste === code);
    const amounts = this.#asked.get(name);
    if (made?.customer !== ask.customer || !amounts?.has(made.amountCents)) {
      this.violated(`the app was told a code of the charge ${name} that is another one's`);
    }
  }

  /** Checks the rows of charges, at rest. */
  check(rows: readonly FinalRow[]): void {
    const { ledger } = this.#options;
    const charges = rows.filter(({ operation }) => operation === 'CHARGE');
    for (const row of charges) {
      const made = ledger.charges.filter((one) => belongs(one, row));
      this.#checkRow(row, made);
      this.#checkEnd(row, made[0] ?? null);
    }
    if (this.#isTakenBack) return;
    for (const charge of ledger.charges) {
      if (charges.some((row) => belongs(charge, row))) continue;
      this.violated(`the bank has made a charge ${charge.bankId} that is in no transaction`);
    }
    const ids = new Set(charges.map(({ id }) => id));
    for (const [name, id] of this.transactions) {
      if (!ids.has(id)) this.violated(`the charge ${name} has vanished`);
    }
  }

  #checkRow(row: FinalRow, made: readonly Charge[]): void {
    const name = this.#options.names.of('charge', row.id);
    const isIssued = row.status !== 'PROCESSING' || row.phase === 'ACCEPTED';
    const checks: readonly (readonly [boolean, string])[] = [
      [made.length <= 1, 'was made more than once'],
      [isIssued, `was left in ${row.phase}`],
      [row.phase !== 'ACCEPTED' || made.length === 1, 'has a code that nobody has made'],
      [
        row.status !== 'FAILED' ||
          !this.#codeOf(row) ||
          this.#isTakenBack ||
          made.some((one) => this.#options.expiries.mayHaveEnded(one)),
        'has FAILED after its code was told',
      ],
      [
        made.every(({ amountCents }) => amountCents === centsFromDecimal(row.amount)),
        'was made with another amount',
      ],
    ];
    for (const [holds, sentence] of checks) if (!holds) this.violated(`${name} ${sentence}`);
  }

  #codeOf({ user_id: userId, idempotency_key: key }: FinalRow): ToldCode | undefined {
    const customer = this.#options.ledger.customers.find(({ id }) => id === userId);
    return customer && this.#codes.get(nameOf(customer, String(key)));
  }

  /** Its end is what the events that were acknowledged say, and nothing else. */
  #checkEnd(row: FinalRow, charge: Charge | null): void {
    const { receipts, scheduler, names } = this.#options;
    const paid = charge ? receipts.tellingPaid(charge) : [];
    const name = names.of('charge', row.id);
    scheduler.count(
      `charge ${row.status} ${row.phase}, paid ${charge ? receipts.paidTimes(charge) : 0} times`,
    );
    if (row.status === 'COMPLETED') {
      const isTold = paid.some(
        ({ endToEnd }) => row.end_to_end === null || endToEnd === row.end_to_end,
      );
      if (!isTold) this.violated(`${name} is COMPLETED and no event says that it was paid`);
    } else if (row.status === 'PROCESSING' && paid.length > 0) {
      this.violated(`${name} is ${row.phase}: an event that was acknowledged says it was paid`);
    } else if (row.status === 'PROCESSING') {
      const ended = charge && this.#options.expiries.whyEnded(charge);
      if (ended !== null) this.violated(`${name} is ${row.phase}: ${ended}`);
      const lack = charge ? receipts.whatLacks(charge) : 'the bank has made no such charge';
      scheduler.note(`${name} stays ${row.phase}: ${lack}`);
      scheduler.count(`lacks: ${lack}`);
    }
  }
}

/** By the identification: it is one charge's. */
function belongs({ txid, customer }: Charge, row: FinalRow): boolean {
  return row.user_id === customer.id && row.transaction_identification === txid;
}
