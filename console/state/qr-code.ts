/** The QR code of a charge as text, two modules a character. */
import QRCode from 'qrcode';
import type { Charge } from '../../contract/types.ts';
import type { Room } from './text.ts';

/** @returns the copy-and-paste text of a charge, in whichever field the provider put it, or ''. */
export function copyText({ copy_paste: text, qr_code: code = '' }: Charge): string {
  return text ?? (code.startsWith('000201') ? code : '');
}

export interface DrawnCode {
  readonly lines: readonly string[];
  readonly columns: number;
}

/** Without ink, with ink below, above, and in both halves. */
const blocks = ' ▄▀█';

/** The quiet zone in modules: four by ISO/IEC 18004; scanners accept fewer. */
const margins = [4, 2, 1] as const;

/**
 * Draws a text as a QR code with the widest quiet zone that fits.
 * @param isDark whether the ink of a character stands for the dark modules, or for the light ones.
 * @returns null where the code does not fit, and for an empty text.
 */
export function drawCode(text: string, room: Room, isDark: boolean): DrawnCode | null {
  if (text === '') return null;
  const { modules } = QRCode.create(text, { errorCorrectionLevel: 'L' });
  const margin = margins.find((one) => {
    const width = modules.size + 2 * one;
    return width <= room.columns && Math.ceil(width / 2) <= room.rows;
  });
  if (margin === undefined) return null;
  const width = modules.size + 2 * margin;
  const isInk = (row: number, column: number): boolean => {
    const [y, x] = [row - margin, column - margin];
    const isInside = y >= 0 && x >= 0 && y < modules.size && x < modules.size;
    return (isInside && Boolean(modules.get(y, x))) === isDark;
  };
  const lines = Array.from({ length: Math.ceil(width / 2) }, (_line, index) =>
    Array.from({ length: width }, (_cell, column) =>
      blocks.charAt(2 * Number(isInk(2 * index, column)) + Number(isInk(2 * index + 1, column))),
    ).join(''),
  );
  return { lines, columns: width };
}
