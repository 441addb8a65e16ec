/** Reading a request's body: its media type, its size, its JSON; a form is only made ready. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';
import { MAX_BODY_BYTES } from '../contract/body-limit.ts';
import type { BodyContract, FormContract } from '../contract/contract.ts';
import { ClientGone, type Exchange } from './exchange.ts';
import { IncomingForm } from './form.ts';
import { outlineOf, parseJson } from './json.ts';
import { boundaryOf, fileTooLarge, maxFormBytes } from './multipart.ts';

const MEDIA_TYPES = { json: 'application/json', multipart: 'multipart/form-data' } as const;

const NO_BYTES = Buffer.alloc(0);

export interface BodyLimits {
  /** The largest file that a form may carry. The contract limits JSON. */
  readonly uploadMaxBytes: number;
}

/** A body as far as it has been read. */
export interface ReadBody {
  /** False when the request came without a body, or with an empty one. */
  readonly isGiven: boolean;
  readonly raw: Buffer;
  readonly value: unknown;
  /** Whether it is still on its way: the value is a form then, which the operation reads. */
  readonly isComing: boolean;
  /** Whether the value is an {@link outlineOf outline}: the bytes are read later. */
  readonly isOutline: boolean;
}

/** Larger bodies that are stored as bytes are not parsed while the caller waits. */
const MAX_PARSED_BYTES = 16 * 1024;

const NO_BODY: ReadBody = {
  isGiven: false,
  raw: NO_BYTES,
  value: undefined,
  isComing: false,
  isOutline: false,
};

/**
 * Reads the body that the contract declares. One that it does not declare stays on the wire and is
 * discarded after the answer.
 *
 * @param contract null when the contract declares no body.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, MALFORMED_JSON, or BAD_REQUEST for a
 *   form without a boundary.
 * @throws ClientGone when the connection ends before the body does.
 */
export async function readBody(
  exchange: Exchange,
  contract: BodyContract | null,
  { uploadMaxBytes }: BodyLimits,
): Promise<ReadBody> {
  const { request } = exchange;
  if (contract === null) return NO_BODY;
  if (!announcesBody(request)) return noBody(contract);
  requireMediaType(request, contract.media);
  if (contract.form !== null) {
    const form = incomingForm(exchange, contract.form, uploadMaxBytes);
    return { ...NO_BODY, isGiven: true, value: form, isComing: true };
  }
  if (declaredLength(request) > contract.maxBytes) throw new AppError('PAYLOAD_TOO_LARGE');
  exchange.awaitBody();
  const raw = await readBytes(request, contract.maxBytes);
  return jsonBody(contract, raw);
}

/**
 * Parses a body of JSON that has come in whole.
 * @throws AppError MALFORMED_JSON
 */
export function jsonBody(contract: BodyContract, raw: Buffer): ReadBody {
  if (raw.length === 0) return noBody(contract);
  const isOutline = contract.isStoredAsBytes && raw.length > MAX_PARSED_BYTES;
  const value = isOutline ? outlineOf(raw) : parseJson(raw);
  return { isGiven: true, raw, value, isComing: false, isOutline };
}

/** What is known of a form before it comes is refused before it comes. */
function incomingForm(
  exchange: Exchange,
  contract: FormContract,
  maxFileBytes: number,
): IncomingForm {
  const { request } = exchange;
  const boundary = boundaryOf(request.headers['content-type'] ?? '');
  if (declaredLength(request) > maxFormBytes(maxFileBytes)) throw fileTooLarge(maxFileBytes);
  return new IncomingForm(exchange, contract, { boundary, maxFileBytes });
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

/** Whether a body is on its way, whether or not anybody will read it. */
export function announcesBody(request: IncomingMessage): boolean {
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

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The client may have left while an earlier stage waited for the database.
    if (request.destroyed) return reject(new ClientGone());
    const chunks: Buffer[] = [];
    let size = 0;
    const keep = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      request.off('data', keep);
      reject(new AppError('PAYLOAD_TOO_LARGE'));
    };
    let isWhole = false;
    const finish = (): void => {
      isWhole = true;
      resolve(Buffer.concat(chunks, size));
    };
    // Every request closes, and an error costs its stack.
    const leave = (): void => {
      if (!isWhole) reject(new ClientGone());
    };
    request.on('data', keep);
    request.on('end', finish);
    request.on('error', leave);
    request.on('close', leave);
  });
}
