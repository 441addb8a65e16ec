/**
 * The rules of each stored transaction, for every writer. PostgreSQL parses the text of each check
 * once for each statement that writes a row: sixteen checks cost a statement of one row 100 to 250
 * µs. So one check calls one function, whose body each session parses once.
 *
 * A changed rule is a function of another name (`version`), which a migration creates, a check that
 * calls it (`not valid`), and a later `validate`: PostgreSQL checks no stored row when the body of
 * a function changes.
 */
import {
  orderTypes,
  phasesOfStatus,
  pixOutcomes,
  pixStatuses,
  pixTypes,
  refundTypes,
  type PixStatus,
} from '../../domain/pix.ts';
import { payeeClasses, unjudgedClass } from '../../domain/payee-limits.ts';
import { isOneOf } from './columns.ts';

const version = 1;

/** The columns that the rules read, with their types. */
const columns = {
  operation: 'text',
  status: 'text',
  phase: 'text',
  outcome: 'text',
  failure_code: 'text',
  amount: 'numeric',
  idempotency_key: 'text',
  fingerprint: 'bytea',
  end_to_end: 'text',
  transaction_identification: 'text',
  original_id: 'uuid',
  refunded_amount: 'numeric',
  refunding_amount: 'numeric',
  code_digest: 'bytea',
  payee_class: 'text',
  expires_at: 'timestamptz',
  settled_at: 'timestamptz',
  corrected_at: 'timestamptz',
  paid_again_by: 'uuid',
  overruled_at: 'timestamptz',
} as const;

/** The transactions that only an event of the provider creates, and those that no event does. */
const reportedOnly = isOneOf('operation', ['RECEIVED', 'REFUND_IN']);
const requestedOnly = isOneOf('operation', ['SEND', 'CHARGE']);

/** A status, in a phase that can have it. */
function statusAndPhaseAgree(): string {
  const pair = (status: PixStatus) =>
    `(status = '${status}' and ${isOneOf('phase', phasesOfStatus[status])})`;
  return pixStatuses.map(pair).join(' or ');
}

/**
 * By the name of the constraint that an error names. A rule whose value is null is kept.
 * @public For the test that breaks each of them.
 */
export const transactionRules: Readonly<Record<string, string>> = {
  pix_transactions_amount_positive: 'amount > 0',
  pix_transactions_charge_identified:
    "(operation = 'CHARGE') = (transaction_identification is not null)",
  pix_transactions_claim_keyed: `(idempotency_key is null) = (fingerprint is null) and (idempotency_key is null or not ${reportedOnly}) and (idempotency_key is not null or not ${requestedOnly})`,
  pix_transactions_closed_key: `amount is not null or (status = 'FAILED' and phase = 'SETTLED' and outcome = 'not_sent' and failure_code is not null and ${isOneOf('operation', orderTypes)} and idempotency_key is not null and end_to_end is null and original_id is null) is true`,
  pix_transactions_code_of_send: "code_digest is null or operation = 'SEND'",
  pix_transactions_corrected_completed: `corrected_at is null and paid_again_by is null or status = 'COMPLETED' and ${isOneOf('operation', ['CHARGE', ...orderTypes])}`,
  pix_transactions_expiry_of_charge: "expires_at is null or operation = 'CHARGE'",
  pix_transactions_operation_known: isOneOf('operation', pixTypes),
  pix_transactions_outcome_known: isOneOf('outcome', pixOutcomes),
  pix_transactions_payee_class_of_send: `payee_class is null or operation = 'SEND' and ${isOneOf('payee_class', [...payeeClasses, unjudgedClass])}`,
  pix_transactions_overruled_request:
    "overruled_at is null or status <> 'PROCESSING' and idempotency_key is not null",
  pix_transactions_paying_resolved:
    "operation <> 'SEND' or phase in ('RESERVED', 'SETTLED') or end_to_end is not null",
  // The return id is in end_to_end, which is unique for each operation. Money that came back
  // without one, which only the statement shows, gets it later.
  pix_transactions_refund_identified: `(amount is not null and ${isOneOf('operation', refundTypes)}) = (original_id is not null) and (original_id is null or operation = 'REFUND_IN' or end_to_end is not null)`,
  pix_transactions_refunded_at_most: 'refunded_amount > 0 and refunded_amount <= amount',
  pix_transactions_returned_at_most:
    '(refunding_amount is null or refunding_amount > 0) and coalesce(refunded_amount, 0) + coalesce(refunding_amount, 0) <= amount',
  pix_transactions_settled_dated: "(status = 'PROCESSING') = (settled_at is null)",
  pix_transactions_status_and_phase: statusAndPhaseAgree(),
};

const functionName = `pix_transaction_is_valid_${version}`;

/** The check of the table. */
export const transactionIsValid = {
  name: `pix_transactions_valid_${version}`,
  expression: `${functionName}(${Object.keys(columns).join(', ')})`,
};

/**
 * The statement that creates the function, which a migration repeats. It never returns null: it
 * returns true, or fails as the check of the rule would. One expression has all rules, because most
 * rows keep them.
 * @public For the test that compares it with the migrations.
 */
export function createValidityFunction(): string {
  const parameters = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  const kept = Object.values(transactionRules).map((rule) => `(${rule}) is not false`);
  const faults = Object.entries(transactionRules).map(([name, rule]) => {
    const message = `new row for relation "pix_transactions" violates check constraint "${name}"`;
    const names = `errcode = 'check_violation', table = 'pix_transactions', constraint = '${name}'`;
    return `if (${rule}) is false then raise exception '${message}' using ${names}; end if;`;
  });
  const body = [
    `begin if ${kept.join(' and ')} then return true; end if;`,
    ...faults,
    'return true; end;',
  ];
  return [
    `create function "${functionName}"(${parameters.join(', ')}) returns boolean`,
    `language plpgsql immutable parallel safe as $$ ${body.join(' ')} $$;`,
  ].join(' ');
}
