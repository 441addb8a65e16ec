/** The money that customers receive, from each other and from other banks. */
import { randomUUID } from 'node:crypto';
import type { BankParts } from './parts.ts';
import type { Receipt } from './rows.ts';

/** The bank of payers who are no customers: an ISPB that no participant has. */
export const payersIspb = '99999999';

/** What is received; the rest follows from the customer. */
export type Credit = Pick<
  Receipt,
  'endToEnd' | 'email' | 'transactionIdentification' | 'amountCents' | 'key' | 'payer'
>;

/** Credits the customers. */
export class Receipts {
  readonly #options: BankParts;

  constructor(options: BankParts) {
    this.#options = options;
  }

  /** Credits a customer, once for a payment. The caller posts the webhook of the receipt. */
  credit(credit: Credit): Receipt {
    const { state, accounts, clock } = this.#options;
    const known = state.receipt(credit.endToEnd);
    if (known !== null) return known;
    const { agency, accountNumber, document, isDocumentMadeUp } = accounts.of(credit.email);
    const receipt: Receipt = {
      ...credit,
      row: 'receipt',
      id: randomUUID(),
      // A service that has registered the customer may know another document.
      receiver: { agency, accountNumber, ...(!isDocumentMadeUp && { document }) },
      atMs: clock.now().getTime(),
      webhooksLeft: 1,
    };
    state.save(receipt);
    return receipt;
  }
}
