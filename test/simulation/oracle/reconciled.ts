/**
 * The invariants when a history is over and reconciliation has read a statement that shows
 * everything. They hold after a failover, too: whatever it has lost, each movement of the bank is
 * stored or listed for an operator, nothing that was executed has failed, and no key has paid
 * twice.
 */
import { centsFromDecimal } from '../../../src/domain/money.ts';
import { isSameReturn } from '../../../src/domain/pix.ts';
import type { StoredCustomer, Store } from '../store.ts';
import type { Payment } from '../bank/ledger.ts';
import type { Policy } from '../bank/policy.ts';
import type { Names } from '../names.ts';
import type { Scheduler } from '../scheduler.ts';
import type { Oracle } from './oracle.ts';

export interface Reconciled {
  readonly store: Store;
  readonly policy: Policy;
  readonly oracle: Oracle;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly clients: readonly { readonly customer: StoredCustomer }[];
}

interface Row {
  readonly id: string;
  readonly user_id: number;
  readonly operation: string;
  readonly status: string;
  readonly phase: string;
  readonly amount: string;
  readonly end_to_end: string | null;
  readonly txid: string | null;
  readonly original_id: string | null;
}

const readRows = `
  select id, user_id, operation, status, phase, amount, end_to_end,
         transaction_identification as txid, original_id
    from pix_transactions order by created_at, id`;

const readDifferences = `
  select user_id, kind, subject, end_to_end from reconciliation_differences
   where closed_at is null or blocks is not null order by id`;

/** What is listed for an operator. */
interface Listed {
  readonly user_id: number;
  readonly subject?: string;
  readonly end_to_end: string | null;
}

/** Checks the ledger of every customer whose statement was reconciled. */
export async function checkReconciled(checked: Reconciled): Promise<void> {
  const { store, clients } = checked;
  const rows = await store.rows<Row>(readRows);
  const listed = await store.rows<Listed>(readDifferences);
  for (const { customer } of clients) {
    const isOwn = ({ user_id: userId }: { readonly user_id: number }): boolean =>
      userId === customer.id;
    const own = { customer, rows: rows.filter(isOwn), listed: listed.filter(isOwn) };
    checkSent(checked, own);
    checkKeys(checked, own);
    checkStoredSends(checked, own);
    checkReceived(checked, own);
    checkRefunds(checked, own);
    checkReturns(checked, own);
    checkTakenBack(checked, own);
  }
}

interface Own {
  readonly customer: StoredCustomer;
  readonly rows: readonly Row[];
  readonly listed: readonly Listed[];
}

function isListed({ listed }: Own, id: string): boolean {
  return listed.some((one) => one.subject === id || one.end_to_end === id);
}

/** Every payment that was made is COMPLETED, or listed. */
function checkSent({ oracle, names, scheduler }: Reconciled, own: Own): void {
  for (const { endToEnd, amountCents, state } of oracle.ledger.listPayments(own.customer)) {
    if (state !== 'completed') continue;
    const name = names.of('E', endToEnd);
    if (oracle.ledger.takenBack.has(endToEnd)) continue;
    const send = own.rows.find((row) => row.operation === 'SEND' && row.end_to_end === endToEnd);
    if (send?.status === 'FAILED') {
      oracle.violated(`${name} was executed and is FAILED after reconciliation`);
    }
    const isStored = send?.status === 'COMPLETED' && centsFromDecimal(send.amount) === amountCents;
    if (isStored) continue;
    scheduler.count('payments that only a list for operators has');
    if (isListed(own, endToEnd)) continue;
    const where = send ? `is ${send.status}` : 'is in no transaction';
    oracle.violated(`${name} was executed, ${where} after reconciliation and is not listed`);
  }
}

/** A key pays once: a payment that the bank has reversed has moved no money. */
function checkKeys(checked: Reconciled, own: Own): void {
  const { oracle, names } = checked;
  const { customer } = own;
  const ofKeys = Map.groupBy(
    oracle.ledger.listPayments(customer).filter(({ state }) => state !== 'reversed'),
    ({ clientRequestId }) => clientRequestId,
  );
  for (const [key, payments] of ofKeys) {
    const isAgain = payments.some((one, index) =>
      payments.slice(0, index).some((before) => !mayPayBoth(checked, own, [before, one])),
    );
    if (!isAgain) continue;
    const shown = payments.map(({ endToEnd }) => names.of('E', endToEnd)).join(' and ');
    oracle.violated(`${customer.name}/${key} was executed more than once: ${shown}`);
  }
}

/**
 * Whether a key may pay both: the record of one is lost, no line names its key, and the app has
 * used the key again with another amount, which its line does not hold.
 */
function mayPayBoth({ policy }: Reconciled, { rows }: Own, pair: readonly Payment[]): boolean {
  const isStored = ({ endToEnd }: Payment): boolean =>
    rows.some((row) => row.operation === 'SEND' && row.end_to_end === endToEnd);
  const amounts = new Set(pair.map(({ amountCents }) => amountCents));
  return !policy.statement.namesRequests && amounts.size > 1 && !pair.every(isStored);
}

/** What is COMPLETED was made, or is listed, or is shown as money back. */
function checkStoredSends({ oracle, names }: Reconciled, own: Own): void {
  const payments = oracle.ledger.listPayments(own.customer);
  for (const row of own.rows) {
    if (row.operation !== 'SEND' || row.status !== 'COMPLETED' || row.end_to_end === null) continue;
    const made = payments.find(({ endToEnd }) => endToEnd === row.end_to_end);
    if (made?.state === 'completed' || isListed(own, row.id)) continue;
    // An operator has taken a rejected payment for made: its reversal is shown as money back.
    if (made?.state === 'reversed' && isGivenBack(own, row)) continue;
    oracle.violated(`${names.of('tx', row.id)} is COMPLETED, was not executed and is not listed`);
  }
}

function isGivenBack({ rows }: Own, send: Row): boolean {
  return rows.some(({ original_id: id, amount }) => id === send.id && amount === send.amount);
}

/** Every received Pix has completed a charge, is recorded, or is listed. */
function checkReceived({ oracle, names }: Reconciled, own: Own): void {
  for (const { customer, endToEnd, charge } of oracle.ledger.receipts) {
    if (customer !== own.customer) continue;
    const isStored = own.rows.some(
      (row) =>
        row.status === 'COMPLETED' &&
        (row.operation === 'RECEIVED' || row.operation === 'CHARGE') &&
        (row.end_to_end === endToEnd || (row.end_to_end === null && row.txid === charge?.txid)),
    );
    if (isStored || isListed(own, endToEnd)) continue;
    const name = names.of('E', endToEnd);
    oracle.violated(`${name} was received, is not stored after reconciliation and is not listed`);
  }
}

/** Every return that was made is COMPLETED, or listed, and a failed one was not made. */
function checkReturns({ oracle, names }: Reconciled, own: Own): void {
  for (const { customer, returnId, state } of oracle.ledger.returns) {
    if (customer !== own.customer || state !== 'completed') continue;
    const row = own.rows.find(
      ({ operation, end_to_end: id }) => operation === 'REFUND_OUT' && isSameReturn(id, returnId),
    );
    if (row?.status === 'COMPLETED' || isListed(own, returnId)) continue;
    const name = names.of('D', returnId);
    oracle.violated(`${name} was made, and is ${row?.status ?? 'in no transaction'} at the end`);
  }
}

/** Money that came back without a return id is a refund of what is COMPLETED, or listed. */
function checkTakenBack({ oracle, names, scheduler }: Reconciled, own: Own): void {
  for (const { endToEnd, amountCents } of oracle.ledger.listPayments(own.customer)) {
    if (!oracle.ledger.takenBack.has(endToEnd)) continue;
    const send = own.rows.find((row) => row.operation === 'SEND' && row.end_to_end === endToEnd);
    if (send?.status !== 'COMPLETED') continue;
    const refunds = own.rows.filter(({ original_id: id }) => id === send.id);
    const [refund, ...others] = refunds;
    scheduler.count('money back without a return id');
    const isShown = others.length === 0 && centsFromDecimal(refund?.amount ?? '') === amountCents;
    if (isShown || isListed(own, endToEnd)) continue;
    oracle.violated(`the money of ${names.of('E', endToEnd)} came back, and is not shown once`);
  }
}

/** Every refund is recorded, or listed. */
function checkRefunds({ oracle }: Reconciled, own: Own): void {
  for (const { customer, returnId } of oracle.ledger.refunds) {
    if (customer !== own.customer) continue;
    if (own.rows.some(({ end_to_end: id }) => id === returnId || isSameReturn(id, returnId))) {
      continue;
    }
    if (isListed(own, returnId)) continue;
    oracle.violated(`the refund ${returnId} is not stored after reconciliation and is not listed`);
  }
}
