/** A QR code as text, two modules a character. */
import QRCode from 'qrcode';

export interface DrawnCode {
  readonly lines: readonly string[];
  readonly columns: number;
}

export interface CodeRoom {
  readonly columns: number;
  readonly rows: number;
}

/** The quiet zone in modules: four by ISO/IEC 18004, and what scanners make do with. */
const margins = [4, 2, 1] as const;

/**
 * Draws a text as a QR code with as much quiet zone as there is room for.
 * @param isDark whether a character's ink stands for the dark modules, or else for the light ones.
 * @returns null where there is no room.
 */
export function drawnCode(text: string, room: CodeRoom, isDark: boolean): DrawnCode | null {
  const margin = margins.find((one) => {
    const size = codeSize(text, one);
    return size.columns <= room.columns && size.rows <= room.rows;
  });
  if (margin === undefined) return null;
  const { modules } = QRCode.create(text, { errorCorrectionLevel: 'L' });
  const width = modules.size + 2 * margin;
  const isInk = (row: number, column: number): boolean => {
    const [y, x] = [row - margin, column - margin];
    const isInside = y >= 0 && x >= 0 && y < modules.size && x < modules.size;
    return (isInside && Boolean(modules.get(y, x))) === isDark;
  };
  const lines = Array.from({ length: Math.ceil(width / 2) }, (_line, index) =>
    Array.from({ length: width }, (_cell, column) =>
      block(isInk(2 * index, column), isInk(2 * index + 1, column)),
    ).join(''),
  );
  return { lines, columns: width };
}

/** The room that a code takes; without a margin given, with the smallest that will do. */
export function codeSize(text: string, margin: number = margins[2]): CodeRoom {
  const { modules } = QRCode.create(text, { errorCorrectionLevel: 'L' });
  const columns = modules.size + 2 * margin;
  return { columns, rows: Math.ceil(columns / 2) };
}

function block(isUpper: boolean, isLower: boolean): string {
  if (isUpper) return isLower ? '█' : '▀';
  return isLower ? '▄' : ' ';
}
