/** Reading a request's body: its media type, its size, its JSON. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';
import type { BodyContract } from './contract.ts';
import { ClientGone, type Exchange } from './exchange.ts';
import { parseJson } from './json.ts';

const MAX_BODY_BYTES = 256 * 1024;

const MEDIA_TYPES = { json: 'application/json', multipart: 'multipart/form-data' } as const;

const NO_BYTES = Buffer.alloc(0);

/** A body as far as it has been read. */
export interface ReadBody {
  /** False when the request came without a body, or with an empty one. */
  readonly isGiven: boolean;
  readonly raw: Buffer;
  readonly value: unknown;
}

const NO_BODY: ReadBody = { isGiven: false, raw: NO_BYTES, value: undefined };

/**
 * Reads the body that the contract declares. One that it does not declare stays on the wire and is
 * discarded after the answer, as does a form, which is no JSON.
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or MALFORMED_JSON.
 * @throws ClientGone when the connection ends before the body does.
 */
export async function readBody(
  exchange: Exchange,
  contract: BodyContract | null,
): Promise<ReadBody> {
  const { request } = exchange;
  if (contract === null) return NO_BODY;
  if (!announcesBody(request)) return noBody(contract);
  requireMediaType(request, contract.media);
  if (contract.media === 'multipart') return { ...NO_BODY, isGiven: true };
  if (declaredLength(request) > MAX_BODY_BYTES) throw new AppError('PAYLOAD_TOO_LARGE');
  if (exchange.awaitsContinue) {
    exchange.awaitsContinue = false;
    exchange.response.writeContinue();
  }
  const raw = await readBytes(request);
  if (raw.length === 0) return noBody(contract);
  return { isGiven: true, raw, value: parseJson(raw) };
}

/** Nothing is no JSON either: what is stored as it came has to be something. */
function noBody({ isStoredAsBytes }: BodyContract): ReadBody {
  if (isStoredAsBytes) throw new AppError('MALFORMED_JSON');
  return NO_BODY;
}

/** Whether what has not been read of a body may be more than is worth keeping a connection for. */
export function mayHaveMuchUnread(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  return isChunked || declaredLength(request) > MAX_BODY_BYTES;
}

function announcesBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || declaredLength(request) > 0;
}

function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

function requireMediaType(request: IncomingMessage, media: BodyContract['media']): void {
  const { 'content-type': contentType = '', 'content-encoding': encoding } = request.headers;
  const isPlain = encoding === undefined || encoding.trim().toLowerCase() === 'identity';
  if (isPlain && isMediaType(contentType, MEDIA_TYPES[media])) return;
  throw new AppError('UNSUPPORTED_MEDIA_TYPE');
}

/** Compares without parameters; of those only a charset other than UTF-8 is refused. */
function isMediaType(header: string, expected: string): boolean {
  if (header === expected) return true;
  const [essence = '', ...parameters] = header.split(';').map((part) => part.trim());
  const charset = parameters
    .map((parameter) => /^charset="?([^"]*)"?$/i.exec(parameter)?.[1]?.toLowerCase())
    .find((name) => name !== undefined);
  return essence.toLowerCase() === expected && (charset === undefined || charset === 'utf-8');
}

function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const keep = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= MAX_BODY_BYTES) return;
      request.off('data', keep);
      reject(new AppError('PAYLOAD_TOO_LARGE'));
    };
    const leave = (): void => reject(new ClientGone());
    request.on('data', keep);
    request.once('end', () => resolve(Buffer.concat(chunks, size)));
    request.once('error', leave);
    request.once('close', leave);
  });
}
