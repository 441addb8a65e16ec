/**
 * Detects the type of an uploaded document from its content, and checks the structure of images
 * piece by piece. Bytes after the end are allowed: phones append a video to a photograph.
 */
import type { Text } from '../errors.ts';

export type DocumentContentType = 'application/pdf' | 'image/jpeg' | 'image/png';

export const EMPTY_FILE: Text = {
  en: 'The file must not be empty.',
  pt: 'O arquivo não pode estar vazio.',
};

export const NOT_A_DOCUMENT: Text = {
  en: 'The file must be a PDF, JPEG or PNG.',
  pt: 'O arquivo deve ser PDF, JPEG ou PNG.',
};

export const BROKEN_FILE: Text = {
  en: 'The file is incomplete, damaged or protected. Save or photograph the document again.',
  pt: 'O arquivo está incompleto, danificado ou protegido. Salve ou fotografe o documento de novo.',
};

export const ACTIVE_PDF: Text = {
  en: 'The PDF must not contain scripts, actions or other files. Save it again as pages only.',
  pt: 'O PDF não pode conter scripts, ações ou outros arquivos. Salve-o de novo só com as páginas.',
};

/** The header of a PDF (ISO 32000-2, section 7.5.2); some writers put blanks before it. */
const PDF = /^(?:\xef\xbb\xbf)?[\0\t\n\f\r ]{0,32}%PDF-\d/;

/** SOI and the first byte of the next marker (ISO/IEC 10918-1, annex B). */
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** The signature (ISO/IEC 15948, section 5.2). */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Longer than any of these signatures. */
const HEAD_BYTES = 64;

/**
 * @param content a document, or the beginning of one.
 * @returns its type, or null when it is not accepted.
 */
export function detectContentType(content: Buffer): DocumentContentType | null {
  if (content.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  if (content.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  return PDF.test(content.toString('latin1', 0, HEAD_BYTES)) ? 'application/pdf' : null;
}

export interface FileStructure {
  /** @returns whether the file may still be valid. */
  take(piece: Buffer): boolean | Promise<boolean>;
  /** @returns whether the file is complete, after its last piece. */
  isWhole(): boolean;
}

const noBytes = Buffer.alloc(0);

/** Skips segments that announce their length. */
abstract class Segments implements FileStructure {
  /** Bytes that are still to be skipped. */
  protected skip: number;
  protected hasEnded = false;
  #rest: Buffer = noBytes;

  constructor(signatureBytes: number) {
    this.skip = signatureBytes;
  }

  take(piece: Buffer): boolean {
    if (this.hasEnded && this.skip === 0) return true;
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    let at = 0;
    for (;;) {
      const passed = Math.min(this.skip, bytes.length - at);
      at += passed;
      this.skip -= passed;
      if (this.skip > 0 || this.hasEnded) at = bytes.length;
      if (at === bytes.length) break;
      const next = this.read(bytes, at);
      if (next === 'wrong') return false;
      if (next === 'more') break;
      at = next;
    }
    this.#rest = bytes.subarray(at);
    return true;
  }

  /**
   * Reads the element at a position.
   * @returns the position after it, `more` when it is incomplete, or `wrong` when it is invalid.
   */
  protected abstract read(bytes: Buffer, at: number): number | 'more' | 'wrong';

  isWhole(): boolean {
    return this.hasEnded && this.skip === 0;
  }
}

const jpegMarkers = { endOfImage: 0xd9, startOfScan: 0xda, fill: 0xff } as const;

/** Markers in the range of frames that are no frames (ISO/IEC 10918-1, table B.1). */
const noFrames: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);

/** A JPEG: from SOI through marked segments, with a frame and a scan among them, to EOI. */
export class JpegStructure extends Segments {
  #isInScan = false;
  #hasFrame = false;
  #hasScan = false;

  constructor() {
    super(2);
  }

  protected read(bytes: Buffer, from: number): number | 'more' | 'wrong' {
    const at = this.#isInScan ? bytes.indexOf(0xff, from) : from;
    if (at === -1) return bytes.length;
    const marker = bytes[at + 1];
    if (bytes[at] !== 0xff) return 'wrong';
    // The marker's second byte or the segment's length has not arrived yet.
    if (marker === undefined) return at === from ? 'more' : at;
    if (marker === jpegMarkers.fill) return at + 1;
    if (this.#isInScan && (marker === 0 || isRestart(marker))) return at + 2;
    if (marker === jpegMarkers.endOfImage) {
      this.hasEnded = true;
      return at + 2;
    }
    if (marker < 0xc0 || isRestart(marker) || marker === 0xd8) return 'wrong';
    if (bytes.length < at + 4) return at === from ? 'more' : at;
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return 'wrong';
    this.#isInScan = marker === jpegMarkers.startOfScan;
    this.#hasScan ||= this.#isInScan;
    this.#hasFrame ||= marker <= 0xcf && !noFrames.has(marker);
    this.skip = 2 + length;
    return at;
  }

  override isWhole(): boolean {
    return super.isWhole() && this.#hasFrame && this.#hasScan;
  }
}

function isRestart(marker: number): boolean {
  return marker >= 0xd0 && marker <= 0xd7;
}

/** A PNG: the signature, then chunks, IHDR first, IDAT among them, IEND last. */
export class PngStructure extends Segments {
  #hasHeader = false;
  #hasData = false;

  constructor() {
    super(8);
  }

  protected read(bytes: Buffer, at: number): number | 'more' | 'wrong' {
    // Length and type; for the header also width and height.
    if (bytes.length < at + (this.#hasHeader ? 8 : 16)) return 'more';
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (!/^[A-Za-z]{4}$/.test(type) || length > 0x7fffffff) return 'wrong';
    if (this.#hasHeader === (type === 'IHDR')) return 'wrong';
    if (type === 'IHDR') {
      const isEmpty = bytes.readUInt32BE(at + 8) === 0 || bytes.readUInt32BE(at + 12) === 0;
      if (length !== 13 || isEmpty) return 'wrong';
      this.#hasHeader = true;
    }
    if (type === 'IEND' && (length !== 0 || !this.#hasData)) return 'wrong';
    this.#hasData ||= type === 'IDAT';
    this.hasEnded = type === 'IEND';
    // The checksum follows the data.
    this.skip = 8 + length + 4;
    return at;
  }
}
