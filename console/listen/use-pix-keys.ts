import { useEffect, useState } from 'react';
import { refusalsOf, type Answer } from '../api.ts';
import { useDesk } from '../desk-context.ts';
import { formKeys } from '../model/foot.ts';
import { bodyFor } from '../model/form-values.ts';
import type { Press } from '../model/keyboard.ts';
import { ask, bad, good, ofCall, ofFaults, ofRead, type Notice } from '../model/notice.ts';
import { keyFields, keyOf, keysOf, type PixKey } from '../model/pix-keys.ts';
import { useCall } from './use-call.ts';
import { useForm, type FormHandle } from './use-form.ts';
import { useKeys } from './use-keys.ts';
import { useList, type ListHandle } from './use-list.ts';

export interface PixKeysView {
  /** Null until they have come. */
  readonly pixKeys: readonly PixKey[] | null;
  readonly isCreating: boolean;
  readonly form: FormHandle;
  readonly list: ListHandle;
  readonly notice: Notice | null;
  readonly keys: readonly string[];
}

type Changed = Answer<'createPixKey'> | Answer<'deletePixKey'>;

/** Lists the keys, makes new ones, and deletes one after a question. */
export function usePixKeys(): PixKeysView {
  const { act } = useDesk();
  const [isCreating, setCreating] = useState(false);
  const [doomed, setDoomed] = useState<string | null>(null);
  const [said, setSaid] = useState('');
  const { listing, pixKeys, list, reload } = useListing();
  const { change, form, remove } = useChange((words) => {
    setSaid(words);
    setCreating(false);
    reload();
  });
  const inList = (press: Press): void => {
    if (list.press(press)) return;
    if (press.text === 'c') setCreating(true);
    if (press.text === 'r') reload();
    const chosen = pixKeys?.[list.chosen];
    if (press.text === 'd' && chosen) setDoomed(chosen.key);
  };
  useKeys((press) => {
    if (doomed !== null) {
      setDoomed(null);
      return press.text === 'y' ? remove(doomed) : undefined;
    }
    if (press.key === 'escape' && change.isBusy) return change.cancel();
    if (press.key === 'escape') return isCreating ? setCreating(false) : act({ type: 'back' });
    if (change.isBusy || listing.isBusy) return undefined;
    setSaid('');
    change.clear();
    return isCreating ? void form.press(press) : inList(press);
  });
  const refused = isCreating
    ? ofFaults(form.faults, form.fields)
    : bad(change.result && wordsOf(change.result));
  return {
    ...{ pixKeys, isCreating, form, list },
    keys: isCreating ? formKeys('create') : ['↑↓ choose', 'c create', 'd delete', 'r again'],
    notice:
      ask(doomed === null ? null : `Delete ${doomed}?`) ??
      ofCall(change) ??
      refused ??
      ofRead(listing) ??
      bad(listing.result && wordsOf(listing.result)) ??
      good(said),
  };
}

function useListing() {
  const { api } = useDesk();
  const listing = useCall<Answer<'listPixKeys'>>({ isKept: true });
  const reload = (): void => listing.run((signal) => api.call('listPixKeys', {}, signal));
  useEffect(reload, []);
  const pixKeys = listing.result?.status === 200 ? keysOf(listing.result.body.data) : null;
  return { listing, pixKeys, reload, list: useList(pixKeys?.length ?? 0) };
}

/** @param onDone is told what was done. */
function useChange(onDone: (words: string) => void) {
  const { api, state, act } = useDesk();
  const change = useCall<Changed>({ warning: 'Look at the list before you repeat it: r.' });
  const create = async (
    values: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Changed> => {
    const body = bodyFor('createPixKey', values);
    const answer = await api.call('createPixKey', { body }, signal);
    form.refuse(refusalsOf(answer));
    if (answer.status === 201) {
      act({ type: 'forget', form: 'keys' });
      onDone(`Created: ${keyOf(answer.body.data)}.`);
    }
    return answer;
  };
  const form = useForm({
    name: 'keys',
    fields: keyFields(state.drafts['keys']?.values ?? {}),
    operation: 'createPixKey',
    onSubmit: (values) => change.run((signal) => create(values, signal)),
  });
  const remove = (key: string): void =>
    change.run(async (signal) => {
      const answer = await api.call('deletePixKey', { body: { key } }, signal);
      if (answer.status === 200) onDone(`Deleted: ${key}.`);
      return answer;
    });
  return { change, form, remove };
}

/** What an answer refuses, in one text. */
function wordsOf(answer: Changed | Answer<'listPixKeys'>): string {
  return Object.values(refusalsOf(answer)).join(' ');
}
