/** The smallest files with a valid structure: PDF, JPEG and PNG. */
import { randomBytes } from 'node:crypto';

const pdfHead = '%PDF-1.7\n<<>>stream\n';
const pdfEnd = '\nendstream\nstartxref\n0\n%%EOF\n';

/** A PDF with this content in a stream. */
export function makePdf(content: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(pdfHead), Buffer.from(content), Buffer.from(pdfEnd)]);
}

/** A PDF of this size with random content. */
export function pdfOfSize(sizeBytes: number): Buffer {
  return makePdf(randomBytes(sizeBytes - pdfHead.length - pdfEnd.length));
}

/** A JPEG segment: marker, length, content. */
export function jpegSegment(marker: number, content: readonly number[]): number[] {
  return [0xff, marker, 0, content.length + 2, ...content];
}

/** A JPEG with a frame of one pixel and an empty scan. */
export const jpeg = Buffer.from([
  0xff,
  0xd8,
  ...jpegSegment(0xe0, [0x4a, 0x46, 0x49, 0x46, 0]),
  ...jpegSegment(0xc0, [8, 0, 1, 0, 1, 1, 1, 0x11, 0]),
  ...jpegSegment(0xda, [1, 1, 0, 0, 63, 0]),
  0x12,
  0xff,
  0x00,
  0xff,
  0xd0,
  0x34,
  0xff,
  0xd9,
]);

export const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** A PNG chunk; its checksum is never read. */
export function pngChunk(type: string, content: readonly number[]): number[] {
  return [0, 0, 0, content.length, ...Buffer.from(type), ...content, 0, 0, 0, 0];
}

/** A PNG of one pixel. */
export const png = Buffer.from([
  ...pngSignature,
  ...pngChunk('IHDR', [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]),
  ...pngChunk('IDAT', [0x78, 0x9c, 0x63, 0, 0, 0, 2, 0, 1]),
  ...pngChunk('IEND', []),
]);
