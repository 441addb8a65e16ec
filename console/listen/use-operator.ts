import { useEffect } from 'react';
import { useDesk } from '../desk-context.ts';
import type { Operate } from '../model/desk.ts';
import { ofRead, type Notice } from '../model/notice.ts';
import { operatorViews, rowsOf, type OperatorView, type Row } from '../model/operator-views.ts';
import { useCall } from './use-call.ts';
import { useKeys } from './use-keys.ts';
import { useList, type ListHandle } from './use-list.ts';

export interface Opened {
  readonly view: OperatorView;
  readonly row: Row;
}

/** Which list is looked at, which of its rows is chosen, and which row is open. */
export interface OperatorPlace {
  readonly view: OperatorView;
  readonly chosen: number;
  readonly opened: Opened | null;
}

/** What the command printed last for each list. */
export type Printed = ReadonlyMap<OperatorView, unknown>;

export interface OperatorListView {
  readonly view: OperatorView;
  /** Null until they have come. */
  readonly rows: readonly Row[] | null;
  readonly list: ListHandle;
  readonly notice: Notice | null;
}

export interface OperatorListOptions {
  readonly operate: Operate;
  readonly place: OperatorPlace;
  go(place: OperatorPlace): void;
  readonly printed: Printed;
  /** Keeps what was printed for longer than the list is shown. */
  keep(view: OperatorView, printed: unknown): void;
}

/**
 * The lists of an operator, one at a time. A process has to start before one comes: until then what
 * came last is shown.
 */
export function useOperatorList(options: OperatorListOptions): OperatorListView {
  const { operate, place, go, printed, keep } = options;
  const { act } = useDesk();
  const { view } = place;
  const call = useCall<null>();
  const ask = (): void =>
    call.run(async (signal) => {
      keep(view, await operate(view.words, signal));
      return null;
    });
  useEffect(ask, [view]);
  const rows = printed.has(view) ? rowsOf(view, printed.get(view)) : null;
  const list = useList(rows?.length ?? 0, place.chosen);
  const turn = (by: number): void => {
    const { length } = operatorViews;
    const at = (operatorViews.indexOf(view) + by + length) % length;
    list.choose();
    go({ view: operatorViews[at] ?? view, chosen: 0, opened: null });
  };
  useKeys((press) => {
    if (press.key === 'escape') return act({ type: 'back' });
    if (press.key === 'right' || press.key === 'tab') return turn(1);
    if (press.key === 'left' || press.key === 'shift+tab') return turn(-1);
    if (list.press(press)) return undefined;
    if (press.text === 'r') return ask();
    const row = rows?.[list.chosen];
    const opened = press.key === 'enter' && row ? { view, row } : null;
    return opened && go({ view, chosen: list.chosen, opened });
  });
  return { view, rows, list, notice: ofRead(call, 'Asking ponte') };
}
