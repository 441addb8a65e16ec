/** The Pix keys of the account: the list, a new key, and deleting one after a question. */
import { useState } from 'react';
import type { PixKeyType } from '../../contract/types.ts';
import { readFaults, type OperationResponse, type ServiceResponse } from '../api.ts';
import { FormScreen } from '../components/form.tsx';
import { Frame } from '../components/frame.tsx';
import { TableView } from '../components/lists.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useCall, useRead } from '../hooks/use-call.ts';
import { useForm } from '../hooks/use-form.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { useQuestion } from '../hooks/use-question.ts';
import { back, forgetForms } from '../state/app-state.ts';
import { failure, reading, success, writing, type Notice } from '../state/notice.ts';
import { cellText, memberColumns, type Row } from '../state/table.ts';

const types = {
  EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO: 'random (EVP)',
  CPF: 'CPF',
  CNPJ: 'CNPJ',
  CELULAR: 'phone (CELULAR)',
  E_MAIL: 'e-mail (E_MAIL)',
} as const satisfies Record<PixKeyType, string>;

const warning = 'Check the list before you repeat it: r.';

export function PixKeys() {
  const [isCreating, setCreating] = useState(false);
  const [said, setSaid] = useState('');
  const show = (text: string): void => {
    setSaid(text);
    setCreating(false);
  };
  if (isCreating) return <CreateKey close={show} />;
  return <KeyList {...{ said, setSaid }} create={() => setCreating(true)} />;
}

interface KeyListProps {
  /** The last change. */
  readonly said: string;
  setSaid(text: string): void;
  create(): void;
}

function KeyList({ said, setSaid, create }: KeyListProps) {
  const { api, change, copy } = useApp();
  const listing = useRead((signal) => api.call('listPixKeys', {}, signal));
  const { result, read } = listing;
  const pixKeys = result?.status === 200 ? readKeys(result.body.data) : null;
  const list = useList(pixKeys?.length ?? 0);
  const question = useQuestion();
  const deletion = useCall<OperationResponse<'deletePixKey'>>({ warning });
  const deleteKey = (key: string): void =>
    deletion.run(async (signal) => {
      const response = await api.call('deletePixKey', { body: { key } }, signal);
      if (response.status === 200) {
        setSaid(`Deleted: ${key}.`);
        read();
      }
      return response;
    });
  useKeys((press) => {
    if (question.press(press)) return undefined;
    if (press.key === 'escape') return deletion.isBusy ? deletion.cancel() : change(back);
    if (deletion.isBusy || listing.isBusy) return undefined;
    setSaid('');
    deletion.clear();
    if (list.press(press)) return undefined;
    if (press.text === 'c') return create();
    if (press.text === 'r') return read();
    const chosen = pixKeys?.[list.chosen];
    if (!chosen) return undefined;
    const key = cellText(chosen, 'key');
    if (press.text === 'y') return copy(key);
    if (press.text !== 'd') return undefined;
    return question.ask(`Delete ${key}?`, () => deleteKey(key));
  });
  const notice =
    question.notice ??
    writing(deletion) ??
    refusal(deletion.result) ??
    reading(listing) ??
    refusal(result) ??
    success(said);
  const hints = ['↑↓ choose', 'c create', 'd delete', 'y copy', 'r refresh'];
  const none = 'The account has no Pix keys. c creates one.';
  return (
    <Frame {...{ title: 'Pix keys', hints, notice }}>
      {(room) => pixKeys && <TableView {...{ columns, rows: pixKeys, list, room, none }} />}
    </Frame>
  );
}

function refusal(response: ServiceResponse | null): Notice | null {
  return failure(response && Object.values(readFaults(response)).join(' '));
}

// A known type has a short name, so that there is room for all of a key.
const columns = memberColumns(['keyType', 'key'], (row, name) => {
  const text = cellText(row, name);
  return name === 'keyType' ? (types[text as PixKeyType] ?? text) : text;
});

/** The service passes on the provider's payload: a key is an item of a list that has a `key`. */
function readKeys(payload: Row): Row[] {
  const items = Object.values(payload).filter(Array.isArray).flat() as (Row | null)[];
  return items.flatMap((item) => (typeof item?.['key'] === 'string' ? [item] : []));
}

function CreateKey({ close }: { close(said: string): void }) {
  const { change } = useApp();
  const form = useForm({
    name: 'keys',
    operation: 'createPixKey',
    warning,
    inputs: { key_type: { label: 'Type', choices: types }, email: 'E-mail' },
    onResponse(response) {
      if (response.status !== 201) return;
      change(forgetForms('keys'));
      const { key } = response.body.data;
      close(`Created: ${typeof key === 'string' ? key : 'the key'}.`);
    },
  });
  const leave = (): void => close('');
  return <FormScreen {...{ title: 'Pix keys › create', form, button: 'Create', close: leave }} />;
}
