import { entityTag, matchesEntityTag } from '../domain/entity-tag.ts';
import { AppError, type Locale } from '../errors.ts';
import type { OperationReply, TokenOperation } from '../context/operation.ts';
import { viewTransaction, type PixView } from '../ledger/pix-transaction-repository.ts';
import { nextHeader } from './order-refusal.ts';
import { formatCode, correctionPart, detailPart, failurePart } from './transaction-reply.ts';
import { waitForStatus } from './wait-for-status.ts';

/** The longest that a request may wait for a status, in seconds. */
const maxWaitSeconds = 30;

/**
 * A transaction as it is stored here; the provider is not called. `Prefer: wait=N` (RFC 7240)
 * delays the reply until the status leaves PROCESSING, `If-None-Match` omits a body that the app
 * has already.
 */
export const getPixTransaction: TokenOperation<'getPixTransaction'> = {
  // The most frequent request: the read itself checks the session.
  access: 'token',
  checksSession: true,
  // An id of another form names no transaction either.
  refusalHeaders: ({ status, order = status === 404 ? unknownTransaction : undefined }) =>
    nextHeader(status, order),
  async run(context, { input, token, request }) {
    const find = () => viewTransaction(context, token, input.path.transactionId);
    let transaction = await find();
    if (!transaction) throw new AppError('NOT_FOUND', { order: unknownTransaction });

    let waitSeconds = waitPreference(input.headers.Prefer);
    if (waitSeconds !== null && transaction.status === 'PROCESSING') {
      const deadline = { waitMs: waitSeconds * 1_000, signal: request.signal };
      // The stored id: that of the path may be in upper case, that of a notification never is.
      const wait = { find, transactionId: transaction.id, userId: token.userId, ...deadline };
      const result = await waitForStatus(context, wait);
      if (result.waited) transaction = result.transaction ?? transaction;
      else waitSeconds = null;
    }
    const ifNoneMatch = input.headers['If-None-Match'];
    const { locale } = request;
    return reply(transaction, { ifNoneMatch, waitSeconds, locale, now: context.clock.now() });
  },
};

/** A quoted string; one that is not closed ends with the header. */
const quoted = /"(?:[^"\\]|\\.?)*(?:"|$)/g;

const isNumber = /^"\d+"$/;

/** @returns the seconds of `wait=N`, at most 30, or null: RFC 7240 ignores an invalid value. */
function waitPreference(prefer: string | undefined): number | null {
  if (prefer === undefined) return null;
  // The text of another preference may look like this one.
  const withoutTexts = prefer.replaceAll(quoted, (text) => (isNumber.test(text) ? text : '""'));
  const match = /(?:^|[,;\s])wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(withoutTexts);
  return match ? Math.min(Number(match[1]), maxWaitSeconds) : null;
}

const unknownTransaction = { outcome: 'unknown', doubt: 'no_transaction' } as const;

interface ReplyOptions {
  readonly ifNoneMatch: string | undefined;
  /** The wait that was granted; null: none. */
  readonly waitSeconds: number | null;
  readonly locale: Locale;
  readonly now: Date;
}

function reply(
  transaction: PixView,
  { ifNoneMatch, waitSeconds, locale, now }: ReplyOptions,
): OperationReply<'getPixTransaction'> {
  const body = {
    transaction_id: transaction.id,
    status: transaction.status,
    ...detailPart(transaction, now),
    ...formatCode(transaction),
    ...correctionPart(transaction),
    ...failurePart(transaction, locale),
  };
  const etag = entityTag(JSON.stringify(body));
  const headers = {
    ETag: etag,
    ...nextHeader(200, { stored: transaction }),
    ...(waitSeconds !== null && { 'Preference-Applied': `wait=${waitSeconds}` }),
  };
  return matchesEntityTag(ifNoneMatch, etag)
    ? { status: 304, body: undefined, headers }
    : { status: 200, body, headers };
}
