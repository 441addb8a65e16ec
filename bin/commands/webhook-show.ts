/** `ponte webhook show`: one event. */
import type { WebhookShown } from '../../src/operator/webhook-show.ts';
import type { Desk } from '../desk.ts';
import { shortTime } from '../short-time.ts';
import type { Column } from '../table.ts';
import { outcomesText } from '../webhook-words.ts';
import { jobColumns } from './jobs-list.ts';

export interface Options {
  readonly raw?: boolean;
  readonly json?: boolean;
}

const itemColumns: readonly Column<WebhookShown['items'][number]>[] = [
  { head: 'ITEM', cell: ({ index }) => index, align: 'right' },
  { head: 'RESULT', cell: ({ result }) => result },
  { head: 'REASON', cell: ({ reason }) => reason },
  { head: 'TRANSACTION', cell: ({ transactionId }) => transactionId, isWhole: true },
];

/** Shows an event; its payload without people, unless it is asked for as it came. */
export async function webhookShow(
  { run, terminal }: Desk,
  id: string,
  { raw = false, json = false }: Options,
): Promise<void> {
  const shown = await run('webhook show', { id, raw });
  if (raw)
    terminal.remark('The payload is shown as it came: it may name people. Keep it to yourself.');
  if (json) terminal.json(shown);
  else print(shown, terminal);
}

function print(shown: WebhookShown, terminal: Desk['terminal']): void {
  const { event, items, waitsFor, jobs, payload } = shown;
  terminal.details([
    ['event', event.id],
    ['state', event.state],
    ['received', shortTime(event.receivedAt)],
    ['looked at', shortTime(event.processedAt)],
    ['items', outcomesText(event.outcomes)],
    ['waits for', waitsFor.join(', ')],
  ]);
  terminal.print('');
  terminal.table({ columns: itemColumns, rows: items, none: 'It was not looked at yet.' });
  terminal.print('');
  terminal.table({ columns: jobColumns, rows: jobs, none: 'No job of it is kept.' });
  terminal.print('', payloadText(payload, terminal.streams.stdout.isTTY === true));
}

/** On a terminal, what only a terminal reads is taken out of a payload that is not ours. */
function payloadText(payload: unknown, isTerminal: boolean): string {
  if (payload === null) return 'The payload was purged with age.';
  if (typeof payload !== 'string') return JSON.stringify(payload, null, 2);
  return isTerminal ? payload.replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_C}]/gu, ' ') : payload;
}
