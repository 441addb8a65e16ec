/**
 * Transactions as operators see them: no PIX keys, descriptions and codes. The statements are SQL:
 * `pix resolve` decides by what they read, and the simulation runs it.
 */
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/database.ts';
import { isHeldAfterLoss, mayBeLost } from '../pix/pause-repository.ts';
import { isUnsettled, type PixTransaction } from '../pix/pix-transaction-repository.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import { isUuid } from '../domain/text.ts';
import type { PixPhase, PixStatus } from '../domain/pix.ts';

export interface InspectedPix extends Omit<PixTransaction, 'qrCode' | 'copyPaste'> {
  readonly failureCode: string | null;
  readonly amount: string;
  readonly providerTxid: string | null;
  readonly expiresAt: Date | null;
  /** Of a refund: the transaction that it refunds. */
  readonly originalId: string | null;
  /** The sum of its refunds in reais, as a decimal; null: there is none. */
  readonly refundedAmount: string | null;
  readonly claimedUntil: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly settledAt: Date | null;
  /** When it became COMPLETED although it had been FAILED. */
  readonly correctedAt: Date | null;
  /** Of a corrected send: a later send of the same user, key and amount that has not failed. */
  readonly paidAgainBy: string | null;
}

const columns = `t.id, t.user_id as "userId", t.operation, t.idempotency_key as "idempotencyKey",
  t.status, t.phase, t.outcome, t.failure_code as "failureCode", t.amount,
  t.end_to_end as "endToEnd", t.transaction_identification as "transactionIdentification",
  t.provider_txid as "providerTxid", t.expires_at as "expiresAt",
  t.original_id as "originalId", t.refunded_amount as "refundedAmount",
  t.claimed_until as "claimedUntil",
  t.created_at as "createdAt", t.updated_at as "updatedAt", t.settled_at as "settledAt",
  t.corrected_at as "correctedAt", t.paid_again_by as "paidAgainBy"`;

const filter = `
  ($1::int is null or t.user_id = $1) and ($2::text is null or t.status = $2)
  and ($3::text is null or t.phase = $3) and ($4::timestamptz is null or t.created_at <= $4)
  and ($5::timestamptz is null or t.created_at >= $5) and ($6::uuid is null or t.id >= $6)
  and ($7::numeric is null or t.amount = $7)`;

/** @public For the tests of the simulation, which find it by its shape. */
export const pixStatements = {
  /** Ids are in the order of time. */
  list: {
    name: 'inspect-pix',
    text: `
      select ${columns} from pix_transactions t
       where ${filter}
       order by t.id desc limit $8`,
  },
  listCorrected: {
    name: 'inspect-pix-corrected',
    text: `
      select ${columns} from pix_transactions t
       where t.corrected_at is not null and ${filter}
       order by t.corrected_at desc limit $8`,
  },
  countCorrected: {
    name: 'inspect-pix-corrected-count',
    text: `select count(*)::int as corrected from pix_transactions where corrected_at >= $1`,
  },
  listStuck: {
    name: 'inspect-pix-stuck',
    text: `
      select ${columns} from pix_transactions t
       where ${isUnsettled('t')} and t.operation = 'SEND' and ${filter}
         and (t.phase = 'UNKNOWN'
              or (t.phase = 'PAYING' and t.updated_at <= $9
                  and (t.claimed_until is null or t.claimed_until <= $10))
              or (t.phase = 'ACCEPTED' and t.updated_at <= $11)
              or ${isHeldAfterLoss('t', '$9', '$10')})
       order by t.id limit $8`,
  },
  find: {
    name: 'inspect-pix-one',
    text: `
      select ${columns}, t.payee, ${mayBeLost('t')} as "mayBeLost",
             exists (select from banking_sessions s
                      where s.user_id = t.user_id and s.status = 'ACTIVE'
                        and (s.token_expires_at is null or s.token_expires_at > $2)) as "hasSession"
        from pix_transactions t where t.id = $1`,
  },
  /** Each branch uses an index; the provider's id is in the timeline, too, which has one. */
  references: {
    name: 'inspect-pix-references',
    text: `
      select t.id, t.operation, t.user_id as "userId" from pix_transactions t
       where t.id = any(array(
               select $1::uuid where $1::uuid is not null
                union
               select id from pix_transactions where end_to_end = $2
                union
               select id from pix_transactions
                where left(transaction_identification, 25) = left($2, 25) and length($2) >= 25
                  and transaction_identification is not null
                  and starts_with(transaction_identification, $2)
                union
               select id from pix_transactions where idempotency_key = $2
                union
               select transaction_id from pix_timeline where provider_txid = $2))
       order by t.id limit 20`,
  },
  refunds: {
    name: 'inspect-pix-refunds',
    text: `
      select ${columns} from pix_transactions t where t.original_id = $1 order by t.id limit $2`,
  },
  timeline: {
    name: 'inspect-pix-timeline',
    text: `
      select at, phase, attempt, provider_status as "providerStatus",
             http_status as "httpStatus", provider_code as "providerCode", event_id as "eventId",
             note
        from pix_timeline where transaction_id = $1 order by id limit $2`,
  },
} satisfies Record<string, Statement>;

/** The transactions to list; an omitted field matches all. */
export interface PixFilter {
  readonly userId?: number | undefined;
  readonly status?: PixStatus | undefined;
  readonly phase?: PixPhase | undefined;
  readonly createdUntil?: Date | undefined;
  readonly createdSince?: Date | undefined;
  /** In reais, as a decimal. */
  readonly amount?: string | undefined;
  readonly limit: number;
}

function filterParameters(which: PixFilter): unknown[] {
  const { userId, status, phase, createdUntil, createdSince, amount, limit } = which;
  return [
    userId ?? null,
    status ?? null,
    phase ?? null,
    createdUntil ?? null,
    createdSince ?? null,
    createdSince === undefined ? null : firstIdAt(createdSince),
    amount ?? null,
    limit,
  ];
}

/** More than the clocks of two instances differ. */
const slackMs = 3_600_000;

/**
 * The smallest id (UUIDv7) of a transaction that was created at a time, with some slack: the list
 * ends there, and does not read the transactions of years in search of one more row.
 */
function firstIdAt(time: Date): string {
  const hex = Math.max(0, time.getTime() - slackMs)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** @returns transactions, the newest first. */
export function findPixList(
  { db }: Pick<LocalContext, 'db'>,
  which: PixFilter,
): Promise<InspectedPix[]> {
  return db.query<InspectedPix>(pixStatements.list, filterParameters(which));
}

/** @returns FAILED transactions that were paid and are COMPLETED now, the last corrected first. */
export function findCorrectedPix(
  { db }: Pick<LocalContext, 'db'>,
  which: PixFilter,
): Promise<InspectedPix[]> {
  return db.query<InspectedPix>(pixStatements.listCorrected, filterParameters(which));
}

/** @returns how many transactions were corrected since a time. */
export async function countCorrectedPix(
  { db }: Pick<LocalContext, 'db'>,
  since: Date,
): Promise<number> {
  const [row] = await db.query<{ corrected: number }>(pixStatements.countCorrected, [since]);
  return row?.corrected ?? 0;
}

/** When a send counts as stuck. */
export interface StuckSince {
  /** For one in PAYING. */
  readonly paying: Date;
  /** For one that the provider has accepted. */
  readonly accepted: Date;
}

/**
 * Finds sends that may have left and that no process settles: the paying process has died, the
 * response was lost, the provider accepted the payment and has not reported its end, or the commit
 * of PAYING may be lost.
 * @returns the sends, the oldest first.
 */
export function findStuckPix(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  which: PixFilter,
  since: StuckSince,
): Promise<InspectedPix[]> {
  const parameters = [...filterParameters(which), since.paying, clock.now(), since.accepted];
  return db.query<InspectedPix>(pixStatements.listStuck, parameters);
}

/** A transaction by itself. */
export interface FoundPix extends InspectedPix {
  /** Whether its user has an active banking session. */
  readonly hasSession: boolean;
  /** Whether it is a send whose commits may be lost: before PAYING, its payment may have left. */
  readonly mayBeLost: boolean;
  /** Of a send: the owner of the key that it pays, as the payer was shown it. */
  readonly payee: ShownOwner | null;
}

/** @returns a transaction; null: none. */
export async function findPix(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  id: string,
): Promise<FoundPix | null> {
  if (!isUuid(id)) return null;
  const [found] = await db.query<FoundPix>(pixStatements.find, [id, clock.now()]);
  return found ?? null;
}

/** @returns the transactions that have this id, of whatever kind; the oldest first. */
export function findPixReferences(
  { db }: Pick<LocalContext, 'db'>,
  reference: string,
): Promise<Pick<InspectedPix, 'id' | 'operation' | 'userId'>[]> {
  const id = isUuid(reference) ? reference : null;
  return db.query(pixStatements.references, [id, reference]);
}

/** @returns the first refunds of a transaction, in the order in which they were recorded. */
export function findRefunds(
  { db }: Pick<LocalContext, 'db'>,
  transactionId: string,
  limit: number,
): Promise<InspectedPix[]> {
  return db.query<InspectedPix>(pixStatements.refunds, [transactionId, limit]);
}

export interface TimelineEntry {
  readonly at: Date;
  readonly phase: string;
  readonly attempt: number | null;
  /** The class of the provider's response, such as `2xx` or `timeout`. */
  readonly providerStatus: string | null;
  /** The status and the code of the response to the last attempt at a payment. */
  readonly httpStatus: number | null;
  readonly providerCode: string | null;
  readonly eventId: string | null;
  readonly note: string | null;
}

/** @returns the first entries of a transaction's timeline, in order. */
export function findTimeline(
  { db }: Pick<LocalContext, 'db'>,
  transactionId: string,
  limit: number,
): Promise<TimelineEntry[]> {
  return db.query<TimelineEntry>(pixStatements.timeline, [transactionId, limit]);
}
