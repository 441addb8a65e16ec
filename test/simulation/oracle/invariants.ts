/**
 * The invariants at rest: compares the rows with the bank's ledger and with what the service could
 * know.
 */
import type { LocalContext } from '../../../src/context/context.ts';
import { centsFromDecimal } from '../../../src/domain/money.ts';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import type { Payment } from '../bank/ledger.ts';
import type { Policy } from '../bank/policy.ts';
import { whatLinesLack } from '../bank/statement.ts';
import type { Hazards } from '../hazards.ts';
import type { Names } from '../names.ts';
import type { Scheduler } from '../scheduler.ts';
import type { Store } from '../store.ts';
import type { Webhooks } from '../webhooks.ts';
import type { Charges } from './charges.ts';
import { checkDecisions, decidedIds } from './decisions.ts';
import type { Disputes } from './disputes.ts';
import { hasUnlistedCode, type Evidence } from './evidence.ts';
import { checkLostPayments } from './lost-payments.ts';
import type { LostCommits } from './lost-commits.ts';
import type { Expiries } from './expiries.ts';
import type { Receipts } from './receipts.ts';
import type { Refunds } from './refunds.ts';
import { findQueuedInVain } from './queued-events.ts';
import { makeName } from './requests.ts';
import type { EventRow, FinalRow, TimelineRow } from './stored-rows.ts';
import { findEventErrors } from './final-status-events.ts';
import type { Oracle } from './oracle.ts';

export interface Rest {
  readonly store: Store;
  readonly oracle: Oracle;
  readonly evidence: Evidence;
  readonly charges: Charges;
  readonly receipts: Receipts;
  readonly refunds: Refunds;
  readonly expiries: Expiries;
  readonly disputes: Disputes;
  readonly names: Names;
  readonly hazards: Hazards;
  readonly scheduler: Scheduler;
  readonly policy: Policy;
  readonly lost: LostCommits;
  readonly webhooks: Pick<Webhooks, 'posted'>;
  /** Whether the event with this hash is false. */
  readonly isUntrue: (hash: string) => boolean;
  /** The end-to-end id of the payment that the event with this hash reports, or null. */
  readonly findEndToEnd: (hash: string) => string | null;
}

const readTransactions = `
  select t.id, t.user_id, t.operation, t.transaction_identification, t.idempotency_key,
         t.status, t.phase, t.amount, t.end_to_end, t.original_id,
         t.corrected_at is not null as is_corrected, t.created_at,
         exists (select from pix_pauses
                  where t.created_at >= lost_since - interval '10 minutes'
                    and t.created_at <= coalesce(ended_at + interval '10 minutes', 'infinity'))
           as is_around_loss,
         array(select l.phase from pix_timeline l
                where l.transaction_id = t.id and coalesce(l.note, '') not like 'after%'
                order by l.id)
           as phases,
         array(select encode(e.payload_hash, 'hex') from pix_timeline l
                 join webhook_events e on e.id = l.event_id
                where l.transaction_id = t.id and l.phase <> 'ANOMALY'
                order by l.id)
           as events
    from pix_transactions t order by t.created_at, t.id`;

const readEvents = `
  select id, status, received_at, encode(payload_hash, 'hex') as hash,
         payload is not null as has_payload
    from webhook_events`;

const readTimeline = `
  select transaction_id, phase, event_id, note from pix_timeline order by id`;

/** A dead job may remain if a later job with its key has taken over its work. */
const readDeadJobs = `
  select kind from jobs as dead
   where status = 'dead'
     and not exists (select from jobs as later
                      where later.unique_key = dead.unique_key and later.id > dead.id
                        and later.status <> 'dead')`;

/** The charges that two sends of one user pay; a correction may add one to another. */
const readPaidTwice = `
  select min(id::text) as id from pix_transactions
   where code_digest is not null and code_digest <> '\\x' and status <> 'FAILED'
     and corrected_at is null
   group by user_id, code_digest having count(*) > 1`;

/** Checks all invariants and records the violations. */
export async function checkAtRest(rest: Rest): Promise<FinalRow[]> {
  const { store, oracle, lost, evidence } = rest;
  const rows = await store.rows<FinalRow>(readTransactions);
  const events = await store.rows<EventRow>(readEvents);
  const timeline = await store.rows<TimelineRow>(readTimeline);
  if (lost.failedOverAt !== null) evidence.stored(new Set(events.map(({ hash }) => hash)));
  const sends = rows.filter(({ operation }) => operation === 'SEND');
  lost.learn(sends);
  const decided = decidedIds(timeline);
  const payments = oracle.ledger.payments.filter((payment) => !lost.hasLostRecord(payment));
  for (const row of sends) checkRow(rest, row, { payments, isDecided: decided.has(row.id) });
  for (const row of sends) checkKnown(rest, row);
  checkNothingVanished(rest, sends, payments);
  checkDebits(rest, sends, payments);
  checkLostPayments(rest, sends, events);
  checkDecisions(rest, sends, { events, timeline });
  rest.receipts.learn(rows, events);
  rest.expiries.learn(new Set(events.map(({ hash }) => hash)));
  rest.charges.check(rows);
  rest.receipts.check(rows, events);
  rest.refunds.check(rows, events);
  oracle.returns.check(rows, events);
  await rest.disputes.check(rows, events);
  const decidedEnds = new Set(
    sends
      .filter((row) => decided.has(row.id) || mayBeContradicted(rest, row))
      .map((row) => row.end_to_end),
  );
  for (const { status, hash } of events) {
    if (status === 'received') oracle.violated('an event was received and never processed');
    const isExpected =
      rest.isUntrue(hash) ||
      reportsLostPayment(rest, hash) ||
      isDoubtful(rest, hash) ||
      mayContradict(rest, hash, { rows, decidedEnds });
    if (status === 'anomaly' && !isExpected) oracle.violated('a true event is an anomaly');
  }
  for (const { status } of await findQueuedInVain(store)) {
    oracle.violated(`an event stays in the queue that is ${status ?? 'not stored'}`);
  }
  for (const { id } of await store.rows<{ id: string }>(readPaidTwice)) {
    oracle.violated(`${rest.names.of('tx', id)} pays a code that another send pays`);
  }
  for (const { kind } of await store.rows<{ kind: string }>(readDeadJobs)) {
    oracle.violated(`a job is dead: ${kind}`);
  }
  await checkAudit(rest, decided);
  for (const found of await findEventErrors(store)) oracle.violated(found);
  return rows;
}

/**
 * Checks that `pix audit` reports no violation.
 * @param decided the transactions that an operator has ended.
 */
async function checkAudit(
  { store, oracle, scheduler, lost }: Rest,
  decided: ReadonlySet<string>,
): Promise<void> {
  const clock = scheduler.getClock({ name: 'audit' });
  const stopping = new AbortController().signal;
  const context = { db: store.db, clock, stopping } as unknown as LocalContext;
  const { invariants } = await auditPix.run(
    context,
    {},
    { operator: 'simulation', progress: () => undefined },
  );
  for (const { name, rows } of invariants) {
    // A process that held an event when a failover lost it has still settled it.
    if (name === 'cause_stored' && lost.failedOverAt !== null) continue;
    for (const { id, found } of rows) {
      // A careless operator may complete what the statement shows as reversed.
      if (name === 'money_back_shown' && decided.has(id)) continue;
      oracle.violated(`pix audit: ${name}: ${found}`);
    }
  }
}

/**
 * Whether a true event may contradict a payment: it was FAILED, or the bank has refused it,
 * although it was executed, or it was made and returned.
 */
function mayBeContradicted({ oracle }: Rest, row: FinalRow): boolean {
  const { end_to_end: endToEnd, status } = row;
  if (row.is_corrected) return true;
  const payment = oracle.ledger.payments.find((one) => one.endToEnd === endToEnd);
  return payment?.isDenied === true || (payment?.state === 'reversed' && status === 'COMPLETED');
}

/** Whether a true event may be an anomaly: by an operator's decision, or by a charge's terms. */
function mayContradict(
  { receipts, refunds, oracle, findEndToEnd }: Rest,
  hash: string,
  stored: {
    readonly rows: readonly FinalRow[];
    readonly decidedEnds: ReadonlySet<string | null>;
  },
): boolean {
  const endToEnd = findEndToEnd(hash);
  if (endToEnd !== null && stored.decidedEnds.has(endToEnd)) return true;
  return [receipts, refunds, oracle.returns].some((one) => one.mayContradict(hash, stored.rows));
}

/** Checks one transaction against the payments that were executed for it. */
function checkRow(
  rest: Rest,
  row: FinalRow,
  found: { readonly payments: readonly Payment[]; readonly isDecided: boolean },
): void {
  const { oracle, names, isUntrue, webhooks, evidence } = rest;
  const { status, phase, end_to_end: endToEnd } = row;
  const { isDecided } = found;
  const name = names.of('tx', row.id);
  const payments = found.payments.filter((payment) => belongs(payment, row));
  const kept = payments.filter(({ state }) => state !== 'reversed');
  // A failover may have lost a step of the payment, and the statement shows it all the same.
  const made = oracle.ledger.payments.filter((payment) => belongs(payment, row));
  const checks: readonly (readonly [boolean, string])[] = [
    [payments.length <= 1, 'was executed more than once'],
    [
      isDecided ||
        status !== 'COMPLETED' ||
        made.some(({ state }) => state !== 'reversed') ||
        wasPaidBefore(rest, row),
      'is COMPLETED and was not executed',
    ],
    [
      isDecided || status !== 'COMPLETED' || isProved(rest, row),
      'is COMPLETED and nothing has proved it',
    ],
    [
      isDecided || status !== 'FAILED' || kept.every(({ isDenied }) => isDenied),
      'is FAILED and was executed',
    ],
    [
      status !== 'FAILED' || endToEnd === null || !evidence.isReportedCompleted(endToEnd),
      'is FAILED and an acknowledged event reports that it was executed',
    ],
    [payments.every((payment) => agrees(payment, row)), 'was executed with other values'],
    [phase !== 'PAYING', 'was left in PAYING'],
    [
      // After a loss of commits, it waits for the statement, which the next login or send reads.
      !['RESERVED', 'RESOLVED'].includes(phase) || rest.lost.failedOverAt !== null,
      `was left in ${phase}`,
    ],
    [row.phases.filter((one) => one === 'PAYING').length <= 1, 'was PAYING twice'],
    [payments.length === 0 || row.phases.includes('PAYING'), 'was executed without PAYING'],
    [
      !row.events.some((hash) => isUntrue(hash) && !reportsLostPayment(rest, hash)),
      'was moved by a false event',
    ],
    [
      row.events.every((hash) => isAbout(webhooks.posted.get(hash)?.endToEnd ?? null, row)),
      'was moved by an event of another payment',
    ],
  ];
  for (const [holds, sentence] of checks) if (!holds) oracle.violated(`${name} ${sentence}`);
}

/** Whether an event, a response or a whole statement says that a payment was made. */
function isProved({ oracle, evidence, policy, lost }: Rest, row: FinalRow): boolean {
  const { end_to_end: endToEnd, events } = row;
  // The source may be lost with the commits of a failover.
  if (events.length > 0 || endToEnd === null || lost.failedOverAt !== null) return true;
  if (evidence.wasAnsweredCompleted(endToEnd)) return true;
  const { shown, payments } = oracle.ledger;
  const payment = payments.find((one) => one.endToEnd === endToEnd);
  return payment !== undefined && shown.has(endToEnd) && whatLinesLack(policy, payment) === null;
}

function isAbout(endToEnd: string | null, row: FinalRow): boolean {
  return endToEnd === null || endToEnd === row.end_to_end;
}

/** An event may contradict the transaction that replaces a payment lost by a failover. */
function reportsLostPayment({ webhooks, lost }: Rest, hash: string): boolean {
  const endToEnd = webhooks.posted.get(hash)?.endToEnd ?? null;
  return endToEnd !== null && lost.hasLostRecord({ endToEnd });
}

/** A failure proves nothing with an unlisted code, or about a payment that was repeated. */
function isDoubtful({ webhooks, evidence }: Rest, hash: string): boolean {
  const notice = webhooks.posted.get(hash);
  if (notice?.status !== 'failed' || notice.endToEnd === null) return false;
  if (hasUnlistedCode(notice)) return true;
  return evidence.isInDoubt(notice.endToEnd);
}

/**
 * The provider may treat a send as a repeat of a payment that a failover has lost: of one with the
 * same key, or of one from another device with the same look-up.
 */
function wasPaidBefore({ oracle, lost }: Rest, row: FinalRow): boolean {
  return oracle.ledger.payments.some(
    (payment) =>
      belongs(payment, row) && payment.state === 'completed' && lost.hasLostRecord(payment),
  );
}

/** A transaction must have its proven status; otherwise the reasons are counted. */
function checkKnown(rest: Rest, row: FinalRow): void {
  const { oracle, names, evidence, hazards, scheduler } = rest;
  const { status, phase, end_to_end: endToEnd } = row;
  if (status !== 'PROCESSING' || endToEnd === null) return;
  if (oracle.ledger.payments.some((one) => isOfOtherDevice(one, row))) {
    scheduler.count('lacks: a failover has lost a payment with the same end-to-end id');
    return;
  }
  const { proven, lacks } = evidence.weigh(endToEnd);
  for (const { end, by } of proven) {
    const isStored = end === 'accepted' && phase === 'ACCEPTED';
    // The service looks up accepted payments only with this hazard.
    const isExcused =
      by === 'the statement' && phase === 'ACCEPTED' && !hazards.has('accepted_lookups');
    if (isExcused) scheduler.count('lacks: no job looks up what is ACCEPTED');
    else if (!isStored) {
      oracle.violated(`${names.of('tx', row.id)} is ${phase}: it has ${end} by ${by}`);
    }
  }
  scheduler.note(`${names.of('tx', row.id)} stays ${phase}: ${lacks.join('; ')}`);
  for (const lack of lacks) scheduler.count(`lacks: ${lack}`);
}

/** Only after a failover: the record of the first device's payment is lost. */
function isOfOtherDevice({ endToEnd, clientRequestId }: Payment, row: FinalRow): boolean {
  return endToEnd === row.end_to_end && clientRequestId !== row.idempotency_key;
}

/** Compares both ids: a payment with only one of them is a duplicate too. */
function belongs({ customer, endToEnd, clientRequestId }: Payment, row: FinalRow): boolean {
  if (customer.id !== row.user_id) return false;
  return endToEnd === row.end_to_end || clientRequestId === row.idempotency_key;
}

function agrees({ endToEnd, clientRequestId, amountCents }: Payment, row: FinalRow): boolean {
  return (
    endToEnd === row.end_to_end &&
    clientRequestId === row.idempotency_key &&
    amountCents === centsFromDecimal(row.amount)
  );
}

function checkNothingVanished(
  { oracle, names }: Rest,
  rows: readonly FinalRow[],
  payments: readonly Payment[],
): void {
  const ids = new Set(rows.map(({ id }) => id));
  for (const [name, id] of oracle.transactions) {
    if (!ids.has(id)) oracle.violated(`the transaction of ${name} has vanished`);
  }
  for (const payment of payments) {
    if (rows.some((row) => belongs(payment, row))) continue;
    oracle.violated(`${names.of('E', payment.endToEnd)} was executed and is in no transaction`);
  }
  const keys = rows.map((row) => `${row.user_id}/${row.idempotency_key}`);
  if (new Set(keys).size < keys.length) oracle.violated('a key has two transactions');
}

/** Checks that the debits of each account are the sum of its executed transactions. */
function checkDebits(
  { oracle, lost }: Rest,
  rows: readonly FinalRow[],
  payments: readonly Payment[],
): void {
  for (const customer of oracle.ledger.customers) {
    const executed = rows.filter((row) =>
      payments.some((payment) => payment.state !== 'reversed' && belongs(payment, row)),
    );
    const sentCents = executed
      .filter((row) => row.user_id === customer.id)
      .reduce((sum, { amount }) => sum + (centsFromDecimal(amount) ?? 0), 0);
    const lostCents = oracle.ledger
      .listPayments(customer)
      .filter((payment) => payment.state !== 'reversed' && lost.hasLostRecord(payment))
      .reduce((sum, { amountCents }) => sum + amountCents, 0);
    const debitedCents = oracle.ledger.sumSentCents(customer) - lostCents;
    if (sentCents !== debitedCents) {
      const what = `${debitedCents} centavos for sends of ${sentCents}`;
      oracle.violated(`${makeName(customer, '')} was debited ${what}`);
    }
  }
}
