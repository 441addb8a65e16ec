/**
 * A form on the screen. Its text fields are not TextInput and PasswordInput of `@inkjs/ui`: those
 * type a letter for ctrl+s, keep the newline of a pasted value, cut an emoji in half, and cannot be
 * filled in with the address of a CEP or a new idempotency key.
 */
import { Box, Text } from 'ink';
import { useState, type ReactNode } from 'react';
import { useApp } from '../hooks/use-app.ts';
import { keyName, type Form } from '../hooks/use-form.ts';
import { useKeys, type Press } from '../hooks/use-keys.ts';
import { back } from '../state/app-state.ts';
import type { Field } from '../state/contract.ts';
import { fieldValue, unreadable } from '../state/form.ts';
import { formatAmount, parseAmount } from '../state/format.ts';
import type { Notice } from '../state/notice.ts';
import { canGiveUp } from '../state/outcomes.ts';
import {
  splitCharacters,
  visibleRows,
  measureWidth,
  wrap,
  wrapLines,
  type Line,
  type Room,
} from '../state/text.ts';
import { Coloured, Lines } from './coloured.tsx';
import { Frame } from './frame.tsx';
import { Scenarios, scenarioField } from './scenarios.tsx';

export interface FormScreenProps {
  readonly title: string;
  readonly form: Pick<Form, 'fields' | 'state' | 'notice' | 'press' | 'fillIn'> &
    Partial<Pick<Form, 'order'>>;
  readonly button: string;
  /** Other keys of the screen, such as `ctrl+r register`. */
  readonly hints?: readonly string[];
  /** Shown in place of the form's own notice. */
  readonly notice?: Notice | null;
  /** Lines above the form. */
  readonly intro?: string;
  /** Lines at the bottom, such as the outcome of a payment. */
  outcome?(columns: number): readonly Line[];
  /** Takes the keys that the form does not use. */
  onKey?(press: Press): void;
  /** Leaves the screen; without it, to the screen before. */
  close?(): void;
}

const typing = { isTyping: true } as const;

/** A screen that is a form, or in its place the scenarios that can be entered in a field. */
export function FormScreen(props: FormScreenProps) {
  const { login } = useApp();
  const [isPicking, pick] = useState(false);
  const { fields, fillIn } = props.form;
  const field = login.email === '' ? undefined : scenarioField(fields);
  if (field === undefined) return <ShownForm {...props} />;
  if (!isPicking) return <ShownForm {...props} pick={() => pick(true)} />;
  const close = (value: string | null): void => {
    pick(false);
    if (value !== null) fillIn(() => ({ [field]: value }));
  };
  return <Scenarios {...{ field, close }} />;
}

/** The keys of a form, and as much of it as there is room for. */
function ShownForm(props: FormScreenProps & { pick?(): void }) {
  const { title, form, button, notice = form.notice, intro = '', outcome, onKey, close } = props;
  const { change } = useApp();
  useKeys((press) => {
    if (form.press(press)) return;
    if (press.key === 'ctrl+p') props.pick?.();
    else if (press.key !== 'escape') onKey?.(press);
    else if (close) close();
    else change(back);
  }, typing);
  const hasKey = form.fields.some(({ name }) => name === keyName);
  const isBusy = notice?.kind === 'busy';
  const canBeGivenUp = form.order !== undefined && canGiveUp(form.order.answer) && !isBusy;
  const hints = [
    '↑↓ fields',
    `ctrl+s ${button.toLowerCase()}`,
    'ctrl+u empty the field',
    ...(hasKey ? ['ctrl+n new key'] : []),
    ...(canBeGivenUp ? ['ctrl+g give it up'] : []),
    ...(props.pick ? ['ctrl+p scenarios'] : []),
    ...(props.hints ?? []),
  ];
  const amount = parseAmount(form.state.values['amount'] ?? '');
  const text = amount === null ? button : `${button} ${formatAmount(amount)}`;
  return (
    <Frame {...{ title, hints, notice }}>
      {({ columns, rows }) => {
        const above = wrapLines(intro, columns);
        const below = outcome?.(columns) ?? [];
        const room = { columns, rows: rows - above.length - below.length };
        return (
          <>
            <Lines lines={above} />
            <FormView {...{ form, room }} button={text} />
            <Box flexGrow={1} />
            <Lines lines={below} />
          </>
        );
      }}
    </Frame>
  );
}

interface FormViewProps {
  readonly form: Pick<Form, 'fields' | 'state'>;
  readonly button: string;
  readonly room: Room;
}

interface Row {
  readonly isFocused: boolean;
  readonly node: ReactNode;
}

/** The rows of the form around the focused field. */
function FormView({ form, button, room }: FormViewProps) {
  const isOnButton = form.state.focus === '';
  const rows: Row[] = [
    ...form.fields.flatMap((field) => fieldRows(form, field, room.columns)),
    { isFocused: false, node: <Text> </Text> },
    {
      isFocused: isOnButton,
      node: (
        <Coloured bold inverse={isOnButton}>{`${isOnButton ? '›' : ' '} [ ${button} ] `}</Coloured>
      ),
    },
  ];
  const first = rows.findIndex(({ isFocused }) => isFocused);
  const last = rows.findLastIndex(({ isFocused }) => isFocused);
  const visible = visibleRows(rows, [first, last], room.rows);
  return (
    <Box flexDirection="column" flexShrink={0}>
      {visible.rows.map(({ node }, index) => (
        <Box key={index}>{node}</Box>
      ))}
      {visible.more && <Coloured colour="faint">{`  ${visible.more}`}</Coloured>}
    </Box>
  );
}

/** The label and the value, and below them what is wrong or, in the focused field, the hint. */
function fieldRows({ fields, state }: FormViewProps['form'], field: Field, columns: number): Row[] {
  const { name, label, choices, isRequired, isSecret } = field;
  const isFocused = state.focus === name;
  const indent = markColumns + Math.max(...fields.map((one) => one.label.length));
  const width = columns - indent;
  const value = fieldValue(state, field);
  const text = isSecret ? '•'.repeat(splitCharacters(value).length) : (choices?.[value] ?? value);
  const fault = state.faults[name] ?? unreadable(field, value);
  const note = fault ?? (isFocused ? hintText(field, value) : '');
  const mark = `${isFocused ? '›' : ' '} ${label}${isRequired ? ' *' : ''}`;
  const row = (
    <>
      <Box width={indent} flexShrink={0}>
        <Coloured bold={isFocused}>{mark}</Coloured>
      </Box>
      {choices || !isFocused ? (
        <Coloured bold={isFocused} colour={text === '' ? 'faint' : 'plain'}>
          {isFocused ? `‹ ${text} ›` : text || '–'}
        </Coloured>
      ) : (
        <TextWithCursor {...{ text, cursor: state.cursor, width }} />
      )}
    </>
  );
  const notes = note === '' ? [] : wrap(note, width).map((line) => `${' '.repeat(indent)}${line}`);
  const colour = fault === null ? 'faint' : 'bad';
  return [row, ...notes.map((line) => <Coloured {...{ colour }}>{line}</Coloured>)].map((node) => ({
    isFocused,
    node,
  }));
}

/** The mark of the focus, the asterisk of a required field, and the spaces around them. */
const markColumns = 5;

/** An amount is shown as it was understood, so that a person notices ten times too much. */
function hintText({ kind, hint = '' }: Field, value: string): string {
  const amount = kind === 'amount' ? parseAmount(value) : null;
  return amount === null ? hint : `= ${formatAmount(amount)}`;
}

interface TextWithCursorProps {
  readonly text: string;
  readonly cursor: number;
  readonly width: number;
}

/** The part of a long text that has the cursor. */
function TextWithCursor({ text, cursor, width }: TextWithCursorProps) {
  const characters = splitCharacters(text);
  const place = Math.min(cursor, characters.length);
  const under = characters[place] ?? ' ';
  let left = width - measureWidth(under);
  const take = (from: readonly string[]): number => {
    const size = from.findIndex((one) => (left -= measureWidth(one)) < 0);
    return size < 0 ? from.length : size;
  };
  const before = take(characters.slice(0, place).toReversed());
  const after = take(characters.slice(place + 1));
  return (
    <Text wrap="truncate-end">
      {characters.slice(place - before, place).join('')}
      <Text inverse>{under}</Text>
      {characters.slice(place + 1, place + 1 + after).join('')}
    </Text>
  );
}
