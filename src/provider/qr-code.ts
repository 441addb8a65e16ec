/** The images of Pix codes. */
import { createRequire } from 'node:module';
import type * as Pngjs from 'pngjs';
import type * as QRCode from 'qrcode';

/** Pixels of a module. */
const scale = 4;

/** The light modules around a code (ISO/IEC 18004, section 6.3.8). */
const margin = 4;

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
  const { PNG } = loadSync('pngjs') as typeof Pngjs;
  // The lowest error correction: a screen shows it once, at once.
  const { size, data } = create(text, { errorCorrectionLevel: 'L' }).modules;
  const side = (size + 2 * margin) * scale;
  const image = new PNG({ width: side, height: side });
  image.data.fill(0xff);
  for (let at = 0; at < data.length; at += 1) {
    if (data[at]) darken(image, { column: at % size, row: Math.floor(at / size) });
  }
  return PNG.sync.write(image, { colorType: 0, inputHasAlpha: true }).toString('base64');
}

/** Fills the square of a module with black, and leaves it opaque. */
function darken(image: Pngjs.PNG, module: { column: number; row: number }): void {
  const left = (margin + module.column) * scale;
  const top = (margin + module.row) * scale;
  for (let y = top; y < top + scale; y += 1) {
    for (let x = left; x < left + scale; x += 1) {
      const pixel = 4 * (y * image.width + x);
      image.data.fill(0, pixel, pixel + 3);
    }
  }
}
