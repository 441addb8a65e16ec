/** The reply of a stored send, return or charge, to the first request and to every repeat. */
import { storedOutcome } from '../domain/pix.ts';
import type { Locale } from '../errors.ts';
import { failureReason } from './failure-reason.ts';
import { nextHeader } from './order-refusal.ts';
import type { PixTransaction, PixView, SentView } from '../ledger/pix-transaction-repository.ts';

const replayedHeader = { 'Idempotency-Replayed': 'true' } as const;

/** What a reply depends on besides its transaction. */
interface ReplyFacts {
  readonly replayed: boolean;
  readonly locale: Locale;
  readonly now: Date;
}

/** How long the outcome of a payment is unknown before the app says that it is checked, in ms. */
const checkedAfterMs = 15 * 60_000;

/** The reply of a send. */
export function pixReply(transaction: SentView, facts: ReplyFacts) {
  const { endToEnd } = transaction;
  return orderReply(transaction, facts, { ...(endToEnd !== null && { end_to_end: endToEnd }) });
}

/** The reply of a return. */
export function returnReply(transaction: SentView, facts: ReplyFacts) {
  const { endToEnd } = transaction;
  return orderReply(transaction, facts, { ...(endToEnd !== null && { return_id: endToEnd }) });
}

/**
 * The reply of an order; `Pix-Outcome` says what is known of the payment, and `Pix-Next` what the
 * app does.
 */
function orderReply<Part extends object>(
  transaction: SentView,
  { replayed, locale, now }: ReplyFacts,
  part: Part,
) {
  const { id, status } = transaction;
  const reason = { ...detailPart(transaction, now), ...failurePart(transaction, locale) };
  return {
    status: 200,
    body: { transaction_id: id, status, ...part, ...reason },
    headers: {
      'Pix-Outcome': storedOutcome(transaction),
      ...nextHeader(200, { stored: transaction }),
      ...(replayed && replayedHeader),
    },
  } as const;
}

/** Why a transaction is FAILED, in the caller's language. */
export function failurePart(
  { status, failureCode }: Pick<PixView, 'status' | 'failureCode'>,
  locale: Locale,
) {
  if (status !== 'FAILED') return {};
  const { code, text } = failureReason(failureCode);
  return { failure: { code, message: text[locale] } };
}

type Waiting = Pick<PixTransaction, 'status' | 'outcome' | 'heldAt' | 'createdAt'>;

/** Why a payment is PROCESSING for long: its bank analyses it, or its outcome is unknown. */
export function detailPart({ status, outcome, heldAt = null, createdAt }: Waiting, now: Date) {
  if (status !== 'PROCESSING') return {};
  if (heldAt !== null) return { detail: 'UNDER_ANALYSIS' } as const;
  const isOld = createdAt !== undefined && now.getTime() >= createdAt.getTime() + checkedAfterMs;
  return outcome === 'unknown' && isOld ? ({ detail: 'BEING_CHECKED' } as const) : {};
}

/** The reply of a charge, with its code if it is stored. */
export function chargeReply(
  transaction: PixTransaction,
  { replayed, locale }: Omit<ReplyFacts, 'now'>,
) {
  return {
    status: 200,
    body: {
      transaction_id: transaction.id,
      status: transaction.status,
      ...formatCode(transaction),
      ...failurePart(transaction, locale),
    },
    headers: { ...(replayed && replayedHeader) },
  } as const;
}

/** The code of a charge, if there is one, and when it expires. */
export function formatCode({
  qrCode,
  copyPaste,
  expiresAt,
}: Pick<PixTransaction, 'qrCode' | 'copyPaste' | 'expiresAt'>) {
  if (qrCode === null && copyPaste === null) return {};
  // Older releases stored the code's text where the provider had sent no image.
  const isImage = qrCode !== null && !qrCode.startsWith('000201');
  return {
    ...(isImage && { qr_code: qrCode }),
    ...(copyPaste !== null && { copy_paste: copyPaste }),
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
  };
}

/**
 * When a FAILED transaction became COMPLETED, and the later send that may have paid it again; when
 * a COMPLETED one became FAILED.
 */
export function correctionPart({
  correctedAt,
  paidAgainBy,
  overruledAt,
}: Pick<PixView, 'correctedAt' | 'paidAgainBy' | 'overruledAt'>) {
  return {
    ...(correctedAt !== null && { corrected_at: correctedAt.toISOString() }),
    ...(paidAgainBy !== null && { paid_again_by: paidAgainBy }),
    ...(overruledAt !== null && { overruled_at: overruledAt.toISOString() }),
  };
}
