/** The images of Pix codes. */
import { createRequire } from 'node:module';
import { crc32, deflateSync } from 'node:zlib';
import type * as QRCode from 'qrcode';

/** Pixels of a module. */
const SCALE = 4;

/** The light modules around a code (ISO/IEC 18004, section 6.3.8). */
const MARGIN = 4;

const loadSync = createRequire(import.meta.url);

/**
 * Draws a text as a QR code. It is synchronous, and the image is always the same: the simulation
 * repeats a seed step by step.
 *
 * @returns a PNG in base64, without a `data:` prefix.
 */
export function qrCodePng(text: string): string {
  // Loaded when the first charge is made.
  const { create } = loadSync('qrcode') as typeof QRCode;
  // The lowest error correction: a screen shows it once, at once.
  const { size, data } = create(text, { errorCorrectionLevel: 'L' }).modules;
  const side = (size + 2 * MARGIN) * SCALE;
  const rowBytes = 1 + Math.ceil(side / 8);
  // Light everywhere; each row begins with its filter, which is none.
  const pixels = Buffer.alloc(rowBytes * side, 0xff);
  for (let y = 0; y < side; y += 1) pixels[y * rowBytes] = 0;
  for (let at = 0; at < data.length; at += 1) {
    if (data[at]) darken(pixels, rowBytes, { column: at % size, row: Math.floor(at / size) });
  }
  return png(side, pixels).toString('base64');
}

/** A module is four pixels, which are half a byte. */
function darken(pixels: Buffer, rowBytes: number, at: { column: number; row: number }): void {
  const x = MARGIN + at.column;
  const half = x % 2 === 0 ? 0x0f : 0xf0;
  for (let line = 0; line < SCALE; line += 1) {
    const y = (MARGIN + at.row) * SCALE + line;
    const place = y * rowBytes + 1 + Math.floor(x / 2);
    pixels[place] = (pixels[place] ?? 0) & half;
  }
}

/** A square image of one bit a pixel (PNG, section 11.2). */
function png(side: number, pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.writeUInt8(1, 8);
  return Buffer.concat([
    Buffer.from(PNG_START, 'base64'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels, { level: 3 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** The first eight bytes of every PNG, in base64. */
const PNG_START = 'iVBORw0KGgo=';

/** @returns the PNG in base64 that a provider sent, without a `data:` prefix; null: it is none. */
export function pngFrom(text: string | null): string | null {
  const base64 = text?.replace(/^data:image\/png;base64,/, '') ?? '';
  return base64.startsWith(PNG_START.replace('=', '')) ? base64 : null;
}
