/** Lines of CSV, as banks and spreadsheets exchange them. The functions are pure. */

/** A spreadsheet runs a cell that begins so as a formula; a quote before it makes it a text. */
const formula = /^[=+\-@\t]/;

/** Writes a line, separated by commas. */
export function writeCsvLine(cells: readonly string[]): string {
  const safe = cells.map((cell) => (formula.test(cell) ? `'${cell}` : cell));
  return safe
    .map((cell) => (/[",;]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',');
}

/** @returns the separator of a line: a Brazilian spreadsheet writes semicolons. */
export function separatorOf(line: string): ',' | ';' {
  return line.replaceAll(/"(?:[^"]|"")*"/g, '').includes(';') ? ';' : ',';
}

const cellBefore = {
  ',': /\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)/y,
  ';': /\s*(?:"((?:[^"]|"")*)"\s*|([^;]*))(?:;|$)/y,
} as const;

/** Reads the cells of a line, without the white space around them. */
export function readCsvCells(line: string, separator: ',' | ';'): string[] {
  const pattern = cellBefore[separator];
  pattern.lastIndex = 0;
  const cells: string[] = [];
  for (;;) {
    const [all = '', quoted, plain = ''] = pattern.exec(line) ?? [];
    cells.push(quoted?.replaceAll('""', '"') ?? plain.trim());
    if (!all.endsWith(separator)) return cells;
  }
}
