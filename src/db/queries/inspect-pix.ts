/** Statements of the operators' view of transactions: no PIX keys, descriptions and codes. */
import type { PixOperation, PixOutcome, PixPhase, PixStatus } from '../../domain/pix.ts';
import type { Statement } from '../database.ts';
import { isUnderWay } from './pix-transactions.ts';

export interface InspectedPixRow {
  readonly id: string;
  readonly user_id: number;
  readonly operation: PixOperation;
  readonly idempotency_key: string | null;
  readonly status: PixStatus;
  readonly phase: PixPhase;
  readonly outcome: PixOutcome | null;
  readonly failure_code: string | null;
  readonly amount: string;
  readonly end_to_end: string | null;
  readonly transaction_identification: string | null;
  readonly provider_txid: string | null;
  readonly claimed_until: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly settled_at: Date | null;
}

const columns = `t.id, t.user_id, t.operation, t.idempotency_key, t.status, t.phase, t.outcome,
  t.failure_code, t.amount, t.end_to_end, t.transaction_identification, t.provider_txid,
  t.claimed_until, t.created_at, t.updated_at, t.settled_at`;

/**
 * Transactions, newest first: their ids are in the order of time.
 * Parameters: user id, status, phase, created until (each or null), limit.
 */
export const listPix: Statement = {
  name: 'inspect-pix',
  text: `
    select ${columns} from pix_transactions t
     where ($1::int is null or t.user_id = $1) and ($2::text is null or t.status = $2)
       and ($3::text is null or t.phase = $3) and ($4::timestamptz is null or t.created_at <= $4)
     order by t.id desc limit $5`,
};

/**
 * Sends that may have left and that nobody here can move on, oldest first: the process that paid
 * has gone without a word, the answer was lost, or the provider took it and has told no end.
 * Parameters: user id, status, phase, created until (each or null), limit, PAYING untouched since,
 * now, ACCEPTED untouched since.
 */
export const listStuckPix: Statement = {
  name: 'inspect-pix-stuck',
  text: `
    select ${columns} from pix_transactions t
     where ${isUnderWay('t')} and t.operation = 'SEND'
       and ($1::int is null or t.user_id = $1) and ($2::text is null or t.status = $2)
       and ($3::text is null or t.phase = $3) and ($4::timestamptz is null or t.created_at <= $4)
       and (t.phase = 'UNKNOWN'
            or (t.phase = 'PAYING' and t.updated_at <= $6
                and (t.claimed_until is null or t.claimed_until <= $7))
            or (t.phase = 'ACCEPTED' and t.updated_at <= $8))
     order by t.id limit $5`,
};

/** A transaction, and whether its user has an active banking session. Parameters: id, now. */
export const inspectPix: Statement = {
  name: 'inspect-pix-one',
  text: `
    select ${columns},
           exists (select from banking_sessions s
                    where s.user_id = t.user_id and s.status = 'ACTIVE'
                      and (s.token_expires_at is null or s.token_expires_at > $2)) as has_session
      from pix_transactions t where t.id = $1`,
};

export interface TimelineRow {
  readonly at: Date;
  readonly phase: string;
  readonly attempt: number | null;
  readonly provider_status: string | null;
  readonly event_id: string | null;
  readonly note: string | null;
}

/** The timeline of a transaction, in order. Parameters: transaction id, limit. */
export const timelineOf: Statement = {
  name: 'inspect-pix-timeline',
  text: `
    select at, phase, attempt, provider_status, event_id, note
      from pix_timeline where transaction_id = $1 order by id limit $2`,
};
