/** What an operator looks at, through the command `ponte`: lists, and one row of them. */
import { Box } from 'ink';
import { useState } from 'react';
import { Frame } from '../components/frame.tsx';
import { ScrollView } from '../components/scroll-view.tsx';
import { TableView } from '../components/table-view.tsx';
import { Toned } from '../components/toned.tsx';
import { useDesk } from '../desk-context.ts';
import type { Operate } from '../model/desk.ts';
import { useOperatorDetail } from '../listen/use-operator-detail.ts';
import {
  useOperatorList,
  type Opened,
  type OperatorListOptions,
  type OperatorPlace,
  type Printed,
} from '../listen/use-operator.ts';
import { operatorViews, type OperatorView } from '../model/operator-views.ts';

export function Operator() {
  const { operate } = useDesk();
  return operate && <Operating operate={operate} />;
}

const [firstView] = operatorViews;

function Operating({ operate }: { readonly operate: Operate }) {
  const [place, setPlace] = useState<OperatorPlace | null>(null);
  const [printed, setPrinted] = useState<Printed>(new Map());
  const at = place ?? (firstView && { view: firstView, chosen: 0, opened: null });
  if (!at) return null;
  const close = (): void => setPlace({ ...at, opened: null });
  if (at.opened) return <Detail {...{ operate, close, opened: at.opened }} />;
  const keep: OperatorListOptions['keep'] = (view, it) =>
    setPrinted((now) => new Map(now).set(view, it));
  return <List {...{ operate, place: at, go: setPlace, printed, keep }} />;
}

/** The names of the lists, and an empty line. */
const headRows = 2;

function List(props: OperatorListOptions) {
  const { view, rows, list, notice } = useOperatorList(props);
  const keys = ['←→ lists', '↑↓ choose', 'enter details', 'r again'];
  return (
    <Frame title="operator" keys={keys} notice={notice}>
      {(room) => (
        <>
          <Names of={view} />
          {rows && (
            <TableView
              {...{ rows, list, columns: view.columns, none: view.none }}
              room={{ ...room, rows: room.rows - headRows }}
            />
          )}
        </>
      )}
    </Frame>
  );
}

function Names({ of: shown }: { readonly of: OperatorView }) {
  return (
    <Box gap={1} height={headRows} flexShrink={0}>
      {operatorViews.map((view) => (
        <Toned key={view.name} bold={view === shown} tone={view === shown ? 'plain' : 'faint'}>
          {view === shown ? `[${view.name}]` : view.name}
        </Toned>
      ))}
    </Box>
  );
}

interface DetailProps {
  readonly operate: Operate;
  readonly opened: Opened;
  close(): void;
}

function Detail(props: DetailProps) {
  const { lines, scroll, notice, keys } = useOperatorDetail(props);
  return (
    <Frame title={`operator › ${props.opened.view.name}`} keys={keys} notice={notice}>
      {(room) => <ScrollView {...{ lines, scroll, room }} />}
    </Frame>
  );
}
