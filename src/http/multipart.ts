/**
 * A `multipart/form-data` body (RFC 7578), part by part as it comes. Nothing of it is kept here: a
 * reader that is slow makes the client slow. A file's name is nobody's business and goes nowhere.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import busboy from 'busboy';
import { AppError } from '../errors.ts';
import { ClientGone } from './exchange.ts';

/** What a form may have beside its file: boundaries, the heads of its parts, a few fields. */
const BYTES_BESIDE_FILE = 64 * 1024;

/** An honest form has a handful; more are not worth looking at. */
const MAX_PARTS = 10;

/** A longer text is cut, and so is no valid number, date or code any more. */
const MAX_TEXT_BYTES = 1_024;

/** RFC 2046, section 5.1.1. */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;

export interface Multipart {
  readonly boundary: string;
  /** A larger file, or a body that is larger than such a file and what stands around it, is 413. */
  readonly maxFileBytes: number;
}

/** Told of each part, in the order of the wire. */
export interface PartListener {
  text(name: string, value: string): void;
  /** Reads the content to its end, or lets it flow away: what follows comes only then. */
  file(name: string, content: Readable): Promise<void>;
}

/**
 * @returns the boundary that a media type names.
 * @throws AppError BAD_REQUEST when it names none, or one that RFC 2046 does not allow.
 */
export function boundaryOf(contentType: string): string {
  const boundary = parameterOf(contentType, 'boundary') ?? '';
  if (!BOUNDARY.test(boundary)) throw new AppError('BAD_REQUEST');
  return boundary;
}

function parameterOf(contentType: string, name: string): string | null {
  try {
    return new MIMEType(contentType).params.get(name);
  } catch {
    return null;
  }
}

/** @returns how many bytes a form may have in all. */
export function maxFormBytes(maxFileBytes: number): number {
  return maxFileBytes + BYTES_BESIDE_FILE;
}

/** @returns the refusal of a file that is larger than it may be. */
export function fileTooLarge(maxFileBytes: number): AppError {
  const en = sizeText(maxFileBytes, 'en');
  const pt = sizeText(maxFileBytes, 'pt-BR');
  const text = {
    en: `The file is too large: it may have at most ${en}.`,
    pt: `O arquivo é grande demais: pode ter no máximo ${pt}.`,
  };
  return new AppError('PAYLOAD_TOO_LARGE', { text });
}

/** Rounded down: a file that is as large as that is taken. */
function sizeText(bytes: number, locale: string): string {
  const [unit, size] = UNITS.find(([, least]) => bytes >= least) ?? ['bytes', 1];
  const format = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, roundingMode: 'floor' });
  return `${format.format(bytes / size)} ${unit}`;
}

const UNITS = [
  ['MB', 1_048_576],
  ['kB', 1_024],
] as const;

/**
 * Reads a form to its end. When it fails, what still comes is discarded, and every reader of a file
 * has come to rest before the failure is told.
 *
 * @throws AppError BAD_REQUEST for a malformed form, PAYLOAD_TOO_LARGE for one with too much in it,
 *   and whatever a reader of a file throws.
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
        // Whoever reads it is told in its own way that the content breaks off.
        content.on('error', () => undefined);
        const read = listener.file(name, content);
        reading.push(read);
        return read;
      },
    });
    // The form may be at its end before its file has been dealt with.
    await Promise.all(reading);
  } finally {
    await Promise.allSettled(reading);
  }
}

/** Resolves when the parser has seen the end of the form, and all of the files has been read. */
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
    const leave = (): void => fail(new ClientGone());
    const detach = (): void =>
      void request.off('data', feed).off('end', end).off('error', leave).off('close', leave);
    const fail = (error: Error): void => {
      detach();
      request.resume();
      reject(error);
      // Not while it is in the middle of a chunk, which it does not survive.
      process.nextTick(() => parser.destroy());
    };
    const refuse = (): void => fail(new AppError('PAYLOAD_TOO_LARGE'));
    const refuseFile = (): void => fail(fileTooLarge(form.maxFileBytes));
    const refuseForm = (): void => fail(new AppError('BAD_REQUEST'));

    request.on('data', feed).on('end', end).on('error', leave).on('close', leave);
    parser.on('field', (name: string | undefined, value: string | undefined) => {
      // Without a value it is in a character set that nobody knows.
      if (value === undefined) refuseForm();
      else if (name !== undefined) listener.text(name, value);
    });
    parser.on('file', (name: string | undefined, content) => {
      content.on('limit', refuseFile);
      listener.file(name ?? '', content).catch((error: unknown) => fail(error as Error));
    });
    parser.on('partsLimit', refuse);
    parser.on('error', refuseForm);
    parser.on('finish', resolve);
  });
}

/** The parser takes what reaches a limit for what is over it. */
function createParser({ boundary, maxFileBytes }: Multipart): busboy.Busboy {
  return busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    limits: { fileSize: maxFileBytes + 1, fieldSize: MAX_TEXT_BYTES, parts: MAX_PARTS + 1 },
  });
}
