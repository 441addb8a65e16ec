/**
 * Streams a `multipart/form-data` body (RFC 7578) part by part, with back-pressure: a slow reader
 * slows the client down. File names are ignored, because they may be personal data.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import busboy from 'busboy';
import { AppError } from '../errors.ts';
import { ClientGone } from './exchange.ts';

/** Limit of a form's bytes outside its file: boundaries, headers of parts, a few fields. */
const bytesBesideFile = 64 * 1024;

/** The contract's forms have fewer parts. */
const maxParts = 10;

/** A longer text is truncated, which makes it an invalid number, date or code. */
const maxTextBytes = 1_024;

/** RFC 2046, section 5.1.1. */
const boundaryPattern = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;

export interface Multipart {
  readonly boundary: string;
  /** The part with this name is a file; some clients give it neither a file name nor a type. */
  readonly fileField: string;
  /** A larger file, or a body larger than {@link maxFormBytes}, is refused with 413. */
  readonly maxFileBytes: number;
}

/** Receives each part, in the order of the wire. */
export interface PartListener {
  text(name: string, value: string): void;
  /** Must read the content to its end or discard it: only then does the next part arrive. */
  file(name: string, content: Readable): Promise<void>;
}

/**
 * @returns the boundary of a media type.
 * @throws AppError BAD_REQUEST when there is none, or RFC 2046 does not allow it.
 */
export function readBoundary(contentType: string): string {
  const boundary = mediaTypeParameter(contentType, 'boundary') ?? '';
  if (!boundaryPattern.test(boundary)) throw new AppError('BAD_REQUEST');
  return boundary;
}

function mediaTypeParameter(contentType: string, name: string): string | null {
  try {
    return new MIMEType(contentType).params.get(name);
  } catch {
    return null;
  }
}

/** @returns the largest size of a whole form, in bytes. */
export function maxFormBytes(maxFileBytes: number): number {
  return maxFileBytes + bytesBesideFile;
}

/** @returns the refusal of a file over the limit. */
export function fileTooLarge(maxFileBytes: number): AppError {
  const en = sizeText(maxFileBytes, 'en');
  const pt = sizeText(maxFileBytes, 'pt-BR');
  const text = {
    en: `The file is too large: it may have at most ${en}.`,
    pt: `O arquivo é grande demais: pode ter no máximo ${pt}.`,
  };
  return new AppError('PAYLOAD_TOO_LARGE', { text });
}

/** Rounds down, so that a file of the displayed size is accepted. */
function sizeText(bytes: number, locale: string): string {
  const [unit, size] = units.find(([, least]) => bytes >= least) ?? ['bytes', 1];
  const format = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, roundingMode: 'floor' });
  return `${format.format(bytes / size)} ${unit}`;
}

const units = [
  ['MB', 1_048_576],
  ['kB', 1_024],
] as const;

/**
 * Reads a form to its end. On failure the rest is discarded, and the promise rejects only after
 * every reader of a file has finished.
 *
 * @throws AppError BAD_REQUEST for a malformed form, PAYLOAD_TOO_LARGE for one that is too large or
 *   has too many parts, and any error of a file's reader.
 * @throws ClientGone when the connection ends before the form does.
 */
export async function readParts(
  request: IncomingMessage,
  form: Multipart,
  listener: PartListener,
): Promise<void> {
  const reading: Promise<void>[] = [];
  try {
    await feedParser(request, form, {
      text: (name, value) => listener.text(name, value),
      file(name, content) {
        // If the content is cut off, its reader gets the error from the iterator.
        content.on('error', () => undefined);
        const read = listener.file(name, content);
        reading.push(read);
        return read;
      },
    });
    // The form may end before its file has been processed.
    await Promise.all(reading);
  } finally {
    await Promise.allSettled(reading);
  }
}

/** Resolves when the parser has reached the end of the form. */
function feedParser(
  request: IncomingMessage,
  form: Multipart,
  listener: PartListener,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const parser = createParser(form);
    const maxBytes = maxFormBytes(form.maxFileBytes);
    let size = 0;
    const feed = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) return refuseFile();
      request.pause();
      parser.write(chunk, (error) => {
        if (!error) request.resume();
      });
    };
    const end = (): void => {
      detach();
      parser.end();
    };
    const onClose = (): void => fail(new ClientGone());
    const detach = (): void =>
      void request.off('data', feed).off('end', end).off('error', onClose).off('close', onClose);
    const fail = (error: Error): void => {
      detach();
      request.resume();
      reject(error);
      // busboy must not be destroyed while it processes a chunk.
      process.nextTick(() => parser.destroy());
    };
    const refuse = (): void => fail(new AppError('PAYLOAD_TOO_LARGE'));
    const refuseFile = (): void => fail(fileTooLarge(form.maxFileBytes));
    const refuseForm = (): void => fail(new AppError('BAD_REQUEST'));

    request.on('data', feed).on('end', end).on('error', onClose).on('close', onClose);
    const readFile = (name: string | undefined, content: Readable): void => {
      listener.file(name ?? '', content).catch((error: unknown) => fail(error as Error));
    };
    parser.on('field', (name: string | undefined, value: string | undefined, info) => {
      const bytes = fieldBytes(value);
      // A missing value means an unknown character set.
      if (bytes === null) refuseForm();
      else if (info.valueTruncated) refuseFile();
      else if (name === form.fileField) readFile(name, Readable.from([bytes]));
      else if (name !== undefined) listener.text(name, bytes.toString('utf8', 0, maxTextBytes));
    });
    parser.on('file', (name: string | undefined, content) => {
      content.on('limit', refuseFile);
      readFile(name, content);
    });
    parser.on('partsLimit', refuse);
    parser.on('error', refuseForm);
    parser.on('finish', resolve);
  });
}

/**
 * The limits are one higher because busboy already reports a value that equals its limit. busboy
 * takes a part without a file name for a text; as Latin-1, the text of such a file keeps its bytes.
 */
function createParser({ boundary, maxFileBytes }: Multipart): busboy.Busboy {
  return busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    defCharset: 'latin1',
    limits: { fileSize: maxFileBytes + 1, fieldSize: maxFileBytes + 1, parts: maxParts + 1 },
  });
}

/** @returns the bytes of a part, or null when it was decoded by another character set. */
function fieldBytes(value: string | undefined): Buffer | null {
  return value === undefined || /[^\0-\xff]/.test(value) ? null : Buffer.from(value, 'latin1');
}
