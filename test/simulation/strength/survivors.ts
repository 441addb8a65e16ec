/**
 * The reasons why neither a seed nor a scene detects a mutant of the service: it is equivalent, or
 * another condition makes it redundant. A surviving mutant without a reason is an open question.
 */
const groups: readonly (readonly [reason: string, ...names: string[]])[] = [
  [
    'equivalent: the trigger of the table writes this column too, as a second version of the row',
    "webhook-finish: never when requested.status in ('parked', 'orphaned', 'anomaly')",
    "webhook-park: never when requested.status in ('parked', 'orphaned', 'anomaly')",
  ],
  [
    'equivalent: the other of the two conditions leaves out the same charges',
    'pix-stale: without not has_code',
    'pix-stale: without t.qr_code is null',
  ],
  ['equivalent: only sends are read', 'pix-unconfirmed: without not has_code'],
  [
    'equivalent: only orders are read',
    "pix-unconfirmed: without t.operation in ('SEND', 'REFUND_OUT')",
  ],
  [
    'the same text is in pix-candidates, whose scenes detect the mutant',
    'pix-returns: without attempt.http_status is distinct from 401',
  ],
  [
    'equivalent: no look-up moves the bucket by nothing',
    'pix-step: without look_ups > 0',
    'pix-move: without look_ups > 0',
  ],
  [
    'equivalent: only returns have a return id or an original, and a key',
    "pix-returns: without t.operation in ('SEND', 'REFUND_OUT')",
    "pix-returns: without original.operation in ('CHARGE', 'RECEIVED')",
    "pix-returns: without made.operation = 'REFUND_OUT'",
    "pix-returns: without made.operation = 'REFUND_OUT' (2)",
  ],
  [
    'the same text is in pix-reserve-send, whose scenes detect the mutant',
    'pix-reserve-return: without not call.is_new',
    'pix-reserve-return: without a.blocked_by is not null',
    'pix-reserve-return: without line.user_id = a.user_id',
    'pix-reserve-return: without line.closed_at is null',
    'pix-reserve-return: without coalesce(line.amount = requested.amount, true)',
    'pix-reserve-return: without not exists (select from pix_transactions t where t.end_to_en…',
    'pix-reserve-return: without t.end_to_end = line.subject',
    "pix-reserve-return: without t.operation in ('SEND', 'REFUND_OUT')",
    'pix-reserve-return: without s.token_expires_at is null or s.token_expires_at > requested…',
    "pix-reserve-return: without u.status = 'ACTIVE'",
    "pix-reserve-return: without agency <> ''",
    "pix-reserve-return: without account_number <> ''",
    "pix-reserve-return: without account_document <> ''",
  ],
  [
    'not drawn: the bank makes no payment under a key that its customer has closed',
    'webhook-store: without t.amount is not null',
    'pix-candidates: without t.amount is not null',
  ],
  [
    'equivalent: all refunds of a transaction have one direction',
    'pix-refund: without reversal.operation = requested.operation',
  ],
  [
    'not drawn in 250 seeds: the response of a process that wakes after the sweep has seen it dead',
    'a move leaves PAYING or UNKNOWN without UNKNOWN',
  ],
  [
    'not drawn in 60 seeds; tested: send-pix-scenarios.test.ts, a payment that times out is unknown',
    'a payment that ends in timeout is not_sent, not unknown',
  ],
  [
    'not drawn in 500 seeds; tested: send-pix-outcomes.test.ts, a token refused at the payment',
    'a payment that ends in 401 is not_sent, not unknown',
  ],
  [
    'equivalent: only a refund of this payment and this key has the return id',
    'pix-reserve-return: without payment.ordinal = named.ordinal (2)',
    "pix-reserve-return: without refund.operation = 'REFUND_OUT'",
    'pix-reserve-return: without refund.idempotency_key is null',
  ],
  [
    'a race within one statement, which a scene does not have: refund-pix.test.ts',
    'pix-reserve-return: without is_current',
  ],
  [
    'equivalent: a call whose row is new finds no stored one, as its snapshot is older',
    'pix-reserve-send: without not call.is_new',
    'pix-reserve-send-judged: without not call.is_new',
    'pix-reserve: without not call.is_new',
    'webhook-store: without not is_new',
  ],
  [
    'tested: send-pix-limits.test.ts, as the model of PostgreSQL runs one statement at a time',
    'pix-reserve-send-judged: without user_id in (select user_id from counted)',
    'pix-reserve-send-judged: without pix_limits.version = excluded.version - 1',
  ],
  [
    'equivalent: no statement of this release stores RESOLVED, a send passes through it',
    'a move leaves RESERVED or RESOLVED without RESOLVED',
    'a move leaves PAYING or UNKNOWN and RESOLVED',
    'a move leaves ACCEPTED or UNKNOWN and RESOLVED',
    'a move leaves PAYING or ACCEPTED or UNKNOWN and RESOLVED',
    'a move leaves RESERVED or PAYING or ACCEPTED or UNKNOWN and RESOLVED',
  ],
  [
    'equivalent: the service reads the phase and requests this move only in the listed phases',
    'a move leaves ACCEPTED or UNKNOWN and RESERVED',
    'a move leaves PAYING or ACCEPTED or UNKNOWN and RESERVED',
  ],
  [
    'equivalent: a charge is in RESERVED or ACCEPTED until its end',
    'a move leaves RESERVED or PAYING or ACCEPTED or UNKNOWN without PAYING',
    'a move leaves RESERVED or PAYING or ACCEPTED or UNKNOWN without UNKNOWN',
  ],
  [
    'not drawn: a response to a payment that a failover has taken back to RESERVED; no test notices it',
    'a move leaves PAYING or UNKNOWN and RESERVED',
  ],
  [
    'not drawn in 400 seeds: a second response to a payment in ACCEPTED; no test notices it',
    'a move leaves PAYING or UNKNOWN and ACCEPTED',
  ],
  [
    'not drawn in 900 seeds; tested: connecting.test.ts, what finds no connection was not sent',
    'a payment that ends in connect is rejected, not not_sent',
  ],
  [
    'not drawn in 500 seeds; tested: send-pix-refusal-codes.test.ts, a 429 proves nothing',
    'a payment that ends in 429 is rejected, not unknown',
    'a payment that ends in 404 is rejected, not unknown',
  ],
  [
    'tested: settle-woken.test.ts, a send is settled as soon as it has the id that is waited for',
    'a move leaves PAYING or ACCEPTED or UNKNOWN without PAYING',
  ],
  [
    'tested: settle-receipts.test.ts, a charge whose making was not heard of is completed',
    'a move leaves RESERVED or PAYING or ACCEPTED or UNKNOWN without RESERVED',
  ],
  [
    'tested: sweep-pix.test.ts, an accepted payment is completed by the statement',
    'a move leaves RESERVED or RESOLVED and ACCEPTED',
  ],
  [
    'tested: send-pix-late-statements.test.ts, a send that came to PAYING late fails',
    'a move leaves RESERVED or RESOLVED and UNKNOWN',
  ],
  [
    'tested: sweep-pix.test.ts, a send that enters PAYING after the sweep has read it',
    'a move leaves RESERVED or RESOLVED and PAYING',
  ],
  [
    'tested: settle-paying.test.ts, a failure does not settle a payment that was repeated',
    'a move leaves ACCEPTED or UNKNOWN and PAYING',
    'a move leaves ACCEPTED or UNKNOWN without ACCEPTED',
  ],
  [
    'equivalent: only a transaction in a final phase is settled, and no final phase is listed',
    'pix-step: without t.settled_at is null',
    'pix-move: without t.settled_at is null',
    'pix-take-over: without settled_at is null',
    "pix-stale: without t.status = 'PROCESSING'",
    "pix-unconfirmed: without t.status = 'PROCESSING'",
    "pix-touch-unconfirmed: without status = 'PROCESSING'",
  ],
  [
    'covered: each end of PAYING removes the claim; a seed notices the mutant without all four',
    'pix-repeat: without t.settled_at is null',
    "pix-repeat: without t.phase = 'PAYING'",
    'pix-repeat: without t.claimed_until = $2::timestamptz',
  ],
  [
    'equivalent: only a running job has a lease (jobs_lease_while_running)',
    "jobs-release-lapsed: without status = 'running'",
    "jobs-renew: without status = 'running'",
  ],
  [
    'equivalent: the calls of a batch are of different payments (conflictKey)',
    'pix-refund: without payment.ordinal = requested.ordinal',
    'pix-refund: without part.ordinal = requested.ordinal (2)',
    'pix-refund: without seen.ordinal = requested.ordinal',
  ],
  [
    'not drawn: a reversal, then a refund of another amount; tested: reversed-payments.test.ts',
    'pix-refund: without reversal.amount = requested.amount',
  ],
  [
    'not drawn: another process records the refund between the reading and the statement',
    'pix-refund: without t.end_to_end is null',
    'pix-refund: without original.is_current',
    'pix-refund: without not exists (select from pix_transactions refund where refund…',
  ],
  [
    'not drawn: a charge that was paid without an end-to-end id; tested: refund-pix.test.ts',
    "pix-reserve-return: never when original.status = 'COMPLETED' and original.end_to_end is nul…",
  ],
  [
    'not drawn: the payer and the payee of a reversed payment are both customers',
    'pix-refund: without refund.operation = requested.operation (2)',
  ],
  [
    'equivalent: an ACCEPTED transaction is PROCESSING (pix_transactions_status_and_phase)',
    "pix-expired: without t.status = 'PROCESSING'",
  ],
  [
    'equivalent: only a charge has a code, and only sends are looked up',
    'pix-unconfirmed: without t.qr_code is null',
  ],
  [
    'equivalent: there is no other operation; this lets PostgreSQL use the index',
    "pix-candidates: without t.operation in ('SEND', 'CHARGE', 'RECEIVED')",
    "webhook-store: without t.operation in ('SEND', 'CHARGE', 'RECEIVED')",
  ],
  [
    'equivalent: it is true for every move; with it the planner expects few of them',
    'webhook-finish: without move.id = any(array[move.id])',
  ],
  [
    'equivalent: only rows of PAYING have the note of a repeated attempt',
    "pix-candidates: without attempt.phase = 'PAYING'",
    "webhook-store: without attempt.phase = 'PAYING'",
  ],
];

/** The reason of each mutant that survives. */
export const reasons: ReadonlyMap<string, string> = new Map(
  groups.flatMap(([reason, ...names]) => names.map((name) => [name, reason] as const)),
);
