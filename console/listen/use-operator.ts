import { useEffect, useState } from 'react';
import { useDesk } from '../desk-context.ts';
import type { Operate } from '../model/desk.ts';
import { ofCall, type Notice } from '../model/notice.ts';
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
}

/** The lists of an operator, one at a time. */
export function useOperatorList({ operate, place, go }: OperatorListOptions): OperatorListView {
  const { act } = useDesk();
  const { view } = place;
  const [printed, setPrinted] = useState<{
    readonly of: OperatorView;
    readonly it: unknown;
  } | null>(null);
  const call = useCall<null>();
  const ask = (): void =>
    call.run(async (signal) => {
      setPrinted({ of: view, it: await operate(view.words, signal) });
      return null;
    });
  useEffect(ask, [view]);
  const rows = printed?.of === view ? rowsOf(view, printed.it) : null;
  const list = useList(rows?.length ?? 0, place.chosen);
  const turn = (by: number): void => {
    const { length } = operatorViews;
    const at = (operatorViews.indexOf(view) + by + length) % length;
    list.choose();
    go({ view: operatorViews[at] ?? view, chosen: 0, opened: null });
  };
  useKeys((press) => {
    if (press.key === 'escape') return call.isBusy ? call.cancel() : act({ type: 'back' });
    if (press.key === 'right' || press.key === 'tab') return turn(1);
    if (press.key === 'left' || press.key === 'shift+tab') return turn(-1);
    if (list.press(press)) return undefined;
    if (press.text === 'r') return ask();
    const row = rows?.[list.chosen];
    const opened = press.key === 'enter' && row ? { view, row } : null;
    return opened && go({ view, chosen: list.chosen, opened });
  });
  return { view, rows, list, notice: ofCall(call, 'Asking ponte') };
}
