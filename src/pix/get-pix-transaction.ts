import { entityTag, matchesEntityTag } from '../domain/entity-tag.ts';
import { AppError } from '../errors.ts';
import type { OperationReply, TokenOperation } from '../context/operation.ts';
import { viewTransaction, type PixView } from './pix-transaction-repository.ts';
import { formatCode, correctionPart, detailPart } from './transaction-reply.ts';
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
  async run(context, { input, token, request }) {
    const find = () => viewTransaction(context, token, input.path.transactionId);
    let transaction = await find();
    if (!transaction) throw new AppError('NOT_FOUND');

    let waitSeconds = waitPreference(input.headers.Prefer);
    if (waitSeconds !== null && transaction.status === 'PROCESSING') {
      const deadline = { waitMs: waitSeconds * 1_000, signal: request.signal };
      // The stored id: that of the path may be in upper case, that of a notification never is.
      const wait = { find, transactionId: transaction.id, userId: token.userId, ...deadline };
      const result = await waitForStatus(context, wait);
      if (result.waited) transaction = result.transaction ?? transaction;
      else waitSeconds = null;
    }
    return reply(transaction, { ifNoneMatch: input.headers['If-None-Match'], waitSeconds });
  },
};

/** @returns the seconds of `wait=N`, at most 30, or null: RFC 7240 ignores an invalid value. */
function waitPreference(prefer: string | undefined): number | null {
  const match = /(?:^|[,;\s])wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(prefer ?? '');
  return match ? Math.min(Number(match[1]), maxWaitSeconds) : null;
}

function reply(
  transaction: PixView,
  { ifNoneMatch, waitSeconds }: { ifNoneMatch: string | undefined; waitSeconds: number | null },
): OperationReply<'getPixTransaction'> {
  const body = {
    transaction_id: transaction.id,
    status: transaction.status,
    ...detailPart(transaction),
    ...formatCode(transaction),
    ...correctionPart(transaction),
  };
  const etag = entityTag(JSON.stringify(body));
  const headers = {
    ETag: etag,
    ...(waitSeconds !== null && { 'Preference-Applied': `wait=${waitSeconds}` }),
  };
  return matchesEntityTag(ifNoneMatch, etag)
    ? { status: 304, body: undefined, headers }
    : { status: 200, body, headers };
}
