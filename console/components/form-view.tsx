/** Draws a form: a label, what was typed, and what is wrong with it. */
import { Box, Text } from 'ink';
import { focusedRows, formRows, labelColumns, type FormRow } from '../model/form-rows.ts';
import { moreText, windowOf } from '../model/lines.ts';
import type { FormHandle } from '../listen/use-form.ts';
import type { Room } from './frame.tsx';
import { Toned } from './toned.tsx';

export interface FormViewProps {
  readonly form: FormHandle;
  readonly button: string;
  readonly room: Room;
}

/** As much of the form as there is room for, around the field that has the focus. */
export function FormView({ form, button, room }: FormViewProps) {
  const rows = formRows({ ...form, button, columns: room.columns });
  const seen = windowOf(rows, focusedRows(rows), room.rows);
  const indent = labelColumns(form.fields);
  return (
    <Box flexDirection="column" flexShrink={0}>
      {seen.rows.map((row, index) => (
        <Row key={index} {...{ row, indent }} />
      ))}
      {seen.rows.length < rows.length && <Toned tone="faint">{`  ${moreText(seen)}`}</Toned>}
    </Box>
  );
}

function Row({ row, indent }: { readonly row: FormRow; readonly indent: number }) {
  switch (row.kind) {
    case 'field':
      return (
        <Box>
          <Box width={indent} flexShrink={0}>
            <Toned bold={row.hasFocus}>
              {`${row.hasFocus ? '›' : ' '} ${row.label}${row.isRequired ? ' *' : ''}`}
            </Toned>
          </Box>
          <Value {...row} />
        </Box>
      );
    case 'hint':
    case 'fault':
      return (
        <Box paddingLeft={indent}>
          <Toned tone={row.kind === 'fault' ? 'bad' : 'faint'}>{row.text}</Toned>
        </Box>
      );
    case 'space':
      return <Text> </Text>;
    case 'button':
      return (
        <Box>
          <Text>{row.hasFocus ? '› ' : '  '}</Text>
          <Toned bold inverse={row.hasFocus}>{`[ ${row.text} ]`}</Toned>
        </Box>
      );
  }
}

function Value({ text, cursor, isChoice, hasFocus }: Extract<FormRow, { kind: 'field' }>) {
  if (isChoice) return <Toned bold={hasFocus}>{hasFocus ? `‹ ${text} ›` : text}</Toned>;
  if (cursor === null) return <Toned tone={text === '' ? 'faint' : 'plain'}>{text || '–'}</Toned>;
  const characters = [...text];
  return (
    <Text wrap="truncate-end">
      {characters.slice(0, cursor).join('')}
      <Text inverse>{characters[cursor] ?? ' '}</Text>
      {characters.slice(cursor + 1).join('')}
    </Text>
  );
}
