/** What a form holds while it is typed in, and how each key changes it. Nothing here is drawn. */
import type { KeyName, Press } from './keyboard.ts';

/** What is wrong, by the name of the field; the empty name stands for the whole. */
export type Faults = Readonly<Record<string, string>>;

export interface Field {
  /** Where the value goes in the body, such as `amount` or `additional_data.0.name`. */
  readonly name: string;
  readonly label: string;
  /** `money` is typed as people do, `1.234,56`; a `flag` is picked: yes or no. */
  readonly kind: 'text' | 'secret' | 'money' | 'number' | 'flag';
  /** The values to pick from instead of typing, each with its words. */
  readonly choices?: Readonly<Record<string, string>>;
  /** What stands there at first. */
  readonly initial?: string;
  readonly hint?: string;
}

export interface FormState {
  readonly values: Readonly<Record<string, string>>;
  /** What was filled in last, and not typed. A field that still holds it is nobody's own word. */
  readonly filledIn: Readonly<Record<string, string>>;
  /** The name of the field that has the focus; empty for the button. */
  readonly focus: string;
  /** Where the next character goes, in characters from the beginning of the field. */
  readonly cursor: number;
  /** What the service refused; a field that is changed is let off, and so is the whole. */
  readonly refusals: Faults;
  /** The button was pressed: fields that are still empty are at fault too. */
  readonly isAsked: boolean;
}

export type FormAction =
  | { readonly type: 'insert'; readonly text: string }
  | { readonly type: 'erase'; readonly reach: 'before' | 'after' | 'all' }
  | { readonly type: 'move'; readonly by: number }
  | { readonly type: 'edge'; readonly to: 'start' | 'end' }
  | { readonly type: 'focus'; readonly by: number }
  | { readonly type: 'choose'; readonly by: number }
  | { readonly type: 'fill'; readonly values: Readonly<Record<string, string>> }
  | { readonly type: 'refuse'; readonly faults: Faults }
  | { readonly type: 'ask'; readonly faults: Faults };

/** A form that nobody has typed in yet. */
export function newForm(fields: readonly Field[]): FormState {
  const values = Object.fromEntries(
    fields.map(({ name, kind, initial, choices }) => [name, initial ?? firstOf(kind, choices)]),
  );
  const focus = fields[0]?.name ?? '';
  const cursor = lengthOf(values[focus] ?? '');
  return { values, filledIn: {}, focus, cursor, refusals: {}, isAsked: false };
}

function firstOf(kind: Field['kind'], choices: Field['choices']): string {
  return kind === 'flag' ? 'no' : (Object.keys(choices ?? {})[0] ?? '');
}

/** What the field holds, also one that has come later than the form. */
export function valueOf(state: FormState, { name, kind, initial, choices }: Field): string {
  return state.values[name] ?? initial ?? firstOf(kind, choices);
}

/** Changes a form; one that stays as it is is given back as it is. */
export function reduceForm(
  state: FormState,
  action: FormAction,
  fields: readonly Field[],
): FormState {
  const field = fields.find(({ name }) => name === state.focus);
  switch (action.type) {
    case 'fill':
      return {
        ...filled(state, action.values),
        filledIn: { ...state.filledIn, ...action.values },
      };
    case 'focus':
      return focused(state, action.by, fields);
    case 'choose':
      return field && !isTyped(field) ? chosen(state, field, action.by) : state;
    case 'refuse':
      return atFault({ ...state, refusals: action.faults }, action.faults, fields);
    case 'ask':
      return atFault({ ...state, isAsked: true }, action.faults, fields);
    case 'insert':
    case 'erase':
    case 'move':
    case 'edge':
      return field && isTyped(field) ? typed(state, field, action) : state;
  }
}

/** Whether the value of a field is typed and not picked. */
export function isTyped({ kind, choices }: Field): boolean {
  return kind !== 'flag' && choices === undefined;
}

function filled(state: FormState, values: FormState['values']): FormState {
  const refusals = without(state.refusals, ['', ...Object.keys(values)]);
  const value = values[state.focus];
  const cursor = value === undefined ? state.cursor : lengthOf(value);
  return { ...state, values: { ...state.values, ...values }, refusals, cursor };
}

function focused(state: FormState, by: number, fields: readonly Field[]): FormState {
  const stops = [...fields.map(({ name }) => name), ''];
  const at = Math.max(0, stops.indexOf(state.focus));
  return onto(state, stops[(at + by + stops.length) % stops.length] ?? '', fields);
}

function onto(state: FormState, focus: string, fields: readonly Field[]): FormState {
  const field = fields.find(({ name }) => name === focus);
  return { ...state, focus, cursor: field ? lengthOf(valueOf(state, field)) : 0 };
}

/** Leads to the first field at fault, unless none of them is here. */
function atFault(state: FormState, faults: Faults, fields: readonly Field[]): FormState {
  const first = fields.find(({ name }) => faults[name] !== undefined);
  return first ? onto(state, first.name, fields) : state;
}

function chosen(state: FormState, field: Field, by: number): FormState {
  const all = field.kind === 'flag' ? ['no', 'yes'] : Object.keys(field.choices ?? {});
  if (all.length === 0) return state;
  const at = Math.max(0, all.indexOf(valueOf(state, field)));
  return filled(state, { [field.name]: all[(at + by + all.length) % all.length] ?? '' });
}

type Typing = Extract<FormAction, { type: 'insert' | 'erase' | 'move' | 'edge' }>;

/** Characters are whole: an emoji is one, however many code units it takes. */
function typed(state: FormState, field: Field, action: Typing): FormState {
  const characters = [...valueOf(state, field)];
  const cursor = Math.min(state.cursor, characters.length);
  const go = (to: number): FormState => ({
    ...state,
    cursor: Math.max(0, Math.min(to, characters.length)),
  });
  const keep = (value: readonly string[], to: number): FormState => ({
    ...filled(state, { [field.name]: value.join('') }),
    cursor: to,
  });
  switch (action.type) {
    case 'insert': {
      const added = [...action.text.replaceAll(/\p{Cc}+/gu, ' ')];
      return keep(characters.toSpliced(cursor, 0, ...added), cursor + added.length);
    }
    case 'erase': {
      if (action.reach === 'all') return keep([], 0);
      const at = action.reach === 'before' ? cursor - 1 : cursor;
      if (at < 0 || at >= characters.length) return state;
      return keep(characters.toSpliced(at, 1), at);
    }
    case 'move':
      return go(cursor + action.by);
    case 'edge':
      return go(action.to === 'start' ? 0 : characters.length);
  }
}

function lengthOf(text: string): number {
  return [...text].length;
}

function without(faults: Faults, names: readonly string[]): Faults {
  return Object.fromEntries(Object.entries(faults).filter(([name]) => !names.includes(name)));
}

const typingKeys: Partial<Record<KeyName, FormAction>> = {
  left: { type: 'move', by: -1 },
  right: { type: 'move', by: 1 },
  home: { type: 'edge', to: 'start' },
  end: { type: 'edge', to: 'end' },
  'ctrl+a': { type: 'edge', to: 'start' },
  'ctrl+e': { type: 'edge', to: 'end' },
  backspace: { type: 'erase', reach: 'before' },
  delete: { type: 'erase', reach: 'after' },
  'ctrl+u': { type: 'erase', reach: 'all' },
};

const choosingKeys: Partial<Record<KeyName, FormAction>> = {
  left: { type: 'choose', by: -1 },
  right: { type: 'choose', by: 1 },
};

const focusKeys: Partial<Record<KeyName, FormAction>> = {
  enter: { type: 'focus', by: 1 },
  down: { type: 'focus', by: 1 },
  tab: { type: 'focus', by: 1 },
  up: { type: 'focus', by: -1 },
  'shift+tab': { type: 'focus', by: -1 },
};

/** What a key means to a form: a change, the wish to send it, or nothing. */
export function formKey(
  state: FormState,
  fields: readonly Field[],
  press: Press,
): FormAction | 'submit' | null {
  const field = fields.find(({ name }) => name === state.focus);
  if (press.key === 'ctrl+s' || (press.key === 'enter' && !field)) return 'submit';
  const focus = focusKeys[press.key];
  if (focus || !field) return focus ?? null;
  if (press.key !== 'text' && press.key !== 'paste') {
    return (isTyped(field) ? typingKeys : choosingKeys)[press.key] ?? null;
  }
  if (isTyped(field)) return { type: 'insert', text: press.text };
  return press.text === ' ' ? { type: 'choose', by: 1 } : null;
}
