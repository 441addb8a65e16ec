/** Texts as lines of a known width, so that a screen knows its height before it is drawn. */
import stringWidth from 'string-width';

/** The meaning of a colour. The text says the same, because a terminal may have no colours. */
export type Colour = 'good' | 'bad' | 'doubtful' | 'faint' | 'strong' | 'plain';

export interface Line {
  readonly text: string;
  readonly colour?: Colour;
}

/** A part of the window, in characters. */
export interface Room {
  readonly columns: number;
  readonly rows: number;
}

const segmenter = new Intl.Segmenter('en');

/** The characters of a text as a person counts them: an emoji with its skin tone is one. */
export function splitCharacters(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** How many columns of a terminal a text takes, as Ink counts them. */
export function measureWidth(text: string): number {
  return stringWidth(text);
}

/** Breaks a text into lines, between words if possible. */
export function wrap(text: string, columns: number): string[] {
  const width = Math.max(1, columns);
  return text.split('\n').flatMap((paragraph) => wrapParagraph(paragraph, width));
}

function wrapParagraph(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  let rest = paragraph;
  while (measureWidth(rest) > width) {
    const start = takeFitting(rest, width);
    const end = rest[start.length] === ' ' ? start.length : start.lastIndexOf(' ');
    const line = end > 0 ? rest.slice(0, end) : start;
    lines.push(line.trimEnd());
    rest = rest.slice(line.length).replace(/^ /, '');
  }
  // A character may be wider than the line.
  return rest === '' && lines.length > 0 ? lines : [...lines, rest.trimEnd()];
}

/** As many characters as fit into this width, and at least one. */
function takeFitting(text: string, width: number): string {
  let start = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    used += measureWidth(segment);
    if (start !== '' && used > width) break;
    start += segment;
  }
  return start;
}

/** The lines of a text, all in one colour; an empty text has none. */
export function wrapLines(text: string, columns: number, colour: Colour = 'plain'): Line[] {
  return text === '' ? [] : wrap(text, columns).map((one) => ({ text: one, colour }));
}

/** Pairs of a name and a value; null is shown as a dash. */
export type Facts = readonly (readonly [name: string, value: string | null])[];

/** Names and values in two columns; a long value takes more lines. */
export function factLines(facts: Facts, columns: number): Line[] {
  const width = Math.max(0, ...facts.map(([name]) => name.length)) + 2;
  return facts.flatMap(([name, value]) =>
    wrap(value ?? '–', columns - width).map((text, index) => ({
      text: `${(index === 0 ? name : '').padEnd(width)}${text}`,
    })),
  );
}

/** Cuts a text that has more columns than this, and marks the cut. */
export function cut(text: string, columns: number): string {
  if (measureWidth(text) <= columns) return text;
  return columns < 2 ? '…' : `${takeFitting(text, columns - 1)}…`;
}

/** Puts key hints on as few lines as they need; a hint is not broken. */
export function joinHints(hints: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const hint of hints) {
    const joined = [...lines.slice(-1), hint].join(' · ');
    if (joined.length <= columns) lines.splice(-1, 1, joined);
    else lines.push(hint);
  }
  return lines;
}

/**
 * The rows that fit into a height, around the focused ones.
 * @returns the rows and, for the line below them, what does not fit; empty when everything does.
 * @param focus the indexes of the first and the last row that must be visible.
 */
export function visibleRows<Row>(
  rows: readonly Row[],
  focus: readonly [first: number, last: number],
  height: number,
): { readonly rows: readonly Row[]; readonly more: string } {
  if (rows.length <= height) return { rows, more: '' };
  const size = Math.max(1, height - 1);
  const [first, last] = focus;
  const centred = Math.floor((first + last) / 2) - Math.floor(size / 2);
  const above = Math.max(0, Math.min(rows.length - size, centred, first));
  const below = rows.length - size - above;
  return { rows: rows.slice(above, above + size), more: moreText(above, below) };
}

/** The number of hidden rows, as `↑ 2 more   ↓ 3 more`, or an empty text. */
export function moreText(above: number, below: number): string {
  const notes = [above > 0 ? `↑ ${above} more` : '', below > 0 ? `↓ ${below} more` : ''];
  return notes.filter(Boolean).join('   ');
}

const statusColours: Readonly<Record<string, Colour>> = {
  COMPLETED: 'good',
  ACTIVE: 'good',
  APPROVED: 'good',
  done: 'good',
  FAILED: 'bad',
  REJECTED: 'bad',
  BLOCKED: 'bad',
  failed: 'bad',
  dead: 'bad',
  PROCESSING: 'doubtful',
  PENDING: 'doubtful',
  UNDER_ANALYSIS: 'doubtful',
  queued: 'doubtful',
};

/** The colour of a status; an unknown one is plain. */
export function statusColour(status: string): Colour {
  return statusColours[status] ?? 'plain';
}
