/**
 * Who works on a transaction: the claim of an idempotency key, and its repeat. The claim is the row
 * itself and never expires.
 */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import type { ClaimedRow, PixTransactionRow } from '../db/queries/pix-row.ts';
import { takeOverTransaction } from '../db/queries/pix-transactions.ts';
import { reserveSend, type ReservedSendRow } from '../db/queries/reserve-send.ts';
import {
  reserveTransaction,
  type FoundRow,
  type ReservedForAccountRow,
} from '../db/queries/reserve-transaction.ts';
import { isDatabaseUnavailable } from '../db/unavailable.ts';
import { decimalFromCents } from '../domain/money.ts';
import { isBeforePaying, outcomeOf, phasesBeforePaying } from '../domain/pix.ts';
import { AppError, type Text } from '../errors.ts';
import type { AccountRef } from '../provider/provider.ts';
import type { VerifiedToken } from '../auth/access-tokens.ts';
import { sha256 } from '../security/digests.ts';
import { accountOrRefusal, inactiveAccount } from '../accounts/payer-account.ts';
import { claimUntil, moveTransaction, rereadTransaction, type Move } from './transactions.ts';
import type { Payer } from '../auth/principal.ts';

/** A payment, as the app asked for it. */
export interface SendReservation {
  readonly id: string;
  readonly idempotencyKey: string;
  readonly fingerprint: Buffer;
  readonly amountCents: number;
  readonly pixKey: string;
  readonly description: string | null;
}

/** A new transaction, as the app asked for it. */
export interface Reservation extends SendReservation {
  readonly userId: number;
  readonly operation: 'SEND' | 'CHARGE';
  readonly transactionIdentification: string | null;
}

export type Claim =
  /** The caller works on the transaction; `resumed` after the process that did has died. */
  | { readonly work: 'ours'; readonly resumed: boolean; readonly transaction: PixTransactionRow }
  /** Somebody else does, or the work is done: answer what stands there. */
  | { readonly work: 'theirs'; readonly transaction: PixTransactionRow };

/**
 * Claims an idempotency key, or finds who has it.
 * @throws AppError VALIDATION_FAILED when the account is not ACTIVE and there is nothing to answer,
 *   or the key was used for a different request.
 */
export async function claimTransaction(
  context: LocalContext,
  reservation: Reservation,
): Promise<Claim> {
  const parameters = [
    reservation.id,
    reservation.userId,
    reservation.operation,
    ...termsOf(reservation),
    reservation.transactionIdentification,
    claimUntil(context),
    context.clock.now(),
  ];
  for (let look = 0; look < mostLooks; look += 1) {
    const [row] = await askSurely<ReservedForAccountRow>(context, reserveTransaction, parameters);
    if (!row) break;
    const { account_status: status } = row;
    if (row.reserved === null) {
      if (status !== 'ACTIVE') throw inactiveAccount(status);
      continue;
    }
    const claim = await claimOf(context, reservation, row);
    if (claim.work === 'theirs' || status === 'ACTIVE') return claim;
    return giveUp(context, claim.transaction, inactiveAccount(status));
  }
  throw neitherClaimedNorFound();
}

type Theirs = Extract<Claim, { readonly work: 'theirs' }>;

/** A send whose key was claimed, with the payer, or the stored send that has the key. */
export type ClaimedSend =
  | (Extract<Claim, { readonly work: 'ours' }> & {
      readonly payer: Payer;
      readonly account: AccountRef;
    })
  | Theirs;

/**
 * Claims the idempotency key of a send, or finds who has it, in one statement with the check of the
 * banking session.
 * @throws AppError UNAUTHENTICATED when the session that the token names is not active, and
 *   VALIDATION_FAILED when the payer's account is not ACTIVE or not complete and there is nothing
 *   to answer, or the key was used for a different request.
 */
export async function claimSend(
  context: LocalContext,
  token: VerifiedToken,
  reservation: SendReservation,
): Promise<ClaimedSend> {
  const { sessionId, userId } = token;
  const terms = { operation: 'SEND', transactionIdentification: null } as const;
  const now = context.clock.now();
  const session = [sessionId, userId, now, reservation.id];
  const parameters = [
    ...session,
    ...termsOf(reservation),
    claimUntil(context),
    context.config.provider.stub,
  ];
  for (let look = 0; look < mostLooks; look += 1) {
    const [row] = await askSurely<ReservedSendRow>(context, reserveSend, parameters);
    if (!row) throw new AppError('UNAUTHENTICATED');
    const payer = payerOf(token, row);
    const account = accountOrRefusal(context, payer);
    if (row.reserved === null) {
      if (account instanceof AppError) throw account;
      continue;
    }
    const claim = await claimOf(context, { ...reservation, ...terms, userId }, row);
    if (claim.work === 'theirs') return claim;
    if (account instanceof AppError) return giveUp(context, claim.transaction, account);
    return { ...claim, payer, account };
  }
  throw neitherClaimedNorFound();
}

/** Nothing of it has left: no payment before PAYING, and no code of a charge that anybody has. */
const accountNotActive: Move = {
  from: phasesBeforePaying,
  to: 'SETTLED',
  status: 'FAILED',
  outcome: 'not_sent',
  failureCode: 'ACCOUNT_NOT_ACTIVE',
  timeline: [{ phase: 'SETTLED', note: 'account_not_active' }],
};

/**
 * Fails a transaction whose account may no longer pay, before it is paid.
 * @returns the transaction, where another process has moved it meanwhile.
 * @throws the refusal, and that nothing was sent.
 */
export async function giveUp(
  context: LocalContext,
  transaction: PixTransactionRow,
  { code, fields = {} }: AppError,
): Promise<Theirs> {
  if (await moveTransaction(context, transaction.id, accountNotActive)) {
    const isSend = transaction.operation === 'SEND';
    throw new AppError(code, { fields, ...(isSend && { headers: { 'Pix-Outcome': 'not_sent' } }) });
  }
  return { work: 'theirs', transaction: await rereadTransaction(context, transaction) };
}

/**
 * A second look finds the row that the first one ran into: it is committed by then. A failover may
 * have lost it, and the second look run into another one.
 */
const mostLooks = 3;

function neitherClaimedNorFound(): Error {
  return new Error('an idempotency key was neither claimed nor found');
}

function termsOf(reservation: SendReservation) {
  const { idempotencyKey, fingerprint, amountCents, pixKey, description } = reservation;
  return [idempotencyKey, fingerprint, decimalFromCents(amountCents), pixKey, description] as const;
}

function payerOf({ sessionId, userId }: VerifiedToken, row: ReservedSendRow): Payer {
  return {
    sessionId,
    sealedToken: row.sealed_token,
    user: { id: userId, document: row.user_document },
    account: row.account_status && {
      provider: row.account_provider,
      agency: row.agency,
      accountNumber: row.account_number,
      document: row.account_document,
      status: row.account_status,
    },
  };
}

/** A connection that breaks may break after the commit: a second try finds its own row then. */
async function askSurely<Row>(
  { db }: LocalContext,
  statement: Statement,
  parameters: readonly unknown[],
): Promise<Row[]> {
  try {
    return await db.query<Row>(statement, parameters);
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    return db.query<Row>(statement, parameters);
  }
}

async function claimOf(
  context: LocalContext,
  reservation: Reservation,
  row: FoundRow,
): Promise<Claim> {
  if (row.id === null) {
    return { work: 'ours', resumed: false, transaction: asStored(reservation) };
  }
  if (row.reserved) return { work: 'ours', resumed: false, transaction: row };
  if (!row.fingerprint?.equals(reservation.fingerprint)) throw keyUsedElsewhere(row);
  const taken = isResumable(row, context.clock.now()) ? await takeOver(context, row.id) : null;
  return taken
    ? { work: 'ours', resumed: true, transaction: taken }
    : { work: 'theirs', transaction: row };
}

/** A transaction that was stored just now, as it was asked for. */
function asStored(reservation: Reservation): PixTransactionRow {
  return {
    id: reservation.id,
    user_id: reservation.userId,
    operation: reservation.operation,
    idempotency_key: reservation.idempotencyKey,
    status: 'PROCESSING',
    phase: 'RESERVED',
    outcome: null,
    amount: decimalFromCents(reservation.amountCents),
    end_to_end: null,
    transaction_identification: reservation.transactionIdentification,
    qr_code: null,
    copy_paste: null,
  };
}

function isResumable(row: ClaimedRow, now: Date): boolean {
  return isBeforePaying(row.phase) && (row.claimed_until === null || row.claimed_until <= now);
}

async function takeOver(context: LocalContext, id: string): Promise<PixTransactionRow | null> {
  const now = context.clock.now();
  const [row] = await context.db.query<PixTransactionRow>(takeOverTransaction, [
    id,
    claimUntil(context),
    now,
  ]);
  return row ?? null;
}

const usedElsewhere: Text = {
  en: 'This key belongs to another request. See first what became of that one.',
  pt: 'Esta chave pertence a outra requisição. Veja antes o que aconteceu com aquela.',
};

/** Beside the refusal, a send is told what became of the payment that has the key. */
function keyUsedElsewhere(row: PixTransactionRow): AppError {
  const isSend = row.operation === 'SEND';
  return new AppError('VALIDATION_FAILED', {
    fields: { 'Idempotency-Key': [usedElsewhere] },
    ...(isSend && { headers: { 'Pix-Outcome': outcomeOf(row) } }),
  });
}

/**
 * The fingerprint of a request: the same for every way to write the same values, so that `10`,
 * `10.0` and `1e1` are one amount. Values that are absent and null are the same.
 * @param values in a fixed order.
 */
export function fingerprintOf(values: readonly unknown[]): Buffer {
  return sha256(JSON.stringify(values.map((value) => value ?? null)));
}
