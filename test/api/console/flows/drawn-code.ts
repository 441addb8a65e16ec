/** What a phone reads off the screen: blocks as pixels, two of them a character. */
import jsQRModule from 'jsqr';
import type { Screen } from '../screen.ts';

// The package is CommonJS with a `default` of its own, which Node does not unwrap.
const jsQR = jsQRModule as unknown as typeof jsQRModule.default;

/** Pixels of each side of a module. */
const scale = 4;

const drawn = /^[ █▀▄]*$/;

/** How a code is drawn: its ink is what is dark, or, without colours, what is light. */
export type Ink = 'dark' | 'light';

/** @returns the text of the code that is drawn at the left of the screen, or null without one. */
export function scan({ lines }: Screen, ink: Ink = 'dark'): string | null {
  const columns = countColumns(lines);
  const rows = lines
    .map((line) => [...line.padEnd(columns)].slice(0, columns).join(''))
    .flatMap((line) => (drawn.test(line) ? [readHalf(line, '█▀'), readHalf(line, '█▄')] : []));
  const [width, height] = [columns * scale, rows.length * scale];
  if (width === 0) return null;
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const hasInk = rows[Math.floor(y / scale)]?.[Math.floor(x / scale)] ?? false;
      if (hasInk === (ink === 'dark')) pixels.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
    }
  }
  return jsQR(pixels, width, height)?.data ?? null;
}

/** How far the blocks reach, and a quiet zone. */
function countColumns(lines: readonly string[]): number {
  const ends = lines.map((line) => [...line].findLastIndex((one) => '█▀▄'.includes(one)) + 1);
  const widest = Math.max(...ends);
  return widest === 0 ? 0 : widest + 1;
}

function readHalf(line: string, blocks: string): boolean[] {
  return [...line].map((one) => blocks.includes(one));
}
