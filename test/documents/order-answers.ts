/**
 * Every answer about an order: the rows of the table "What the app does next" in
 * contract/README.md.
 * The service's own function decides the last column.
 */
import type { PixStatus } from '../../src/domain/pix.ts';
import { nextStep, type OrderAnswer } from '../../src/domain/pix-next.ts';
import type { OrderDoubt } from '../../src/errors.ts';

/** A row of the table. */
export interface OrderAnswerRow {
  readonly statuses: readonly number[];
  /** What else tells the answer from others of its status. */
  readonly mark: string;
  /** The values of `Pix-Outcome`. */
  readonly outcome: string;
  readonly meaning: string;
  readonly order: OrderAnswer['order'];
  readonly doubt: OrderDoubt | null;
}

interface Row {
  readonly statuses: readonly number[];
  readonly mark?: string;
  readonly outcome: string;
  readonly meaning: string;
  readonly stored?: PixStatus;
  readonly failureCode?: string;
  readonly doubt?: OrderDoubt;
}

const rows: readonly Row[] = [
  {
    statuses: [200],
    mark: '`COMPLETED`',
    outcome: '`accepted`',
    meaning: 'it is paid; with `corrected_at`, although it had been `FAILED`',
    stored: 'COMPLETED',
  },
  {
    statuses: [200],
    mark: '`PROCESSING`',
    outcome: '`accepted`',
    meaning: 'the bank has accepted it',
    stored: 'PROCESSING',
  },
  {
    statuses: [200],
    mark: '`PROCESSING`',
    outcome: '`unknown`',
    meaning: 'it may have been paid',
    stored: 'PROCESSING',
  },
  {
    statuses: [200],
    mark: '`FAILED`',
    outcome: '`not_sent`, `rejected`',
    meaning: 'it has failed: `failure` says why',
    stored: 'FAILED',
    failureCode: 'AC03',
  },
  {
    statuses: [200],
    mark: '`FAILED`',
    outcome: '`accepted`',
    meaning: 'the bank had accepted it, and has failed it since: `failure` says why',
    stored: 'FAILED',
    failureCode: 'DS04',
  },
  {
    statuses: [200],
    mark: '`FAILED`: `EXPIRED_UNEXECUTED`, `OPERATOR_DECISION`, `OVERRULED`',
    outcome: '`rejected`',
    meaning: 'it has failed by a term, or by the decision of operators',
    stored: 'FAILED',
    failureCode: 'OPERATOR_DECISION',
  },
  {
    statuses: [502],
    mark: '`transaction_id`',
    outcome: '`not_sent`, `rejected`',
    meaning: 'it has failed: `code` says why',
    stored: 'FAILED',
    failureCode: 'INSUFFICIENT_FUNDS',
  },
  {
    statuses: [422],
    mark: '`transaction_id`',
    outcome: '`not_sent`',
    meaning: 'it is refused by a rule, such as a limit, and has failed: `errors` say why',
    stored: 'FAILED',
    failureCode: 'ACCOUNT_NOT_ACTIVE',
  },
  {
    statuses: [422],
    mark: '`errors` of fields',
    outcome: '`not_sent`',
    meaning: 'no payment has the key, and this request made none',
  },
  {
    statuses: [422],
    mark: '`errors`, `transaction_id`',
    outcome: 'of that payment',
    meaning: 'the key belongs to the payment of another request',
    stored: 'COMPLETED',
    doubt: 'other_request',
  },
  {
    statuses: [422],
    mark: '`errors.Idempotency-Key`',
    outcome: '`unknown`',
    meaning: 'the key is missing, quoted, sent twice or not valid',
  },
  {
    statuses: [422],
    mark: '`errors`',
    outcome: '`unknown`',
    meaning: 'after a loss of data: it may have been paid',
    doubt: 'lost_commits',
  },
  {
    statuses: [404],
    mark: 'to a return',
    outcome: '`not_sent`',
    meaning: 'the user has not received this Pix',
  },
  {
    statuses: [404],
    mark: 'to `GET`',
    outcome: '–',
    meaning: 'the user has no such transaction',
    doubt: 'no_transaction',
  },
  {
    statuses: [501],
    outcome: '`not_sent`',
    meaning: 'the bank does not offer it',
  },
  {
    statuses: [400, 413, 415, 431],
    outcome: '`unknown`',
    meaning: 'the request could not be read',
  },
  {
    statuses: [401],
    outcome: '`unknown`',
    meaning: 'the session has ended; it may have been paid before',
  },
  {
    statuses: [408, 429, 503],
    outcome: '`unknown`',
    meaning: 'it was not looked at; an earlier request may have paid. Wait for `Retry-After`',
  },
  {
    statuses: [500],
    outcome: '`unknown`',
    meaning: 'a defect of the service: it may have been paid',
  },
];

/** The rows, in the order of the table. */
export const orderAnswerRows: readonly OrderAnswerRow[] = rows.map(
  ({ statuses, mark = '', outcome, meaning, stored, failureCode = null, doubt = null }) => {
    const order = stored === undefined ? null : { status: stored, failureCode };
    return { statuses, mark, outcome, meaning, order, doubt };
  },
);

/** @returns the value of `Pix-Next` in every answer of a row. */
export function nextOfRow({ statuses, order, doubt }: OrderAnswerRow): string {
  return [...new Set(statuses.map((status) => nextStep({ status, order, doubt })))].join(', ');
}
