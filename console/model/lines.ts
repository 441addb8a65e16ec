/** Texts as lines of a known width, so that a screen knows how high they are before it is drawn. */

/** What a text is told by its colour as well, where there are colours. */
export type Tone = 'good' | 'bad' | 'doubtful' | 'accent' | 'faint' | 'strong' | 'plain';

export interface Line {
  readonly text: string;
  readonly tone?: Tone;
}

/** Breaks a text into lines, between words where it can. */
export function wrapped(text: string, columns: number): string[] {
  const width = Math.max(1, columns);
  return text.split('\n').flatMap((paragraph) => wrappedParagraph(paragraph, width));
}

function wrappedParagraph(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  // What a line begins with stays, such as the indentation of JSON.
  let line = /^ */.exec(paragraph)?.[0].slice(0, width - 1) ?? '';
  let isEmpty = true;
  for (const word of paragraph.trimStart().split(' ')) {
    const joined = isEmpty ? `${line}${word}` : `${line} ${word}`;
    isEmpty = false;
    if (joined.length <= width) {
      line = joined;
      continue;
    }
    if (line.trim() !== '') lines.push(line);
    const pieces = chunked(word, width);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? '';
  }
  return [...lines, line];
}

/** A word that is wider than a line, such as an id, is cut. */
function chunked(word: string, width: number): string[] {
  const count = Math.max(1, Math.ceil(word.length / width));
  return Array.from({ length: count }, (_, index) =>
    word.slice(index * width, (index + 1) * width),
  );
}

/** Lines of one text in one tone. */
export function linesOf(text: string, columns: number, tone: Tone = 'plain'): Line[] {
  return wrapped(text, columns).map((one) => ({ text: one, tone }));
}

/** Names and values, a line each or, where a value is long, more; what is null shows as a dash. */
export function factLines(
  facts: readonly (readonly [name: string, value: string | null])[],
  columns: number,
): Line[] {
  const widest = Math.max(0, ...facts.map(([name]) => name.length)) + 2;
  return facts.flatMap(([name, value]) => {
    const [first = '', ...rest] = wrapped(value ?? '–', columns - widest);
    return [
      { text: `${name.padEnd(widest)}${first}` },
      ...rest.map((text) => ({ text: `${' '.repeat(widest)}${text}` })),
    ];
  });
}

/** What stays of a text in so many columns; the end is cut, and the cut is shown. */
export function cut(text: string, columns: number): string {
  const characters = [...text];
  if (characters.length <= columns) return text;
  return `${characters.slice(0, Math.max(0, columns - 1)).join('')}…`;
}

export interface Window<Row> {
  readonly rows: readonly Row[];
  /** How many rows there are above and below it. */
  readonly above: number;
  readonly below: number;
}

/**
 * The part of some rows that fits, around those that must be seen. The last line is left for the
 * note that there is more.
 */
export function windowOf<Row>(
  rows: readonly Row[],
  seen: { readonly from: number; readonly to: number },
  height: number,
): Window<Row> {
  if (rows.length <= height) return { rows, above: 0, below: 0 };
  const size = Math.max(1, height - 1);
  const middle = Math.floor((seen.from + seen.to) / 2);
  const centred = middle - Math.floor(size / 2);
  const start = Math.max(0, Math.min(rows.length - size, Math.min(centred, seen.from)));
  return {
    rows: rows.slice(start, start + size),
    above: start,
    below: rows.length - start - size,
  };
}

/** Says what a window leaves out; empty when it shows all. */
export function moreText({ above, below }: Pick<Window<unknown>, 'above' | 'below'>): string {
  const notes = [above > 0 ? `↑ ${above} more` : '', below > 0 ? `↓ ${below} more` : ''];
  return notes.filter(Boolean).join('   ');
}
