/** A list that the service filters by a form: the list, the details of a row, and the form. */
import { useEffect, useState, type ReactNode } from 'react';
import type { OperationId } from '../../contract/types.ts';
import { useApp } from '../hooks/use-app.ts';
import { useFilter } from '../hooks/use-filter.ts';
import { useForm, type Form, type FormOptions } from '../hooks/use-form.ts';
import { useKeys, type Press } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { back } from '../state/app-state.ts';
import type { Values } from '../state/contract.ts';
import { readValues } from '../state/form.ts';
import { reading, type Notice } from '../state/notice.ts';
import type { Column, Row } from '../state/table.ts';
import { Coloured } from './coloured.tsx';
import { FormScreen } from './form.tsx';
import { Frame } from './frame.tsx';
import { TableView } from './lists.tsx';

interface View {
  readonly mode: 'list' | 'row' | 'form';
  /** The index of the chosen row. */
  readonly chosen: number;
}

export interface Listing<Id extends OperationId> {
  readonly form: Form<Id>;
  readonly view: View;
  go(change: Partial<View>): void;
}

/** Reads the list with its screen. A response to a value `cursor` continues the list. */
export function useListing<Id extends OperationId>(options: FormOptions<Id>): Listing<Id> {
  const [view, setView] = useState<View>({ mode: 'list', chosen: 0 });
  const turn = (changed: Partial<View>): void => setView((now) => ({ ...now, ...changed }));
  const form = useForm<Id>({
    ...options,
    async onResponse(response, sent) {
      await options.onResponse?.(response, sent);
      const mode = response.status === 422 ? 'form' : 'list';
      turn(sent.values['cursor'] ? { mode } : { mode, chosen: 0 });
    },
  });
  useEffect(() => form.send(readValues(form.state, form.fields)), []);
  const go = (changed: Partial<View>): void => {
    // The notice of the last call belongs to the view before.
    form.call.clear();
    turn(changed);
  };
  return { form, view, go };
}

export interface ListingScreenProps<Id extends OperationId> {
  /** Of the screen. */
  readonly title: string;
  readonly listing: Listing<Id>;
  /** Null before the first response. */
  readonly rows: readonly Row[] | null;
  readonly columns: readonly Column[];
  /** The line above the list: its name and filters. */
  readonly heading: string;
  /** The text of an empty list. */
  readonly none: string;
  /** The filters with which the rows were read. */
  readonly query: Values | null;
  readonly button: string;
  /** The key that opens the form. */
  readonly formKey: string;
  readonly hints: readonly string[];
  /** About the last response. */
  readonly notice: Notice | null;
  /** Takes the keys that the list does not use. @returns whether other rows are shown now. */
  onKey(press: Press): boolean;
  openRow(row: Row, close: () => void): ReactNode;
}

export function ListingScreen<Id extends OperationId>(props: ListingScreenProps<Id>) {
  const { title, listing, rows, button } = props;
  const { form, view, go } = listing;
  const close = (): void => go({ mode: 'list' });
  const row = rows?.[view.chosen];
  if (view.mode === 'form') {
    const notice = reading(form.call) ?? form.notice;
    return <FormScreen {...{ title, form, button, notice, ...(rows && { close }) }} />;
  }
  return view.mode === 'row' && row ? props.openRow(row, close) : <Items {...props} />;
}

function Items<Id extends OperationId>(props: ListingScreenProps<Id>) {
  const { change } = useApp();
  const { form, view, go } = props.listing;
  const { columns, formKey, none, query, title } = props;
  const all = props.rows ?? [];
  const filter = useFilter(all, columns);
  const { rows } = filter;
  const list = useList(rows.length, view.chosen);
  useKeys(
    (press) => {
      const { key, text } = press;
      if (filter.press(press)) return list.choose(0);
      if (key === 'escape') return change(back);
      if (form.call.isBusy || list.press(press)) return undefined;
      const row = rows[list.chosen];
      const chosen = row ? all.indexOf(row) : 0;
      if (key === 'enter' && row) return go({ mode: 'row', chosen });
      if (text === formKey) return go({ mode: 'form', chosen });
      if (text === 'r') form.send(query ?? readValues(form.state, form.fields));
      return text === 'r' || props.onKey(press) ? list.choose(0) : undefined;
    },
    { isTyping: filter.isTyping },
  );
  const hints = ['↑↓ pgup pgdn', ...props.hints];
  return (
    <Frame {...{ title, hints }} notice={reading(form.call) ?? props.notice}>
      {(room) =>
        props.rows && (
          <TableView
            {...{ list, rows, room, columns, none }}
            title={<Coloured>{`${props.heading}${filter.title}`}</Coloured>}
          />
        )
      }
    </Frame>
  );
}
