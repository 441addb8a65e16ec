import { useEffect, useState } from 'react';
import { refusalsOf, type Answer } from '../api.ts';
import { useDesk } from '../desk-context.ts';
import type { Field } from '../model/form.ts';
import { valuesOf } from '../model/form-values.ts';
import { formKeys } from '../model/foot.ts';
import type { Press } from '../model/keyboard.ts';
import { bad, ofFaults, ofRead, type Notice } from '../model/notice.ts';
import { useCall, type Call } from './use-call.ts';
import { useForm, type FormHandle } from './use-form.ts';
import { useKeys } from './use-keys.ts';
import { useList, type ListHandle } from './use-list.ts';
import { useItem, type ItemView } from './use-statement-item.ts';

const fields: readonly Field[] = [
  { name: 'start_date', label: 'From', kind: 'text', hint: 'yyyy-mm-dd; empty: 29 days before To' },
  { name: 'end_date', label: 'To', kind: 'text', hint: 'yyyy-mm-dd; empty: today' },
];

type Reply = Extract<Answer<'getStatement'>, { readonly status: 200 }>;

type Query = Readonly<Record<string, string>>;

/** What was asked for, and what came. */
interface Shown {
  readonly reply: Reply;
  readonly query: Query;
}

export interface StatementView {
  readonly mode: 'list' | 'item' | 'dates';
  readonly side: 'local' | 'remote';
  readonly form: FormHandle;
  readonly list: ListHandle;
  readonly statement: Reply['body'] | null;
  /** All that is known of the chosen item. */
  readonly item: ItemView;
  /** The days that are shown, in words. */
  readonly days: string;
  readonly notice: Notice | null;
  readonly keys: readonly string[];
}

type View = Pick<StatementView, 'mode' | 'side'>;

const listKeys = ['↑↓ pgup pgdn', 'enter details', 'd dates', 'r again'];

/** The statement of the days that were asked for; at first of the last thirty. */
export function useStatement(): StatementView {
  const { api, act } = useDesk();
  const call = useCall<Answer<'getStatement'>>();
  const [shown, setShown] = useState<Shown | null>(null);
  const { view, go, turnTo } = useView(call);
  const ask = (query: Query): void =>
    call.run(async (signal) => {
      const answer = await api.call('getStatement', { query }, signal);
      form.refuse(refusalsOf(answer));
      if (answer.status === 200) setShown({ reply: answer, query });
      if (answer.status === 200 || answer.status === 422) list.choose();
      go({ mode: answer.status === 422 ? 'dates' : 'list' });
      return answer;
    });
  const form = useForm({
    ...{ name: 'statement', fields, operation: 'getStatement' },
    onSubmit: (values) => ask(values as Query),
  });
  useEffect(() => ask(valuesOf(fields, form.state) as Query), []);
  const items = shown?.reply.body.items[view.side] ?? [];
  const list = useList(items.length);
  const item = useItem(shown?.reply.body ?? null, view.side, list.chosen);
  const inList = (press: Press): void => {
    if (list.press(press)) return;
    if (press.key === 'enter' && items.length > 0) {
      item.scroll.toTop();
      turnTo('item');
    }
    if (press.text === 'd') turnTo('dates');
    if (press.text === 'r') ask(shown?.query ?? {});
    if (press.key === 'tab') {
      list.choose();
      go({ side: view.side === 'local' ? 'remote' : 'local' });
    }
  };
  useKeys((press) => {
    const isInside = view.mode !== 'list' && shown !== null;
    if (press.key === 'escape') return isInside ? turnTo('list') : act({ type: 'back' });
    if (call.isBusy) return undefined;
    if (view.mode === 'dates') return void form.press(press);
    return view.mode === 'list' ? inList(press) : void item.scroll.press(press);
  });
  return {
    ...{ ...view, form, list, item, statement: shown?.reply.body ?? null },
    ...{ days: daysOf(shown?.query ?? {}), keys: keysOf(view) },
    notice: ofRead(call) ?? noticeOf({ view, form, shown, answer: call.result }),
  };
}

function useView(call: Pick<Call<unknown>, 'clear'>) {
  const [view, setView] = useState<View>({ mode: 'list', side: 'local' });
  const go = (change: Partial<View>): void => setView((now) => ({ ...now, ...change }));
  // How a read has ended is told where it was asked for: what is turned to begins without it.
  const turnTo = (mode: View['mode']): void => {
    call.clear();
    go({ mode });
  };
  return { view, go, turnTo };
}

interface Known {
  readonly view: View;
  readonly form: FormHandle;
  readonly shown: Shown | null;
  readonly answer: Answer<'getStatement'> | null;
}

function noticeOf({ view, form, shown, answer }: Known): Notice | null {
  if (view.mode === 'dates') return ofFaults(form.faults, fields);
  if (answer && answer.status !== 200) return bad(refusalsOf(answer)['']);
  const headers = shown?.reply.headers;
  if (headers?.get('x-statement-remote') === 'unavailable') {
    return bad('The bank did not answer: its own list is missing.');
  }
  const isCut = headers?.get('x-statement-local') === 'truncated';
  return bad(isCut ? 'The period has more items: choose a shorter one.' : null);
}

function keysOf({ mode, side }: View): readonly string[] {
  if (mode === 'dates') return formKeys('show');
  if (mode === 'item') return ['↑↓ scroll'];
  return [...listKeys, `tab ${side === 'local' ? "the bank's list" : "Ponte's list"}`];
}

function daysOf({ start_date: from, end_date: to }: Query): string {
  if (from === undefined && to === undefined) return 'the last 30 days';
  return from === undefined ? `the 30 days to ${to}` : `from ${from} to ${to ?? 'today'}`;
}
