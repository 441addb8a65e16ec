/** The moves of transactions from phase to phase, and the notification of a final status. */
import type { LocalContext } from '../context/context.ts';
import { returningLookUps } from '../auth/look-up-bucket-repository.ts';
import { batchedStatement, isOneOf, sql } from '../db/statement.ts';
import {
  orderTypes,
  phasesBeforePaying,
  type PixOutcome,
  type PixPhase,
  type PixStatus,
} from '../domain/pix.ts';
import { isBlockedOrder } from './block.ts';
import {
  matchesCallId,
  processed,
  type PixTransaction,
  type ProcessedRow,
} from './pix-transaction-repository.ts';

/** The channel of final statuses; the payload has the ids, or is empty for many. */
export const finalStatusChannel = 'ponte_pix';

/** A notification has room for 7999 bytes (PostgreSQL, NOTIFY); an id takes 37. */
const maxNotifiedIds = 200;

/**
 * A column of a statement that settles transactions: it notifies the final status of all of them at
 * once.
 * @param settled a table expression with their ids, optionally with a condition.
 */
export function notifyingFinalStatus(settled: string): string {
  return `(select pg_notify('${finalStatusChannel}',
                  case when count(*) <= ${maxNotifiedIds}
                       then string_agg(id::text, ' ') else '' end)::text
              from ${settled} having count(*) > 0)`;
}

/** The columns of a move that `moveCte` takes from JSON, with their types. */
export const moveColumns = `
  id uuid, from_phases text, phase text, status text, end_to_end text, outcome text,
  failure_code text, provider_txid text, qr_code text, copy_paste text, claimed_until timestamptz,
  timeline jsonb`;

/**
 * The condition of every move of the transaction `t`: it is in one of the phases to leave, and has
 * no other end-to-end id than that of the move.
 * Only a transaction with a final status is settled (`pix_transactions_settled_dated`); with this
 * condition the row is found by its id and not among all that are PROCESSING.
 * @param move a table expression with the columns `id` and `end_to_end`.
 * @param phases an SQL expression: the phases to leave, a text array.
 */
export function mayMove(move: string, phases: string): string {
  return `${matchesCallId(move)} and t.settled_at is null
         and t.phase = any(${phases})
         and coalesce(t.end_to_end = ${move}.end_to_end, true)`;
}

/**
 * The common table expressions `moved` and `noted`: they move each transaction that `mayMove`, and
 * note the move in the timeline. A null column keeps its value. A send that has reached its payee
 * does not fail: as a transaction in another phase, it is not moved.
 * It also keeps the provider's first id, because an event may have an id of its own. The timeline
 * has both.
 * @param moves a table expression with `moveColumns`, the `ordinal` of the call and the time `now`.
 * @param mayFail the condition under which a `move` fails the transaction `t` before PAYING.
 */
export function moveCte(moves: string, mayFail: string): string {
  return `moved as (
      update pix_transactions t
         set phase = move.phase, status = move.status,
             end_to_end = coalesce(move.end_to_end, t.end_to_end),
             outcome = coalesce(move.outcome, t.outcome),
             failure_code = coalesce(move.failure_code, t.failure_code),
             provider_txid = coalesce(t.provider_txid, move.provider_txid),
             qr_code = coalesce(move.qr_code, t.qr_code),
             copy_paste = coalesce(move.copy_paste, t.copy_paste),
             claimed_until = move.claimed_until,
             updated_at = move.now,
             settled_at = case when move.status <> 'PROCESSING' then move.now end
        from ${moves} move
       where ${mayMove('move', 'move.from_phases::text[]')}
         and (move.status <> 'FAILED'
              or t.reached_payee is not true
                 and (not ${isOneOf('t.phase', phasesBeforePaying)} or ${mayFail}))
      returning move.ordinal, move.timeline, move.provider_txid as reported_txid,
                t.updated_at, ${processed.list('t')}
    ), noted as (
      insert into pix_timeline
             (transaction_id, phase, at, attempt, provider_status, http_status, provider_code,
              event_id, note, provider_txid)
      select moved.id, entry.phase, moved.updated_at, entry.attempt, entry.provider_status,
             entry.http_status, entry.provider_code, entry.event_id, entry.note,
             case when item = 1 then reported_txid end
        from moved,
             rows from (jsonb_to_recordset(moved.timeline::jsonb) as
               (phase text, attempt int, provider_status text, http_status int, provider_code text,
                event_id uuid, note text))
             with ordinality as entry (phase, attempt, provider_status, http_status, provider_code,
               event_id, note, item)
       order by moved.ordinal, entry.item
    )`;
}

/** An event fails no order that was not sent. */
export const isNoUnsentOrder = `not ${isOneOf('t.operation', orderTypes)}`;

/**
 * While the commit of its PAYING may be lost, an order fails before PAYING only as `rejected`: by
 * the provider's word, not because nothing was sent.
 */
const isNotLost = `move.outcome = 'rejected' or not ${isBlockedOrder('t')}`;

/** A column that notifies the final status of the transactions that `moveCte` moves. */
export const notifyingMoved = notifyingFinalStatus("moved where status <> 'PROCESSING'");

/**
 * Moves a transaction (see `moveCte`); no row when it is in another phase or has another end-to-end
 * id.
 */
const move = batchedStatement({
  name: 'pix-move',
  parameters: {
    id: 'uuid',
    fromPhases: 'text',
    phase: 'text',
    status: 'text',
    endToEnd: 'text null',
    outcome: 'text null',
    failureCode: 'text null',
    providerTxid: 'text null',
    qrCode: 'text null',
    copyPaste: 'text null',
    claimedUntil: 'timestamptz null',
    now: 'timestamptz',
    timeline: 'text',
    lookUps: 'int',
  },
  batching: { conflictKey: 'id' },
  text: (requested) => sql<ProcessedRow>`
    with requested as (
      select * from ${requested}
    ), ${moveCte('requested', isNotLost)}, given as (
      select moved.user_id, requested.look_ups
        from moved join requested on requested.ordinal = moved.ordinal
    ), ${returningLookUps('given')}
    select ordinal, ${processed.select()}, ${notifyingMoved} from moved`,
});

/** The provider's response to an attempt at a payment; never personal data. */
export interface AttemptResponse {
  /** Its class, such as `2xx` or `timeout`. */
  readonly providerStatus?: string;
  /** Its HTTP status; null without a complete response. */
  readonly httpStatus?: number | null;
  /** Its code at the declared place, in the form of `restrictCode`; null without one. */
  readonly providerCode?: string | null;
}

/** A row of the timeline; never personal data. */
export interface TimelineEntry extends AttemptResponse {
  readonly phase: PixPhase;
  /** The number of attempts of the provider layer at that time, from 1. */
  readonly attempt?: number;
  readonly eventId?: string;
  /** The reason, if the phase does not show it: a fixed word, or the text of an operator. */
  readonly note?: string;
}

/** A move to another phase. An omitted field keeps its value. */
export interface Move {
  readonly from: readonly PixPhase[];
  readonly to: PixPhase;
  readonly status: PixStatus;
  /** A transaction with another end-to-end id is not moved. */
  readonly endToEnd?: string | null;
  readonly outcome?: PixOutcome;
  readonly failureCode?: string;
  /** Noted with the first entry of the timeline, which is then required. */
  readonly providerTxid?: string | null;
  readonly qrCode?: string | null;
  readonly copyPaste?: string | null;
  /** Keeps the claim of the process that works on it; otherwise the claim is released. */
  readonly claimedUntil?: Date | null;
  readonly timeline: readonly TimelineEntry[];
  /** Whether the payment gives a look-up back (`auth/look-up-bucket-repository.ts`). */
  readonly givesLookUpBack?: boolean;
}

/** @returns the end of an order before PAYING: nothing was sent. */
export function endUnsent(failureCode: string, entry: Omit<TimelineEntry, 'phase'>): Move {
  return {
    from: phasesBeforePaying,
    to: 'SETTLED',
    status: 'FAILED',
    outcome: 'not_sent',
    failureCode,
    timeline: [{ phase: 'SETTLED', ...entry }],
  };
}

/**
 * Moves a transaction and notes it, in one statement. The move is conditional on the phases that it
 * leaves, so that of two processes only the first one changes anything.
 * @returns the transaction, or null when it is in another phase, or has another end-to-end id than
 *   the move.
 */
export async function moveTransaction(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  id: string,
  change: Move,
): Promise<PixTransaction | null> {
  const row = moveRow(id, change);
  const [moved] = await db.query(move, {
    id,
    fromPhases: row.from_phases,
    phase: row.phase,
    status: row.status,
    endToEnd: row.end_to_end ?? null,
    outcome: row.outcome ?? null,
    failureCode: row.failure_code ?? null,
    providerTxid: row.provider_txid ?? null,
    qrCode: row.qr_code ?? null,
    copyPaste: row.copy_paste ?? null,
    claimedUntil: row.claimed_until ?? null,
    now: clock.now(),
    timeline: JSON.stringify(row.timeline),
    lookUps: change.givesLookUpBack ? 1 : 0,
  });
  return moved ?? null;
}

/** @returns a move with `moveColumns`; undefined is NULL, and makes no text in JSON. */
export function moveRow(id: string, change: Move) {
  return {
    id,
    from_phases: `{${change.from.join(',')}}`,
    phase: change.to,
    status: change.status,
    end_to_end: change.endToEnd ?? undefined,
    outcome: change.outcome,
    failure_code: change.failureCode,
    provider_txid: change.providerTxid ?? undefined,
    qr_code: change.qrCode ?? undefined,
    copy_paste: change.copyPaste ?? undefined,
    claimed_until: change.claimedUntil ?? undefined,
    timeline: change.timeline.map(timelineRow),
  };
}

function timelineRow(entry: TimelineEntry): Record<string, unknown> {
  return {
    phase: entry.phase,
    attempt: entry.attempt,
    provider_status: entry.providerStatus,
    http_status: entry.httpStatus ?? undefined,
    provider_code: entry.providerCode ?? undefined,
    event_id: entry.eventId,
    note: entry.note,
  };
}

/** @public For the tests of plans and of the simulation. */
export const moveStatements = { move };
