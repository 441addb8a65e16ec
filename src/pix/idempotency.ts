/**
 * Idempotency: the claim of a key, its replay, and the fingerprint of a request. The claim is the
 * transaction itself, which never expires.
 */
import { accountOrRefusal, inactiveAccount } from '../accounts/payer-account.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import type { Payer } from '../domain/principal.ts';
import type { Context, LocalContext } from '../context/context.ts';
import { isOrder, type OrderType } from '../domain/pix.ts';
import { AppError, type RefusedOrder } from '../errors.ts';
import type { AccountRef } from '../provider/provider.ts';
import { sha256 } from '../security/digests.ts';
import { blockedRefusal, pausedRefusal } from './block-refusals.ts';
import type { OrderBlock } from '../ledger/block.ts';
import { noticeLostCommit, rereadTransaction } from '../ledger/lost-commits.ts';
import {
  isSameRequest,
  keyUsedElsewhere,
  refuseOrder,
  type RefusedRequest,
} from './refuse-order.ts';
import { keepUnfailed } from './release-claim.ts';
import type { OrderRefusal } from './rule-refusal.ts';
import { endUnsent, moveTransaction } from '../ledger/move-repository.ts';
import {
  takeOverTransaction,
  type PixTransaction,
  type SentView,
} from '../ledger/pix-transaction-repository.ts';
import { isResumable, wasRefusedForSession, type KeyHolder } from '../ledger/key-holder.ts';
import {
  reserveTransaction,
  type Reservation,
  type SendReservation,
} from '../ledger/reservation-repository.ts';

/** The caller now works on the transaction; `resumed`: an earlier request has stored it. */
interface Claimed {
  readonly result: 'claimed';
  readonly resumed: boolean;
  readonly transaction: PixTransaction;
}

/**
 * Another process works on the transaction, or the work is finished: reply with the stored state.
 */
interface Replay {
  readonly result: 'replay';
  readonly transaction: PixTransaction;
}

export type Claim = Claimed | Replay;

/**
 * Claims an idempotency key, or finds the transaction that has it.
 * @throws AppError VALIDATION_FAILED when the account is not ACTIVE and there is nothing to replay,
 *   or when the key was used for a different request.
 */
export async function claimTransaction(
  context: LocalContext,
  reservation: Reservation,
): Promise<Claim> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { accountStatus, holder } = await reserveTransaction(context, reservation);
    if (!holder) {
      if (accountStatus !== 'ACTIVE') throw inactiveAccount(accountStatus);
      continue;
    }
    const claim = await claimFrom(context, reservation, holder);
    if (claim.result === 'replay' || accountStatus === 'ACTIVE') return claim;
    return failForAccount(context, claim.transaction, inactiveAccount(accountStatus));
  }
  throw neitherClaimedNorFound();
}

/** An order whose key is claimed, with the payer, or the stored order that has the key. */
export type OrderClaim<Reserved extends ReservedOrder = ReservedOrder> =
  | (Claimed & { readonly reserved: Reserved; readonly account: AccountRef })
  | { readonly result: 'replay'; readonly transaction: SentView }
  /** Nothing was claimed: the payer's statement must be read first, because commits were lost. */
  | { readonly result: 'unread'; readonly payer: Payer };

/** The fields of an order that its claim depends on. */
type RequestedOrder = Pick<SendReservation, 'idempotencyKey' | 'fingerprint' | 'amountCents'>;

/** The result of the reservation of an order. */
export interface ReservedOrder {
  readonly payer: Payer;
  /** Why no order may be made now; null: it may. */
  readonly block: OrderBlock | null;
  /** Null: nothing was stored, and no order is visible that has the key. */
  readonly holder: KeyHolder | null;
  /** False: the sums were out of date, and nothing was reserved for that reason. */
  readonly isCurrent: boolean;
  /** Why the order itself was not reserved; null: for another reason. */
  readonly refusal: OrderRefusal | null;
}

/** The claim of the key of an order. */
export interface RequestedClaim<Reserved extends ReservedOrder = ReservedOrder> {
  readonly operation: OrderType;
  readonly order: RequestedOrder;
  /** Reads the order that has the key, where that costs less than the reservation. */
  readReplay?(): Promise<SentView | null>;
  /** @returns null when the session of the token is not active. */
  reserve(): Promise<Reserved | null>;
  /** The order of a request that the reservation has refused. */
  asRefused(reserved: Reserved): RefusedRequest;
}

/**
 * Claims the idempotency key of an order, or finds the order that has it, in one statement with the
 * check of the banking session. A key that this process has seen is read first, because most
 * repeats find the result of their order. If the read does not find it, the claim decides.
 * @throws AppError UNAUTHENTICATED when the session of the token is not active, PIX_PAUSED, and
 *   VALIDATION_FAILED when the payer's account is not ACTIVE or not complete, or the amount may
 *   have been paid by a lost order, and there is nothing to replay, or when the key was used for a
 *   different request; and the refusal of the reservation, which closes the key.
 */
export async function claimOrder<Reserved extends ReservedOrder>(
  context: Context,
  token: VerifiedToken,
  claim: RequestedClaim<Reserved>,
): Promise<OrderClaim<Reserved>> {
  const { claimedKeys } = context;
  const { operation, order } = claim;
  const key = { operation, idempotencyKey: order.idempotencyKey };
  const seenAt = claimedKeys.seenAt(token.userId, key);
  if (seenAt) {
    const transaction = await claim.readReplay?.();
    if (transaction) {
      claimedKeys.add(token.userId, key, context.clock.now());
      return { result: 'replay', transaction };
    }
  }
  const claimed = await claimKey(context, token, claim);
  if (claimed.result === 'unread') return claimed;
  if (seenAt && claimed.result === 'claimed' && !claimed.resumed) {
    // The order that this process has seen under the key is gone: another one must not be paid.
    const lost = { missing: 'the order of a key', committedAt: seenAt };
    if (await noticeLostCommit(context, lost)) throw pausedRefusal('unknown');
  }
  claimedKeys.add(token.userId, key, context.clock.now());
  return claimed;
}

async function claimKey<Reserved extends ReservedOrder>(
  context: Context,
  token: VerifiedToken,
  { order, reserve, asRefused }: RequestedClaim<Reserved>,
): Promise<OrderClaim<Reserved>> {
  let isOvertaken = false;
  for (let attempt = 0; attempt < (isOvertaken ? maxOvertaken : maxAttempts); attempt += 1) {
    const reserved = await reserve();
    if (!reserved) throw new AppError('UNAUTHENTICATED');
    const { payer, holder, block } = reserved;
    const account = accountOrRefusal(context, payer);
    const isOpen = holder === null || isResumable(context, holder);
    if (isOpen && block !== null && !(account instanceof AppError)) {
      if (block === 'unread') return { result: 'unread', payer };
      if (holder === null || block !== 'paused') throw blockedRefusal(block);
      return { result: 'replay', transaction: holder.transaction };
    }
    if (!holder) {
      const refusal = findRefusal(reserved, account);
      if (refusal !== null) {
        const request = asRefused(reserved);
        const transaction = await refuseOrder(context, token, { refusal, request });
        return { result: 'replay', transaction };
      }
      isOvertaken = !reserved.isCurrent;
      continue;
    }
    const claim = await claimFrom(context, order, holder);
    if (claim.result === 'replay') {
      const mayPay = block === null && !(account instanceof AppError);
      if (!mayPay || !wasRefusedForSession(context, holder)) return claim;
      return { ...claim, result: 'claimed', resumed: true, reserved, account };
    }
    if (account instanceof AppError) return failForAccount(context, claim.transaction, account);
    return { ...claim, reserved, account };
  }
  if (isOvertaken) throw new AppError('BUSY');
  throw neitherClaimedNorFound();
}

/** @returns why the order was not reserved; null: another one was faster. */
function findRefusal(reserved: ReservedOrder, account: AccountRef | AppError): OrderRefusal | null {
  const { payer, isCurrent, refusal } = reserved;
  if (!(account instanceof AppError)) return isCurrent ? refusal : null;
  const status = payer.account?.status ?? 'ACTIVE';
  const isActive = status === 'ACTIVE';
  return { error: account, failureCode: isActive ? 'ACCOUNT_INCOMPLETE' : 'ACCOUNT_NOT_ACTIVE' };
}

/**
 * A second attempt finds the row that the first one conflicted with, which is committed by then. If
 * a failover has lost that row, the second attempt may conflict with another one.
 */
const maxAttempts = 3;

/**
 * A limited send is overtaken when another send of the user is reserved at the same time, and a
 * return when another refund of its payment is; one of them always succeeds. The limit is more than
 * a person orders at the same time.
 */
const maxOvertaken = 50;

function neitherClaimedNorFound(): Error {
  return new Error('an idempotency key was neither claimed nor found');
}

async function claimFrom(
  context: LocalContext,
  reservation: RequestedOrder,
  holder: KeyHolder,
): Promise<Claim> {
  const { transaction } = holder;
  if (holder.isNew) return { result: 'claimed', resumed: false, transaction };
  if (!isSameRequest(reservation, holder)) throw keyUsedElsewhere(transaction);
  if (!isResumable(context, holder)) return { result: 'replay', transaction };
  const taken = await takeOverTransaction(context, transaction.id);
  if (taken) return { result: 'claimed', resumed: true, transaction: taken };
  // Another process has it, or has ended it meanwhile.
  return { result: 'replay', transaction: await rereadTransaction(context, transaction) };
}

/** Nothing was sent: a payment is before PAYING, and no app has the code of a charge. */
const accountNotActive = endUnsent('ACCOUNT_NOT_ACTIVE', { note: 'account_not_active' });

/**
 * Fails a transaction before it is paid, because its account may no longer pay.
 * @returns the transaction, if another process has moved it meanwhile.
 * @throws AppError the refusal, and that nothing was sent; or as `keepUnfailed` does.
 */
export async function failForAccount(
  context: LocalContext,
  transaction: PixTransaction,
  { code, fields = {} }: AppError,
): Promise<Replay> {
  // A claim that was repeated may find its own PAYING, and an account that was blocked since.
  const { id, phase, endToEnd } = transaction;
  const begun = phase === 'PAYING' && { from: [phase], endToEnd };
  const stored = await moveTransaction(context, id, { ...accountNotActive, ...begun });
  if (stored) {
    const order = { outcome: 'not_sent', stored } as const;
    throw new AppError(code, { fields, ...(isOrder(stored.operation) && { order }) });
  }
  const refuse = (doubted: RefusedOrder) => new AppError(code, { fields, order: doubted });
  return { result: 'replay', transaction: await keepUnfailed(context, transaction, refuse) };
}

/**
 * The fingerprint of a request: the same for every way to write the same values, so that `10`,
 * `10.0` and `1e1` are one amount. Values that are absent and null are the same.
 * @param values in a fixed order.
 */
export function computeFingerprint(values: readonly unknown[]): Buffer {
  return sha256(JSON.stringify(values.map((value) => value ?? null)));
}
