/** A form as rows: which lines it has, and what of a long value is seen. */
import { isTyped, valueOf, type Faults, type Field, type FormState } from './form.ts';
import { wrapped } from './lines.ts';
import { amountOf, money } from './money.ts';

export type FormRow =
  | {
      readonly kind: 'field';
      readonly label: string;
      readonly isRequired: boolean;
      readonly isChoice: boolean;
      readonly hasFocus: boolean;
      readonly text: string;
      /** Where in the text the cursor stands; null where there is none. */
      readonly cursor: number | null;
    }
  | { readonly kind: 'hint' | 'fault'; readonly text: string }
  | { readonly kind: 'space' }
  | { readonly kind: 'button'; readonly text: string; readonly hasFocus: boolean };

export interface FormShape {
  readonly fields: readonly Field[];
  readonly state: FormState;
  readonly faults: Faults;
  readonly required: ReadonlySet<string>;
  readonly button: string;
  readonly columns: number;
}

const widestLabel = 18;

/** The mark of the focus, the one of a field that must not stay empty, and a space. */
const marks = 5;

/** How far in the values begin. */
export function labelColumns(fields: readonly Field[]): number {
  return marks + Math.min(widestLabel, Math.max(0, ...fields.map(({ label }) => label.length)));
}

/** The rows of a form, from its first field to its button. */
export function formRows(shape: FormShape): FormRow[] {
  const { fields, state, button } = shape;
  return [
    ...fields.flatMap((field) => rowsOfField(field, shape)),
    { kind: 'space' },
    { kind: 'button', text: button, hasFocus: state.focus === '' },
  ];
}

function rowsOfField(field: Field, shape: FormShape): FormRow[] {
  const { fields, state, faults, required, columns } = shape;
  const hasFocus = state.focus === field.name;
  const indent = labelColumns(fields);
  const width = columns - indent;
  const value = valueOf(state, field);
  const cursor = hasFocus && isTyped(field) ? Math.min(state.cursor, [...value].length) : null;
  const fault = faults[field.name];
  const below = (kind: 'hint' | 'fault', text: string | undefined): FormRow[] =>
    text === undefined ? [] : wrapped(text, width).map((one) => ({ kind, text: one }));
  return [
    {
      kind: 'field',
      label: field.label,
      isRequired: required.has(field.name),
      isChoice: !isTyped(field),
      hasFocus,
      ...seenOf(wordsOf(field, value), cursor, width),
    },
    ...below('fault', fault),
    ...(hasFocus && fault === undefined ? below('hint', hintOf(field, value)) : []),
  ];
}

function wordsOf({ kind, choices }: Field, value: string): string {
  if (kind === 'secret') return '•'.repeat([...value].length);
  return choices?.[value] ?? value;
}

/** An amount is read back, so that nobody pays ten times what was meant. */
function hintOf({ kind, hint }: Field, value: string): string | undefined {
  const amount = kind === 'money' ? amountOf(value) : null;
  return amount === null ? hint : `= ${money(amount)}`;
}

interface Seen {
  readonly text: string;
  readonly cursor: number | null;
}

/** Of a value that is too long the part around the cursor is seen, or its beginning. */
function seenOf(value: string, cursor: number | null, width: number): Seen {
  const characters = [...value];
  if (cursor === null) {
    const isCut = characters.length > width;
    return { text: isCut ? `${characters.slice(0, width - 1).join('')}…` : value, cursor };
  }
  const start = Math.max(0, cursor - width + 1);
  return { text: characters.slice(start, start + width).join(''), cursor: cursor - start };
}

/** Where in the rows the focus is, its faults and its hint included. */
export function focusedRows(rows: readonly FormRow[]): { from: number; to: number } {
  const from = Math.max(
    0,
    rows.findIndex((row) => 'hasFocus' in row && row.hasFocus),
  );
  const after = rows.slice(from + 1).findIndex(({ kind }) => kind !== 'hint' && kind !== 'fault');
  return { from, to: after === -1 ? rows.length - 1 : from + after };
}
