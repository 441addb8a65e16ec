/**
 * Reservations: each statement inserts a transaction under its idempotency key, or reads the one
 * that has the key. The statements are SQL, because each decides and writes in one round trip.
 */
import { mayPay } from '../accounts/payer-account.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import type { ShownOwner } from '../domain/key-owner.ts';
import type { Payer } from '../domain/principal.ts';
import { accountDocument, activeSessions } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { batchedStatement, sql } from '../db/statement.ts';
import { queryWithRetry } from './retried-query.ts';
import { reserveCte, reservedRows } from './reserve-cte.ts';
import type { AccountStatus } from '../domain/account.ts';
import { decimalFromCents } from '../domain/money.ts';
import { unjudgedClass, type PayeeClass } from '../domain/payee-limits.ts';
import type { OrderType } from '../domain/pix.ts';
import { hasLimit } from './spending-limit-repository.ts';
import type { CodeReservation } from './code-holder-repository.ts';
import { orderBlock, type OrderBlock } from './block.ts';
import {
  asStored,
  ofChargeHolder,
  toKeyHolder,
  type KeyHolder,
  type NewTransaction,
  type RequestClaims,
  type ReservedRow,
} from './key-holder.ts';
import { claimUntil, type PixTransaction } from './pix-transaction-repository.ts';

/** A payment as requested. */
export interface SendReservation {
  /** The id of the transaction if it is a new one. */
  readonly id: string;
  readonly idempotencyKey: string;
  readonly fingerprint: Buffer;
  readonly amountCents: number;
  readonly pixKey: string;
  readonly description: string | null;
  /** The dynamic code that the payment pays; null or absent: none. */
  readonly code?: CodeReservation | null;
  /** Who is paid, by the look-up that the payer has confirmed; null or absent: not known yet. */
  readonly payeeClass?: PayeeClass | null;
  /** The fresh look-up by which it is PAYING at once; null or absent: it is RESERVED first. */
  readonly paying?: FreshLookUp | null;
  /** Each call adds its own. */
  readonly claims: RequestClaims;
}

/** A look-up that the payer has confirmed, and that a payment may still use. */
export interface FreshLookUp {
  readonly endToEnd: string;
  readonly owner: ShownOwner;
}

/** A transaction as requested. */
export interface Reservation extends SendReservation, NewTransaction {
  readonly operation: 'SEND' | 'CHARGE';
}

/**
 * Claims an idempotency key by inserting the transaction, or reads the transaction that has it.
 * Nothing is inserted for an account that is not ACTIVE. The erasure of a person locks the row of
 * the user: a call waits for it, and inserts nothing afterwards.
 */
const reserve = batchedStatement({
  name: 'pix-reserve',
  parameters: {
    id: 'uuid',
    userId: 'int',
    operation: 'text',
    idempotencyKey: 'text',
    fingerprint: 'bytea',
    amount: 'numeric',
    pixKey: 'text null',
    description: 'text null',
    transactionIdentification: 'text null',
    claimedUntil: 'timestamptz',
    now: 'timestamptz',
    expiresAt: 'timestamptz null',
  },
  batching: { lockOrder: ['idempotencyKey', 'userId'] },
  text: (requested) => sql<ReservedWithAccount>`
    with requested as (
      select requested.*,
             (select a.status from users u join accounts a on a.user_id = u.id
               where u.id = requested.user_id and u.status = 'ACTIVE'
                 for key share of u) as account_status
        from ${requested}
    ), ${reserveCte(`requested where account_status = 'ACTIVE'`, ', expires_at')}
    ${reservedRows('requested', 'account_status as "accountStatus"', { of: ofChargeHolder })}`,
});

type ReservedWithAccount = ReservedRow & Pick<ReservedTransaction, 'accountStatus'>;

/** The result of a reservation. */
export interface ReservedTransaction {
  /** Of the user's account; null: there is none. */
  readonly accountStatus: AccountStatus | null;
  /** Null: no transaction was stored, and none is visible that has the key. */
  readonly holder: KeyHolder | null;
}

/** Claims an idempotency key for a user with an ACTIVE account, or reads the key's holder. */
export async function reserveTransaction(
  context: LocalContext,
  reservation: Reservation,
): Promise<ReservedTransaction> {
  const { claims } = reservation;
  const claimedUntil = claimUntil(context);
  claims.add(claimedUntil.getTime());
  const [row] = await queryWithRetry(context, reserve, {
    id: reservation.id,
    userId: reservation.userId,
    operation: reservation.operation,
    ...reservationColumns(reservation),
    transactionIdentification: reservation.transactionIdentification,
    claimedUntil,
    now: context.clock.now(),
    expiresAt: reservation.expiresAt ?? null,
  });
  const own = { transaction: asStored(reservation), claimedUntil, claims };
  return {
    accountStatus: row?.accountStatus ?? null,
    holder: row ? toKeyHolder(row, own) : null,
  };
}

const ofAccount = columnsOf('accounts', 'agency, accountNumber');

/** The payer's columns that an order needs. */
export const payerColumns = `sealed_token as "sealedToken",
           account_provider as "accountProvider", ${ofAccount.select()},
           account_document as "accountDocument", account_status as "accountStatus", block`;

export interface PayerColumns extends RowOf<typeof ofAccount> {
  readonly sealedToken: Buffer;
  readonly accountProvider: string;
  readonly accountDocument: string | null;
  /** Null: there is no account. */
  readonly accountStatus: AccountStatus | null;
  /** Why no order may be made now; null: it may. */
  readonly block: OrderBlock | null;
}

/**
 * The calls of an order with their payers, if their banking sessions are active.
 * @param further columns, after a comma.
 */
export function selectPayers(requested: string, operation: OrderType, further = ''): string {
  const order = { account: 'a', row: 'requested', operation: `'${operation}'` };
  return `
      select requested.*, '${operation}' as operation,
             null as transaction_identification, s.sealed_token,
             a.provider as account_provider, a.agency, a.account_number,
             ${accountDocument} as account_document, a.status as account_status,
             ${orderBlock(order)} as block${further}
        from ${requested}
        join ${activeSessions}
        left join accounts a on a.user_id = u.id`;
}

/** The parameters that the claims of sends and of returns begin with. */
export const orderParameters = {
  sessionId: 'uuid',
  userId: 'int',
  now: 'timestamptz',
  id: 'uuid',
  idempotencyKey: 'text',
  fingerprint: 'bytea',
  amount: 'numeric',
} as const;

const sendParameters = {
  ...orderParameters,
  pixKey: 'text',
  description: 'text null',
  claimedUntil: 'timestamptz',
  namesLocal: 'boolean',
  payeeClass: 'text null',
  endToEnd: 'text null',
  payee: 'text null',
} as const;

const sendBatching = { lane: 'sends', lockOrder: ['userId', 'idempotencyKey'] } as const;

/**
 * Claims the idempotency key of a send as `reserve` does, in the statement that checks the banking
 * session and the account. No row: the session is not active. Nothing is claimed for a user with
 * limits, whose sends are judged.
 */
const reserveForSession = batchedStatement({
  name: 'pix-reserve-send',
  parameters: sendParameters,
  batching: sendBatching,
  text: (requested) => sql<ReservedSendRow>`
    with payer as (${selectPayers(
      requested,
      'SEND',
      `,
             ${hasLimit('own')} as is_limited, own.own_by_payee is not null as is_by_payee`,
    )}
        left join pix_limits own on own.user_id = requested.user_id
    ), ${reserveCte(
      `payer where block is null and ${mayPay} and not is_limited`,
      ', payee_class',
      true,
    )}
    ${reservedRows(
      'payer',
      `${payerColumns},
           is_limited as "isLimited", is_by_payee as "isByPayee"`,
    )}`,
});

type ReservedSendRow = ReservedRow &
  PayerColumns & { readonly isLimited: boolean; readonly isByPayee: boolean };

/**
 * Claims the key of a send that was judged by the limits of its user and by the payments of its
 * code, which were read with the version of the limits (`findTerms`); 0: the user has no row.
 *
 * A statement does not see later commits, so a sum alone would allow two sends that exceed a limit
 * together. Each reservation therefore increases the version of the user's row, under its lock, if
 * it is still the one that was read. Of several reservations with the same version one succeeds,
 * also within a batch; the others reserve nothing and are judged again.
 */
const reserveJudged = batchedStatement({
  name: 'pix-reserve-send-judged',
  parameters: {
    ...sendParameters,
    codeDigest: 'bytea null',
    codePayeeDigest: 'bytea null',
    codeKeyDigest: 'bytea null',
    judgedVersion: 'int',
  },
  batching: sendBatching,
  text: (requested) => sql<JudgedSendRow>`
    with payer as (${selectPayers(requested, 'SEND', ', coalesce(own.version, 0) as version')}
        left join pix_limits own on own.user_id = requested.user_id
    ), first as (
      select user_id, version + 1 as next_version, min(ordinal) as ordinal
        from payer where judged_version = version group by user_id, version
    ), counted as (
      insert into pix_limits (user_id, version)
      select user_id, next_version from first order by user_id
          on conflict (user_id) do update set version = excluded.version
       where pix_limits.version = excluded.version - 1
      returning user_id
    ), judged as (
      select payer.*, ordinal in (select ordinal from first
                                   where user_id in (select user_id from counted)) as is_current
        from payer
    ), ${reserveCte(
      `judged where block is null and ${mayPay} and is_current`,
      ', code_digest, code_payee_digest, code_key_digest, payee_class',
      true,
    )}
    ${reservedRows('judged', `${payerColumns}, is_current as "isCurrent"`)}`,
});

type JudgedSendRow = ReservedRow & PayerColumns & { readonly isCurrent: boolean };

/** What a statement has stored of a send, and what it has read. */
export interface SendClaim {
  readonly payer: Payer;
  /** Why no send may be made now; null: it may. */
  readonly block: OrderBlock | null;
  /** Null: no send was stored, and none is visible that has the key. */
  readonly holder: KeyHolder | null;
}

/** What a claim of a send alone returns besides. */
interface TimedClaim extends SendClaim {
  /** When it was made, and until when it holds: the call's, or the earlier one that is stored. */
  readonly claimedAt: Date;
  readonly claimedUntil: Date;
}

/**
 * Claims the idempotency key of a send for a payer whose account is ACTIVE and complete, and who
 * has no limits, or reads the key's holder.
 * @returns null when the session of the token is not active.
 */
export async function claimSend(
  context: LocalContext,
  token: VerifiedToken,
  { reservation, now }: { reservation: SendReservation; now: Date },
): Promise<(TimedClaim & { readonly isLimited: boolean; readonly isByPayee: boolean }) | null> {
  const call = sendCall(context, token, { reservation, now });
  const [row] = await queryWithRetry(context, reserveForSession, call);
  if (!row) return null;
  const { isLimited, isByPayee } = row;
  return { ...toClaim(token, { reservation, call, row }), isLimited, isByPayee };
}

/** How a send was judged. */
export interface SendJudgement {
  /** The time that it was judged for, by day or by night: the time that it is stored with. */
  readonly now: Date;
  /** Of the limits that it was judged by. */
  readonly version: number;
  /** False: no send is stored, and the key's holder is read. */
  readonly isAllowed: boolean;
  /** Whether it is judged again when its look-up says who is paid. */
  readonly isByPayee: boolean;
}

/** No row has this version. */
const noVersion = -1;

/**
 * Claims as {@link claimSend} does, for a send that was judged.
 * @returns null when the session of the token is not active; `isCurrent` is false when something
 *   that the send was judged by has changed.
 */
export async function claimJudgedSend(
  context: LocalContext,
  token: VerifiedToken,
  { reservation, judged }: { reservation: SendReservation; judged: SendJudgement },
): Promise<(TimedClaim & { readonly isCurrent: boolean }) | null> {
  const { code = null, payeeClass = null } = reservation;
  const call = sendCall(context, token, { reservation, now: judged.now });
  const [row] = await queryWithRetry(context, reserveJudged, {
    ...call,
    codeDigest: code?.digest ?? null,
    codePayeeDigest: code?.payeeDigest ?? null,
    codeKeyDigest: code?.keyDigest ?? null,
    payeeClass: payeeClass ?? (judged.isByPayee ? unjudgedClass : null),
    judgedVersion: judged.isAllowed ? judged.version : noVersion,
  });
  return row ? { ...toClaim(token, { reservation, call, row }), isCurrent: row.isCurrent } : null;
}

function sendCall(
  context: LocalContext,
  { sessionId, userId }: VerifiedToken,
  { reservation, now }: { reservation: SendReservation; now: Date },
) {
  const claimedUntil = claimUntil(context);
  reservation.claims.add(claimedUntil.getTime());
  return {
    sessionId,
    userId,
    now,
    id: reservation.id,
    ...reservationColumns(reservation),
    claimedUntil,
    namesLocal: context.config.provider.stub,
    payeeClass: reservation.payeeClass ?? null,
    endToEnd: reservation.paying?.endToEnd ?? null,
    payee: reservation.paying ? JSON.stringify(reservation.paying.owner) : null,
  };
}

interface CalledClaim {
  readonly reservation: SendReservation;
  readonly call: { readonly now: Date; readonly claimedUntil: Date };
  readonly row: ReservedRow & PayerColumns;
}

function toClaim(token: VerifiedToken, { reservation, call, row }: CalledClaim): TimedClaim {
  const { now: claimedAt, claimedUntil } = call;
  const { claims } = reservation;
  const own = { transaction: sendAsStored(token, reservation), claimedUntil, claims };
  const holder = toKeyHolder(row, own);
  const claimed = { claimedAt, claimedUntil: holder?.claimedUntil ?? claimedUntil };
  return { payer: toPayer(token, row), block: row.block, holder, ...claimed };
}

/** @returns a send as its claim stores it. */
export function sendAsStored(
  { userId }: Pick<VerifiedToken, 'userId'>,
  { paying = null, ...reservation }: SendReservation,
): PixTransaction {
  const terms = { operation: 'SEND', transactionIdentification: null } as const;
  const stored = asStored({ ...reservation, ...terms, userId });
  return paying ? { ...stored, phase: 'PAYING', endToEnd: paying.endToEnd } : stored;
}

function reservationColumns(reservation: SendReservation) {
  const { idempotencyKey, fingerprint, amountCents, pixKey, description } = reservation;
  return {
    idempotencyKey,
    fingerprint,
    amount: decimalFromCents(amountCents),
    pixKey,
    description,
  };
}

/** @returns the payer of a row of {@link selectPayers}. */
export function toPayer({ sessionId, userId }: VerifiedToken, row: PayerColumns): Payer {
  const { sealedToken, accountProvider: provider, agency, accountNumber } = row;
  const { accountDocument: document, accountStatus: status } = row;
  const account = status && { provider, agency, accountNumber, document, status };
  return { sessionId, sealedToken, user: { id: userId }, account };
}

/** @public For the tests of plans and of the simulation. */
export const reservationStatements = {
  reserve,
  reserveForSession,
  reserveJudged,
};
