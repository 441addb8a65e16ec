/** What the README's test reads out of a Markdown document. */

export interface Section {
  readonly heading: string;
  readonly text: string;
}

/** The sections under headings of any level, up to the next heading. */
export function splitSections(markdown: string): Section[] {
  const sections: { heading: string; lines: string[] }[] = [];
  let isCode = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const [, heading] = (!isCode && /^#+ (.+)$/.exec(line)) || [];
    if (heading === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ heading, lines: [] });
  }
  return sections.map(({ heading, lines }) => ({ heading, text: lines.join('\n') }));
}

/** The tables of a text: rows of cells, without head and rule. */
export function tablesIn(text: string): string[][][] {
  const tables = text.match(/(?:^\|.*\n)+/gm) ?? [];
  return tables.map((table) => table.trimEnd().split('\n').slice(2).map(splitCells));
}

function splitCells(row: string): string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll(/\\([^\w\s])/g, '$1'));
}

/** The code blocks of a text that are marked with a language. */
export function codeIn(text: string, language: string): string[] {
  const blocks = text.matchAll(/^```(\w+)\n([^]*?)^```$/gm);
  return [...blocks].flatMap(([, marked, code = '']) => (marked === language ? [code] : []));
}

/** Where links lead, outside code. */
export function linksIn(text: string): string[] {
  const prose = text.replaceAll(/^```[^]*?^```$/gm, '');
  return [...prose.matchAll(/\]\(([^)]+)\)/g)].flatMap(([, target]) => target ?? []);
}

/** The anchor that GitHub gives to a heading. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-');
}
