/** The state of a form, and how each key changes it. */
import type { Press } from '../hooks/use-keys.ts';
import type { Field, Values } from './contract.ts';
import { parseAmount, parseDay } from './format.ts';
import { splitCharacters } from './text.ts';

/** The faults by the name of the field; the empty name is for the request as a whole. */
export type Faults = Readonly<Record<string, string>>;

export interface FormState {
  readonly values: Readonly<Record<string, string>>;
  /** The last values that the console filled in: a field with another value was edited. */
  readonly filledIn: Readonly<Record<string, string>>;
  /** The name of the focused field; empty for the button. */
  readonly focus: string;
  /** The position of the cursor, in characters from the start of the field. */
  readonly cursor: number;
  /**
   * The faults that the service reported. Editing a field removes its fault and that of the whole.
   */
  readonly faults: Faults;
}

/** A form before the first key. */
export function newForm(fields: readonly Field[]): FormState {
  const empty = { values: {}, filledIn: {}, faults: {}, focus: '', cursor: 0 };
  return focusOn(empty, fields[0]);
}

/** The text of a field. */
export function fieldValue(state: FormState, { name, initial, choices }: Field): string {
  return state.values[name] ?? initial ?? Object.keys(choices ?? {})[0] ?? '';
}

/** Replaces values, and removes the faults that were about the old ones. */
function fill(state: FormState, values: FormState['values']): FormState {
  const isOpen = ([name]: [string, string]): boolean => name !== '' && !Object.hasOwn(values, name);
  const value = values[state.focus];
  return {
    ...state,
    values: { ...state.values, ...values },
    faults: Object.fromEntries(Object.entries(state.faults).filter(isOpen)),
    cursor: value === undefined ? state.cursor : splitCharacters(value).length,
  };
}

/** Replaces values, and remembers that no person typed them. */
export function fillIn(state: FormState, values: FormState['values']): FormState {
  return { ...fill(state, values), filledIn: { ...state.filledIn, ...values } };
}

/** Shows faults, and moves the focus to the first field that has one. */
export function refuse(state: FormState, fields: readonly Field[], faults: Faults): FormState {
  const first = fields.find(({ name }) => faults[name] !== undefined);
  return first ? focusOn({ ...state, faults }, first) : { ...state, faults };
}

/** The values of a form by name: empty fields are left out, numbers are numbers. */
export function readValues(state: FormState, fields: readonly Field[]): Values {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const text = fieldValue(state, field);
      const isUnset = text === '' || (field.kind === 'flag' && text === 'no');
      return isUnset ? [] : [[field.name, readValue(field, text)]];
    }),
  );
}

function readValue({ kind }: Field, text: string): Values[string] {
  if (kind === 'flag') return text === 'yes';
  if (kind === 'amount') return parseAmount(text) ?? text;
  if (kind === 'day') return parseDay(text);
  return kind === 'integer' ? Number(text) : text;
}

/** Faults that prevent a request: an empty required field, or a number that cannot be read. */
export function blockingFaults(state: FormState, fields: readonly Field[]): Faults {
  const found = fields.flatMap((field) => {
    const text = fieldValue(state, field);
    const fault =
      text === '' && field.isRequired ? 'The field is required.' : unreadable(field, text);
    return fault === null ? [] : [[field.name, fault] as const];
  });
  return Object.fromEntries(found);
}

/** Why the text of a field is not the number that it must be; null when it is one. */
export function unreadable({ kind, choices }: Field, text: string): string | null {
  if (text === '' || choices) return null;
  if (kind === 'amount' && parseAmount(text) === null) return 'An amount, such as 25 or 1.234,56.';
  return kind === 'integer' && !/^-?\d{1,15}$/.test(text.trim())
    ? 'A whole number, such as 600.'
    : null;
}

const steps: Readonly<Record<string, number>> = {
  enter: 1,
  down: 1,
  tab: 1,
  up: -1,
  'shift+tab': -1,
};

/** Whether a key sends the form. */
export function isSubmit({ focus }: FormState, { key }: Press): boolean {
  return key === 'ctrl+s' || (key === 'enter' && focus === '');
}

/** @returns the form after a key; the same one when it does not use the key. */
export function pressForm(state: FormState, fields: readonly Field[], press: Press): FormState {
  const field = fields.find(({ name }) => name === state.focus);
  const step = steps[press.key];
  if (step !== undefined) {
    // The button is one step before the first field and one after the last.
    const stops = [...fields, undefined];
    const index = (stops.indexOf(field) + step + stops.length) % stops.length;
    return focusOn(state, stops[index]);
  }
  if (!field) return state;
  if (!field.choices) return edit(state, field, press);
  if (press.key === 'left') return choose(state, field, -1);
  return press.key === 'right' || press.text === ' ' ? choose(state, field, 1) : state;
}

function focusOn(state: FormState, field: Field | undefined): FormState {
  const cursor = field ? splitCharacters(fieldValue(state, field)).length : 0;
  return { ...state, focus: field?.name ?? '', cursor };
}

function choose(state: FormState, field: Field, step: number): FormState {
  const all = Object.keys(field.choices ?? {});
  const index = all.indexOf(fieldValue(state, field)) + step + all.length;
  return fill(state, { [field.name]: all[index % all.length] ?? '' });
}

/** Counts characters as a person does, so that an emoji is edited as one character. */
function edit(state: FormState, field: Field, { key, text }: Press): FormState {
  const characters = splitCharacters(fieldValue(state, field));
  const { length } = characters;
  const cursor = Math.min(state.cursor, length);
  const moveTo = (to: number): FormState => ({
    ...state,
    cursor: Math.max(0, Math.min(to, length)),
  });
  const replace = (from: number, count: number, added: readonly string[] = []): FormState => {
    const value = characters.toSpliced(from, count, ...added).join('');
    // What is added may join the character before it, as a skin tone does.
    const before = [...characters.slice(0, from), ...added].join('');
    return { ...fill(state, { [field.name]: value }), cursor: splitCharacters(before).length };
  };
  const edits: Readonly<Record<string, () => FormState>> = {
    text: () => replace(cursor, 0, [text]),
    paste: () => replace(cursor, 0, [pasted(text)]),
    backspace: () => (cursor === 0 ? state : replace(cursor - 1, 1)),
    delete: () => replace(cursor, 1),
    'ctrl+u': () => replace(0, length),
    left: () => moveTo(cursor - 1),
    right: () => moveTo(cursor + 1),
    home: () => moveTo(0),
    end: () => moveTo(length),
    'ctrl+a': () => moveTo(0),
    'ctrl+e': () => moveTo(length),
  };
  return edits[key]?.() ?? state;
}

/** A copied line often ends in a newline, which is not part of the value. */
function pasted(text: string): string {
  return text.replaceAll(/^\p{Cc}+|\p{Cc}+$/gu, '').replaceAll(/\p{Cc}+/gu, ' ');
}
