/** The scenarios of the simulated bank, in place of a form: the chosen one fills in its field. */
import { useApp } from '../hooks/use-app.ts';
import { useRead } from '../hooks/use-call.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { reading } from '../state/notice.ts';
import { cellText, memberColumns } from '../state/table.ts';
import { wrapLines } from '../state/text.ts';
import { Lines } from './coloured.tsx';
import { Frame } from './frame.tsx';
import { TableView } from './lists.tsx';

/** The simulated bank's name of an input, by the field in which its scenarios are entered. */
const inputs: Readonly<Record<string, string>> = { pix_key: 'Pix key', phone: 'onboarding phone' };

/** @returns the first of these fields that scenarios are entered in. */
export function scenarioField(fields: readonly { readonly name: string }[]): string | undefined {
  return fields.find(({ name }) => name in inputs)?.name;
}

export interface ScenariosProps {
  readonly field: string;
  /** @param value the value for the field; null without a choice. */
  close(value: string | null): void;
}

export function Scenarios({ field, close }: ScenariosProps) {
  const { api } = useApp();
  const call = useRead((signal) => api.readScenarios(signal));
  const rows = (call.result ?? [])
    .filter(({ input }) => input === inputs[field])
    .map(({ value, effect }) => ({ value: written(value), effect }));
  const list = useList(rows.length);
  const chosen = rows[list.chosen];
  useKeys((press) => {
    if (press.key === 'escape' || press.key === 'ctrl+p') close(null);
    else if (press.key === 'enter') close(chosen?.value ?? null);
    else list.press(press);
  });
  const none = call.result ? 'Only the simulated bank of APP_ENV=local has scenarios.' : '';
  return (
    <Frame
      {...{ title: 'scenarios of the bank', hints: ['↑↓ choose', 'enter take it'] }}
      notice={reading(call)}
    >
      {(room) => {
        const effect = wrapLines(chosen?.effect ?? '', room.columns);
        const table = { ...room, rows: room.rows - effect.length - 1 };
        return (
          <>
            <TableView {...{ columns, rows, list, room: table, none }} />
            <Lines lines={[{ text: '' }, ...effect]} />
          </>
        );
      }}
    </Frame>
  );
}

const columns = memberColumns(['value', 'effect'], cellText);

/** A scenario of a phone states the last digit only. */
function written(value: string): string {
  const [, digit] = /^ending in (\d)$/.exec(value) ?? [];
  return digit === undefined ? value : `+55 11 98765-432${digit}`;
}
