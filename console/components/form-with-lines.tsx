/** A form, and what became of it in the lines at the foot of the room. */
import { Box } from 'ink';
import type { Line } from '../model/lines.ts';
import { FormView, type FormViewProps } from './form-view.tsx';
import { LinesView } from './lines-view.tsx';

/** The form has the rows that the lines leave it. */
export function FormWithLines({
  form,
  button,
  room,
  lines,
}: FormViewProps & { readonly lines: readonly Line[] }) {
  return (
    <>
      <FormView {...{ form, button }} room={{ ...room, rows: room.rows - lines.length }} />
      <Box flexGrow={1} />
      <LinesView lines={lines} />
    </>
  );
}
