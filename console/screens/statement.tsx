import { FormView } from '../components/form-view.tsx';
import { Frame, type Room } from '../components/frame.tsx';
import { ScrollView } from '../components/scroll-view.tsx';
import { TableView } from '../components/table-view.tsx';
import { Toned } from '../components/toned.tsx';
import { useStatement, type StatementView } from '../listen/use-statement.ts';
import { localColumns, remoteColumns } from '../model/statement-columns.ts';

const sides = { local: "Ponte's list", remote: "The bank's own list" } as const;

export function Statement() {
  const view = useStatement();
  return (
    <Frame title="statement" keys={view.keys} notice={view.notice}>
      {(room) => {
        if (view.mode === 'dates') return <FormView form={view.form} button="Show" room={room} />;
        if (view.mode === 'item') return <ScrollView {...view.item} room={room} />;
        return <List {...{ view, room }} />;
      }}
    </Frame>
  );
}

interface PartProps {
  readonly view: StatementView;
  readonly room: Room;
}

/** What stands above the table: which list it is, and an empty line. */
const headRows = 2;

function List({ view, room }: PartProps) {
  const { statement, side, days, list } = view;
  if (!statement) return null;
  const { local, remote } = statement.items;
  const rest = {
    list,
    none: 'Nothing in these days.',
    room: { ...room, rows: room.rows - headRows },
  };
  return (
    <>
      <Toned>{`${sides[side]}, ${days}`}</Toned>
      <Toned> </Toned>
      {side === 'local' ? (
        <TableView columns={localColumns} rows={local} {...rest} />
      ) : (
        <TableView columns={remoteColumns} rows={remote} {...rest} />
      )}
    </>
  );
}
