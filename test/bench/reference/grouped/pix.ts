/** Sends and their state at the grouped server. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { findSchema, sendSchema } from '../schemas.ts';
import type { SendRequest, TransactionRow } from '../send.ts';
import { ajv, readBytes, invalid, notFound, parsed, unauthenticated } from './reply.ts';
import type { Reply, Parts } from './reply.ts';
import { grouped, type OrdinalRow } from './batcher.ts';
import { createGroupedSend } from './send.ts';
import { findTransactions, type WriteStatements } from './statements.ts';

type FoundRow = OrdinalRow &
  Pick<TransactionRow, 'status' | 'qr_code' | 'copy_paste'> & { readonly id: string | null };

const isKey = ajv.compile(sendSchema.headers);
const isSend = ajv.compile<SendRequest['body']>(sendSchema.body);
const isPath = ajv.compile(findSchema.params);

export function addPix(parts: Parts, statements: WriteStatements) {
  const { query, decodeClaims } = parts;
  const executeSend = createGroupedSend(parts, statements);
  const find = grouped<FoundRow>(query, findTransactions);
  return {
    async send(request: IncomingMessage): Promise<Reply> {
      const claims = decodeClaims(request);
      if (!claims) return unauthenticated;
      const body = parsed(await readBytes(request));
      if (!isKey(request.headers) || !isSend(body)) return invalid;
      const key = request.headers['idempotency-key'];
      const caller = { userId: Number(claims.sub), sessionId: claims.sid };
      const sent = await executeSend({ ...caller, key, body });
      if (sent === 'no session') return unauthenticated;
      if (typeof sent === 'string') return { status: 422, body: { message: sent } };
      const { id, status, end_to_end: endToEnd, outcome } = sent.transaction;
      const replayed = sent.replayed ? ['Idempotency-Replayed', 'true'] : [];
      return {
        status: 200,
        headers: ['Pix-Outcome', outcome ?? 'unknown', ...replayed],
        body: { transaction_id: id, status, ...(endToEnd !== null && { end_to_end: endToEnd }) },
      };
    },

    async find(request: IncomingMessage, id: string): Promise<Reply> {
      const claims = decodeClaims(request);
      if (!claims) return unauthenticated;
      if (!isPath({ transactionId: id })) return invalid;
      const row = await find([claims.sid, Number(claims.sub), id]);
      if (!row) return unauthenticated;
      if (row.id === null) return notFound;
      const body = {
        transaction_id: row.id,
        status: row.status,
        ...(row.qr_code !== null && { qr_code: row.qr_code }),
        ...(row.copy_paste !== null && { copy_paste: row.copy_paste }),
      };
      const hash = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
      const etag = `"${hash.slice(0, 22)}"`;
      const headers = ['ETag', etag];
      if (request.headers['if-none-match'] === etag) return { status: 304, headers };
      return { status: 200, headers, body };
    },
  };
}
