/**
 * The transaction that has an idempotency key, as the statements that reserve or close a key read
 * it.
 */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { isBeforePaying, type OrderType } from '../domain/pix.ts';
import { processedColumns, type PixTransaction } from './pix-transaction-repository.ts';

/** What a new transaction is stored with. */
export interface NewTransaction {
  readonly id: string;
  readonly userId: number;
  readonly operation: OrderType | 'CHARGE';
  readonly idempotencyKey: string;
  readonly transactionIdentification: string | null;
  /** The return id of a return; absent: it has no id yet. */
  readonly endToEnd?: string;
  /** When a charge expires; null or absent: never. */
  readonly expiresAt?: Date | null;
}

/**
 * Until when the claims of one request hold, in ms; null: of a transaction without a claim. Each
 * call that reserves makes one. An earlier one may be committed while the next waits for its row.
 */
export type RequestClaims = Set<number | null>;

/** The transaction that has an idempotency key. */
export type KeyHolder =
  /** Stored by this request: by this call of it, or by an earlier one whose result was lost. */
  | {
      readonly isNew: true;
      readonly transaction: PixTransaction;
      readonly claimedUntil: Date | null;
    }
  | {
      readonly isNew: false;
      readonly transaction: PixTransaction;
      readonly fingerprint: Buffer | null;
      /** In centavos; null: an amount that is too large to compare. */
      readonly amountCents: number | null;
      /** Whether the key was closed without an amount: every request with it replays that. */
      readonly isClosed: boolean;
      readonly claimedUntil: Date | null;
      /** Until when its payment may be resumed although it is UNKNOWN; null: it may not. */
      readonly resumableUntil: Date | null;
    };

const holderColumns = `${processedColumns}, fingerprint, claimedUntil, heldAt, createdAt,
  resumableUntil` as const;

/** The columns of a transaction that has an idempotency key. */
export const ofHolder = columnsOf('pix_transactions', holderColumns);
export const ofChargeHolder = columnsOf('pix_transactions', `${holderColumns}, expiresAt`);

/** `reserved`: the transaction is the call's own; null: no transaction is stored or found. */
export type ReservedRow =
  | (RowOf<typeof ofHolder> & { readonly reserved: boolean })
  | { readonly id: null; readonly reserved: true | null };

/** What a call reserves. */
interface OwnClaim {
  /** As the statement has stored it if it is new. */
  readonly transaction: PixTransaction;
  /** Until when the claim of the call holds; null: it has none. */
  readonly claimedUntil: Date | null;
  readonly claims: ReadonlySet<number | null>;
}

/**
 * @returns the transaction that has the key, or null: none is stored or visible. The request's own
 *   that is read back under a claim of no call of it has been taken over since: its payment is not
 *   this request's.
 */
export function toKeyHolder(row: ReservedRow, own: OwnClaim): KeyHolder | null {
  if (row.reserved === null) return null;
  if (row.id === null) return { isNew: true, ...own };
  const { amount, fingerprint, claimedUntil, resumableUntil } = row;
  const isOwnClaim = own.claims.has(claimedUntil?.getTime() ?? null);
  if (row.reserved && isOwnClaim) return { isNew: true, transaction: row, claimedUntil };
  const isClosed = amount === null;
  const amountCents = isClosed ? null : centsFromDecimal(amount);
  const stored = { fingerprint, amountCents, isClosed, claimedUntil, resumableUntil };
  return { isNew: false, transaction: row, ...stored };
}

/** Whether a stored transaction is before PAYING, and no process has a claim to it. */
export function isResumable({ clock }: Pick<LocalContext, 'clock'>, holder: KeyHolder): boolean {
  if (holder.isNew || !isBeforePaying(holder.transaction.phase)) return false;
  return holder.claimedUntil === null || holder.claimedUntil <= clock.now();
}

/** Whether the payment of a stored order may be resumed: the bank has only refused its session. */
export function wasRefusedForSession(
  { clock }: Pick<LocalContext, 'clock'>,
  holder: KeyHolder,
): boolean {
  if (holder.isNew || holder.transaction.phase !== 'UNKNOWN') return false;
  return holder.resumableUntil !== null && holder.resumableUntil > clock.now();
}

/** A new transaction is stored as requested. */
export function asStored(reservation: NewTransaction): PixTransaction {
  return {
    id: reservation.id,
    userId: reservation.userId,
    operation: reservation.operation,
    idempotencyKey: reservation.idempotencyKey,
    status: 'PROCESSING',
    phase: 'RESERVED',
    outcome: null,
    failureCode: null,
    endToEnd: reservation.endToEnd ?? null,
    transactionIdentification: reservation.transactionIdentification,
    qrCode: null,
    copyPaste: null,
    ...(reservation.expiresAt !== undefined && { expiresAt: reservation.expiresAt }),
  };
}
