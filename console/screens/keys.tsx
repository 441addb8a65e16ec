import { FormView } from '../components/form-view.tsx';
import { Frame } from '../components/frame.tsx';
import { TableView } from '../components/table-view.tsx';
import { usePixKeys } from '../listen/use-pix-keys.ts';
import { keyColumns } from '../model/pix-keys.ts';

export function Keys() {
  const { pixKeys, isCreating, form, list, notice, keys } = usePixKeys();
  return (
    <Frame title={isCreating ? 'PIX keys › create' : 'PIX keys'} keys={keys} notice={notice}>
      {(room) => {
        if (isCreating) return <FormView {...{ form, room }} button="Create" />;
        const none = 'The account has no PIX keys. c creates one.';
        return (
          pixKeys && <TableView columns={keyColumns} rows={pixKeys} {...{ list, room, none }} />
        );
      }}
    </Frame>
  );
}
