/** The overlays over an active screen: the keys, and the last request. */
import { Lines } from '../components/coloured.tsx';
import { Frame } from '../components/frame.tsx';
import { ScrollView } from '../components/lists.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { curlCommand, exchangeLines } from '../state/exchange.ts';
import { ordersInDoubt } from '../state/app-state.ts';
import { question } from '../state/notice.ts';
import { factLines, wrapLines, type Facts, type Line } from '../state/text.ts';

export type OverlayName = 'keys' | 'request' | 'quit';

/** @param props.close goes back to the screen. */
export function Overlay({ name, close }: { readonly name: OverlayName; close(): void }) {
  if (name === 'quit') return <Quit close={close} />;
  return name === 'keys' ? <Keys close={close} /> : <LastRequest close={close} />;
}

/** An order in doubt is safe to repeat with its own key alone, which is forgotten with this. */
function Quit({ close }: { close(): void }) {
  const { state, quit } = useApp();
  useKeys(({ text }) => (text === 'y' ? quit() : close()));
  const keys = ordersInDoubt(state).map(({ kind, key }) => [keyNames[kind], key] as const);
  const [text, colour] = keys.length > 0 ? ([doubt, 'bad'] as const) : ([ended, 'plain'] as const);
  return (
    <Frame title="quit" hints={[]} exits={[]} notice={question('Quit all the same?')}>
      {({ columns }) => (
        <Lines
          lines={[...wrapLines(text, columns, colour), { text: '' }, ...factLines(keys, columns)]}
        />
      )}
    </Frame>
  );
}

const keyNames = { send: 'Key of a payment', refund: 'Key of a return' } as const;

const doubt =
  'A payment or a return may have been made: its end is not known. Only its own Idempotency-Key ' +
  'repeats it safely, and the console forgets the key. The statement shows how it ends.';

/** It may end while the question is asked. */
const ended = 'It has ended; the statement shows how.';

const keys: Facts = [
  ['↑ ↓, tab', 'the next field, or the next item'],
  ['pgup pgdn', 'a page of a list or of a text'],
  ['← →', 'another choice, or another list'],
  ['enter', 'open, or send the form on its button'],
  ['esc', 'back; while a request is under way, stop waiting'],
  ['ctrl+s', 'send the form'],
  ['ctrl+n', 'a new idempotency key, for another payment, return or charge'],
  ['ctrl+g', 'give a payment or a return up, while its result is not known'],
  ['ctrl+u', 'empty the field'],
  ['ctrl+p', 'a scenario of the simulated bank for the form'],
  ['ctrl+t', 'the last request as a curl command'],
  ['/', 'find in the statement and the transactions; esc shows all'],
  ['r', 'read again'],
  ['y', 'copy: a code, a key, an id, a command'],
  ['?', 'these keys, except while you type'],
  ['ctrl+c', 'quit'],
];

function Keys({ close }: { close(): void }) {
  const list = useList();
  useKeys((press) => (list.press(press) ? undefined : close()));
  const lines = (columns: number): Line[] => factLines(keys, columns);
  return (
    <Frame title="keys" hints={['↑↓ scroll']} exits={['any other key closes']} notice={null}>
      {(room) => <ScrollView {...{ lines, list, room }} />}
    </Frame>
  );
}

function LastRequest({ close }: { close(): void }) {
  const { api, copy } = useApp();
  const { last } = api;
  const list = useList();
  useKeys((press) => {
    if (press.key === 'escape' || press.key === 'ctrl+t') return close();
    if (press.text === 'y' && last) return copy(curlCommand(last));
    return list.press(press);
  });
  const lines = (columns: number): Line[] =>
    last ? exchangeLines(last, columns) : [{ text: 'There was no request yet.' }];
  return (
    <Frame
      {...{ title: 'last request', hints: ['↑↓ scroll', 'y copy the command'] }}
      exits={['esc close']}
      notice={null}
    >
      {(room) => <ScrollView {...{ lines, list, room }} />}
    </Frame>
  );
}
