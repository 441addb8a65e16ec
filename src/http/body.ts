/** Reads a request's body: media type, size and JSON. A form is read by its operation. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { maxBytesOfBody } from '../contract/body-limit.ts';
import type { BodyContract, FormContract } from '../contract/contract.ts';
import { ValidationErrors } from '../contract/validation-errors.ts';
import { hasLongNumbers } from '../domain/json-members.ts';
import { AppError } from '../errors.ts';
import { ClientGone, type Exchange } from './exchange.ts';
import { isJson, parseJson, parseOutline, readJson } from './json.ts';
import {
  fileTooLarge,
  maxFormBytes,
  type Multipart,
  readBoundary,
  readParts,
} from './multipart.ts';
import type { FileConsumer, Form } from '../context/operation.ts';
import { readParameters } from './parameters.ts';

const mediaTypes = { json: 'application/json', multipart: 'multipart/form-data' } as const;

const noBytes = Buffer.alloc(0);

interface BodyLimits {
  /** The largest file of a form, in bytes. The contract limits JSON. */
  readonly uploadMaxBytes: number;
}

/** A body that has been read, or a form that is ready to be read. */
export interface ReadBody {
  /** False when the request has no body, or an empty one. */
  readonly isPresent: boolean;
  readonly raw: Buffer;
  /** The bytes as they were sent, if they are not in UTF-8, as `raw` is. */
  readonly sent?: Buffer;
  readonly value: unknown;
  /** Whether the body is still to be read: the value is then a form, which the operation reads. */
  readonly isPending: boolean;
  /** Whether the value is only an {@link parseOutline outline} of the bytes. */
  readonly isOutline: boolean;
}

/**
 * Larger bodies that are stored as bytes are checked without being parsed: they may hold hundreds
 * of items, so their job parses them and reads a part at a time. A body is thus parsed once.
 */
const maxParsedBytes = 4_096;

const emptyBody: ReadBody = {
  isPresent: false,
  raw: noBytes,
  value: undefined,
  isPending: false,
  isOutline: false,
};

/**
 * Reads the body that the contract declares. An undeclared body is not read, and is discarded after
 * the reply.
 *
 * @param contract null when the contract declares no body.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, MALFORMED_JSON, or BAD_REQUEST for a
 *   form without a boundary.
 * @throws ClientGone when the connection ends before the body does.
 */
export function readBody(
  exchange: Exchange,
  contract: BodyContract | null,
  { uploadMaxBytes }: BodyLimits,
): ReadBody | Promise<ReadBody> {
  const { request } = exchange;
  if (contract === null) return emptyBody;
  if (!announcesBody(request)) return noBody(contract);
  const type = request.headers['content-type'] ?? '';
  const hasType = isMediaType(type, mediaTypes[contract.media]);
  // An event that is refused may be lost: what is stored as bytes may have any type. Encoded bytes
  // could not be read.
  const isAccepted = !isEncoded(request) && (hasType || contract.isStoredAsBytes);
  if (!isAccepted) throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  if (contract.form !== null) {
    const form = incomingForm(exchange, contract.form, uploadMaxBytes);
    return { ...emptyBody, isPresent: true, value: form, isPending: true };
  }
  if (declaredLength(request) > contract.maxBytes) throw new AppError('PAYLOAD_TOO_LARGE');
  exchange.sendContinue();
  return readBytes(request, contract.maxBytes).then((sent) => {
    if (hasType || sent.length === 0) return jsonBody(contract, sent);
    const raw = isJson(sent) ? sent : toUtf8(sent, type);
    if (raw.length > contract.maxBytes) throw new AppError('PAYLOAD_TOO_LARGE');
    const body = isJson(raw) ? jsonBody(contract, raw) : unreadBody(raw);
    return raw === sent ? body : { ...body, sent };
  });
}

/**
 * Parses a complete JSON body. One that is stored as bytes is only outlined if it is long, if an
 * object has two members with one name, or if a number is too long for a double: its job reads it.
 * @throws AppError MALFORMED_JSON
 */
export function jsonBody(contract: BodyContract, raw: Buffer): ReadBody {
  if (raw.length === 0) return noBody(contract);
  const body = { isPresent: true, raw, isPending: false };
  if (!contract.isStoredAsBytes) return { ...body, value: parseJson(raw), isOutline: false };
  if (raw.length > maxParsedBytes) return { ...body, value: parseOutline(raw), isOutline: true };
  const { text, value, repeats } = readJson(raw);
  return { ...body, value, isOutline: repeats || hasLongNumbers(text) };
}

/** A body that is stored and is not JSON: its outline is an object, which any contract accepts. */
function unreadBody(raw: Buffer): ReadBody {
  return { isPresent: true, raw, value: {}, isPending: false, isOutline: true };
}

/** Checks the boundary and the declared length before any byte of the form is read. */
function incomingForm(
  exchange: Exchange,
  contract: FormContract,
  maxFileBytes: number,
): IncomingForm {
  const { request } = exchange;
  const boundary = readBoundary(request.headers['content-type'] ?? '');
  if (declaredLength(request) > maxFormBytes(maxFileBytes)) throw fileTooLarge(maxFileBytes);
  return new IncomingForm(exchange, contract, { boundary, fileField: contract.file, maxFileBytes });
}

/** An empty body is not JSON, so an operation that stores the bytes refuses it. */
function noBody({ isStoredAsBytes }: BodyContract): ReadBody {
  if (isStoredAsBytes) throw new AppError('MALFORMED_JSON');
  return emptyBody;
}

/** Whether the unread rest of a body may be too large to discard on a connection that is kept. */
export function mayHaveMuchUnread(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  return isChunked || declaredLength(request) > maxBytesOfBody;
}

/** Whether the headers announce a body. */
export function announcesBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || declaredLength(request) > 0;
}

function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** Whether a body has a content coding, such as `gzip`: none is decoded. */
function isEncoded({ headers: { 'content-encoding': encoding } }: IncomingMessage): boolean {
  return encoding !== undefined && encoding.trim().toLowerCase() !== 'identity';
}

/** Compares media types without parameters, but refuses a charset other than UTF-8. */
function isMediaType(header: string, expected: string): boolean {
  if (header === expected) return true;
  const [essence = ''] = header.split(';');
  return essence.trim().toLowerCase() === expected && charsetDecoder(header)?.encoding === 'utf-8';
}

/**
 * The decoder of the charset that a media type has, UTF-8 by default; a name such as `utf8` is one
 * of its labels (WHATWG Encoding Standard, section 4.2).
 * @returns null for a charset that is not known.
 */
function charsetDecoder(header: string): TextDecoder | null {
  const [, charset = 'utf-8'] = /;\s*charset="?([^";]*)/i.exec(header) ?? [];
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return null;
  }
}

/** @returns JSON in UTF-8; bytes that are no JSON in their charset are returned as they are. */
function toUtf8(sent: Buffer, header: string): Buffer {
  const decoder = charsetDecoder(header);
  if (decoder === null || decoder.encoding === 'utf-8') return sent;
  try {
    const decoded = Buffer.from(decoder.decode(sent));
    return isJson(decoded) ? decoded : sent;
  } catch {
    return sent;
  }
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The client may have disconnected while an earlier stage waited for the database.
    if (request.destroyed) return reject(new ClientGone());
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      request.off('data', onData);
      reject(new AppError('PAYLOAD_TOO_LARGE'));
    };
    let isComplete = false;
    const onEnd = (): void => {
      isComplete = true;
      resolve(Buffer.concat(chunks, size));
    };
    // Every request emits `close`; creating an error captures a stack, which is slow.
    const onClose = (): void => {
      if (!isComplete) reject(new ClientGone());
    };
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('error', onClose);
    request.on('close', onClose);
  });
}

/** The form of one request. */
export class IncomingForm implements Form<unknown> {
  readonly #exchange: Exchange;
  readonly #contract: FormContract;
  readonly #multipart: Multipart;

  constructor(exchange: Exchange, contract: FormContract, multipart: Multipart) {
    this.#exchange = exchange;
    this.#contract = contract;
    this.#multipart = multipart;
  }

  /**
   * Reads the form. The operation counts as begun only when the form has been read: until then, a
   * client that disconnects, is too slow or sends invalid data is refused.
   *
   * @throws AppError VALIDATION_FAILED with every error of the fields and of the file.
   * @throws AppError BAD_REQUEST, PAYLOAD_TOO_LARGE.
   * @throws ClientGone
   */
  async receive<Result>(
    consume: FileConsumer<Result>,
  ): Promise<{ readonly fields: unknown; readonly file: Result }> {
    const exchange = this.#exchange;
    const errors = new ValidationErrors();
    exchange.allowsSlowBody = true;
    exchange.sendContinue();
    const { texts, file } = await this.#readParts(consume, errors);
    const fields = readParameters(this.#contract.fields, (name) => texts.get(name), errors);
    errors.throwIfAny();
    if (file === null) throw new Error('a form without its file has passed the validation');
    exchange.begin();
    return { fields, file: file.value };
  }

  /** Collects the texts of the fields by name; a file counts as an empty text. */
  async #readParts<Result>(consume: FileConsumer<Result>, errors: ValidationErrors) {
    const texts = new Map<string, string[]>();
    const { file: fileField } = this.#contract;
    let result: { readonly value: Result } | null = null;
    await readParts(this.#exchange.request, this.#multipart, {
      text: (name, value) => void addText(texts, name, value),
      async file(name, content) {
        const isFirst = addText(texts, name, '');
        if (name === fileField && isFirst) result = await consumeFile(content, consume, errors);
        // Discards what was not read, so that the rest of the form arrives.
        content.resume();
      },
    });
    return { texts, file: result as { readonly value: Result } | null };
  }
}

/** @returns whether it is the first text with its name. */
function addText(texts: Map<string, string[]>, name: string, text: string): boolean {
  const known = texts.get(name);
  if (known === undefined) texts.set(name, [text]);
  else known.push(text);
  return known === undefined;
}

/** Adds the errors of the file to those of the fields. */
async function consumeFile<Result>(
  content: Readable,
  consume: FileConsumer<Result>,
  errors: ValidationErrors,
): Promise<{ readonly value: Result } | null> {
  try {
    return { value: await consume(content.iterator({ destroyOnReturn: false })) };
  } catch (error) {
    if (!(error instanceof AppError) || error.fields === undefined) throw error;
    for (const [field, texts] of Object.entries(error.fields)) {
      for (const text of texts) errors.add(field, text);
    }
    return null;
  }
}
