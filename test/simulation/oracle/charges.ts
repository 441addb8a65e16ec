/**
 * Checks every response about a charge, and the stored charges at rest. A charge is COMPLETED when
 * an acknowledged event, or its owner's statement, reports a PIX with its identification and its
 * amount for its owner, and FAILED when an event reports that it has expired, or a day after its
 * expiry; until then it is open. A FAILED charge that was paid becomes COMPLETED.
 */
import { centsFromDecimal } from '../../../src/domain/money.ts';
import type { PixStatus } from '../../../src/domain/pix.ts';
import type { Charge, Ledger, Receipt } from '../bank/ledger.ts';
import type { Names } from '../names.ts';
import type { Scheduler } from '../scheduler.ts';
import type { StoredCustomer } from '../store.ts';
import type { Accounts } from './accounts.ts';
import type { FinalRow } from './stored-rows.ts';
import type { LostCommits } from './lost-commits.ts';
import type { Expiries } from './expiries.ts';
import type { Receipts } from './receipts.ts';
import { makeName, type AppRequest } from './requests.ts';

/** The response to a request about a charge. */
export interface ChargeResponse {
  readonly status: number;
  /** The fields of a 422. */
  readonly fields: readonly string[];
  readonly charge: {
    readonly transactionId: string;
    readonly status: PixStatus;
    /** The field `copy_paste`. */
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

/** The code of a charge that the app has received, and the step of that response. */
interface ReportedCode {
  readonly code: string;
  readonly at: number;
}

export class Charges {
  /** The transaction of each key in the responses to the app, by `customer/key`. */
  readonly transactions = new Map<string, string>();
  readonly violated: (text: string) => void;
  readonly #options: ChargesOptions;
  /** The amounts that the app has requested under a key. */
  readonly #requested = new Map<string, Set<number>>();
  readonly #codes = new Map<string, ReportedCode>();

  constructor(options: ChargesOptions) {
    this.#options = options;
    this.violated = options.violated;
  }

  requested(customer: StoredCustomer, key: string, amountCents: number): void {
    const name = makeName(customer, key);
    this.#requested.set(name, (this.#requested.get(name) ?? new Set()).add(amountCents));
  }

  /** The service has answered a request about a charge. */
  answered(request: AppRequest, { status, fields, charge }: ChargeResponse): void {
    const { accounts, scheduler } = this.#options;
    const name = makeName(request.customer, request.key);
    scheduler.count(`charge answered ${status}`);
    if (status === 422) {
      const isOther =
        fields.includes('Idempotency-Key') && (this.#requested.get(name)?.size ?? 0) > 1;
      const isBlocked =
        fields.includes('account') &&
        accounts.wasBlockedSince(request.customer.id, request.requestedAt);
      if (!isOther && !isBlocked) this.violated(`the charge ${name} was refused without a reason`);
    }
    if (!charge || this.#isRolledBack) return;
    const known = this.transactions.get(name) ?? charge.transactionId;
    if (known !== charge.transactionId) this.violated(`the charge ${name} has two transactions`);
    this.transactions.set(name, known);
    this.#checkCode(request, charge);
  }

  /** Whether a failover has occurred: rows and responses may then differ from earlier ones. */
  get #isRolledBack(): boolean {
    return this.#options.lost.failedOverAt !== null;
  }

  #checkCode(request: AppRequest, { code, status }: NonNullable<ChargeResponse['charge']>): void {
    const { ledger, scheduler } = this.#options;
    const name = makeName(request.customer, request.key);
    const reported = this.#codes.get(name);
    if (reported && code === null && request.requestedAt > reported.at) {
      this.violated(`the app received the code of the charge ${name}, then none`);
    }
    const named = reported && ledger.charges.find(({ copyPaste }) => copyPaste === reported.code);
    if (reported && status === 'FAILED' && !(named && this.#options.expiries.mayHaveEnded(named))) {
      this.violated(`the app received the code of the charge ${name}, then FAILED`);
    }
    if (code === null) return;
    if (reported && reported.code !== code) this.violated(`the charge ${name} has two codes`);
    if (!reported) this.#codes.set(name, { code, at: scheduler.taken });
    const made = ledger.charges.find(({ copyPaste }) => copyPaste === code);
    const amounts = this.#requested.get(name);
    if (made?.customer !== request.customer || !amounts?.has(made.amountCents)) {
      this.violated(`the app received the code of another charge for ${name}`);
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
    if (this.#isRolledBack) return;
    for (const charge of ledger.charges) {
      if (charges.some((row) => belongs(charge, row))) continue;
      this.violated(`the bank has created a charge ${charge.bankId} that is in no transaction`);
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
      [made.length <= 1, 'was created more than once'],
      [isIssued, `was left in ${row.phase}`],
      [row.phase !== 'ACCEPTED' || made.length === 1, 'has a code that the bank has not issued'],
      [
        row.status !== 'FAILED' ||
          !this.findCode(row) ||
          this.#isRolledBack ||
          made.some((one) => this.#options.expiries.mayHaveEnded(one)),
        'has FAILED after the app received its code',
      ],
      [
        made.every(({ amountCents }) => amountCents === centsFromDecimal(row.amount)),
        'was created with another amount',
      ],
    ];
    for (const [holds, sentence] of checks) if (!holds) this.violated(`${name} ${sentence}`);
  }

  findCode({ user_id: userId, idempotency_key: key }: FinalRow): ReportedCode | undefined {
    const customer = this.#options.ledger.customers.find(({ id }) => id === userId);
    return customer && this.#codes.get(makeName(customer, String(key)));
  }

  /** The payments of a charge, with its amount, that a whole statement of its owner has shown. */
  #shownPayments(charge: Charge): Receipt[] {
    const { ledger } = this.#options;
    return ledger.receipts.filter(
      (one) =>
        one.charge === charge &&
        one.amountCents === charge.amountCents &&
        ledger.shown.has(one.endToEnd),
    );
  }

  /** Checks that the final status is the one that the acknowledged events report. */
  #checkEnd(row: FinalRow, charge: Charge | null): void {
    const { receipts, scheduler, names } = this.#options;
    const paid = charge ? receipts.reportedPayments(charge) : [];
    const name = names.of('charge', row.id);
    scheduler.count(
      `charge ${row.status} ${row.phase}, paid ${charge ? receipts.paidTimes(charge) : 0} times`,
    );
    if (row.status === 'COMPLETED') {
      const proven = charge
        ? [...receipts.possiblyReportedPayments(charge), ...this.#shownPayments(charge)]
        : [];
      const isProven = proven.some(
        ({ endToEnd }) => row.end_to_end === null || endToEnd === row.end_to_end,
      );
      if (!isProven) {
        this.violated(`${name} is COMPLETED and neither an event nor a statement proves it`);
      }
    } else if (row.status === 'FAILED' && charge && receipts.isReportedForOwner(charge)) {
      this.violated(`${name} is FAILED: an acknowledged event reports its payment`);
    } else if (row.status === 'PROCESSING' && paid.length > 0) {
      this.violated(`${name} is ${row.phase}: an acknowledged event reports its payment`);
    } else if (row.status === 'PROCESSING') {
      const ended = charge && this.#options.expiries.whyEnded(charge);
      if (ended !== null) this.violated(`${name} is ${row.phase}: ${ended}`);
      const lack = charge ? receipts.whyUnpaid(charge) : 'the bank has not created the charge';
      scheduler.note(`${name} stays ${row.phase}: ${lack}`);
      scheduler.count(`lacks: ${lack}`);
    }
  }
}

/** Whether a charge belongs to a row; its identification is unique for a customer. */
function belongs({ txid, customer }: Charge, row: FinalRow): boolean {
  return row.user_id === customer.id && row.transaction_identification === txid;
}
