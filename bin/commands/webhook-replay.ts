/** `ponte webhook replay`: stored events are settled once more, page by page. */
import type { ReplayedEvent, WebhookReplay } from '../../src/operator/webhook-replay.ts';
import type { Desk } from '../desk.ts';
import { exitCodes, UsageError, type ExitCode } from '../exit-codes.ts';
import { createProgressBar } from '../progress-bar.ts';
import { plainText } from '../table.ts';
import { filterOf, outcomesText, type FilterOptions } from '../webhook-words.ts';

export interface Options extends FilterOptions {
  readonly dryRun?: boolean;
  readonly after?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Few enough that a page is soon done, when somebody presses Ctrl-C. */
const pageSize = 20;

/** Of a long replay the JSON lists so many; all are counted. */
const mostListed = 1_000;

type Ask = (changes: {
  readonly after?: string | undefined;
  readonly dryRun?: boolean;
  readonly counting?: boolean;
  readonly limit?: number;
}) => Promise<WebhookReplay>;

/**
 * Replays; exit 1 when an event that was named is not there or not among those that the filter
 * means, or one could not be replayed.
 */
export async function webhookReplay(
  desk: Desk,
  ids: readonly string[],
  options: Options,
): Promise<ExitCode> {
  const { dryRun = false, after, yes } = options;
  const filter = { ...filterOf(options, desk.clock), ...(ids.length > 0 && { eventIds: ids }) };
  if (Object.keys(filter).length === 0) {
    throw new UsageError('name events or give a filter, such as --state parked');
  }
  const ask: Ask = ({ after: place, ...changes }) =>
    desk.run('webhook replay', {
      ...{ ...filter, dryRun, limit: pageSize },
      ...(place !== undefined && { after: place }),
      ...changes,
    });
  const { total } = await ask({ after, dryRun: true, counting: true, limit: 1 });
  const question = `Settle ${total ?? 0} ${total === 1 ? 'event' : 'events'} once more?`;
  if (!dryRun && !(await desk.confirm(question, { yes }))) return exitCodes.bad;
  const tally = new Tally();
  const isInterrupted = await walk(desk, ask, { options, total: total ?? 0, tally });
  if (options.json) desk.terminal.json({ dryRun, ...tally.summary() });
  else desk.terminal.print(tally.sentence(dryRun));
  if (isInterrupted) return exitCodes.interrupted;
  return tally.isClean ? exitCodes.done : exitCodes.bad;
}

interface Walk {
  readonly options: Options;
  readonly total: number;
  readonly tally: Tally;
}

/** Whatever ends it early, it says where it has come to. */
async function walk(desk: Desk, ask: Ask, { options, total, tally }: Walk): Promise<boolean> {
  const { streams, print, remark } = desk.terminal;
  const bar = createProgressBar(streams);
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt);
  let place: string | null | undefined = options.after;
  try {
    do {
      const page: WebhookReplay = await ask({ after: place });
      tally.add(page.events);
      if (!options.json) print(...page.events.filter(isWorthALine).flatMap(linesOf));
      place = page.next;
      bar.update(tally.events, Math.max(total, tally.events));
    } while (place !== null && !interrupted.signal.aborted);
  } finally {
    process.off('SIGINT', interrupt);
    bar.stop();
    if (typeof place === 'string') remark(`Go on behind what is done with --after ${place}`);
  }
  return place !== null;
}

/** What stays as it was and has nothing to say is only counted. */
function isWorthALine({ result, from, to, items }: ReplayedEvent): boolean {
  return from !== to || items.length > 0 || (result !== 'replayed' && result !== 'preview');
}

function linesOf({ eventId, result, from, to, items }: ReplayedEvent): string[] {
  const isDone = result === 'replayed' || result === 'preview';
  const why = result === 'excluded' ? 'excluded by the filter' : result;
  const told = isDone ? `${from} → ${to}` : why;
  return [
    `${eventId}  ${told}`,
    ...items.map((item) => {
      const change =
        'to' in item && item.from !== item.to ? `${item.from ?? 'new'} → ${item.to}` : '';
      const words = [item.result, item.reason, item.transactionId, change];
      return `  item ${item.index}  ${words.filter(Boolean).map(plainText).join('  ')}`;
    }),
  ];
}

function count(counts: Record<string, number>, name: string, times: number): void {
  counts[name] = (counts[name] ?? 0) + times;
}

/** Counts; it keeps the first events only. */
class Tally {
  events = 0;
  readonly #results: Record<string, number> = {};
  readonly #outcomes: Record<string, number> = {};
  readonly #listed: ReplayedEvent[] = [];

  get isClean(): boolean {
    return Object.keys(this.#results).every((one) => one === 'replayed' || one === 'preview');
  }

  add(events: readonly ReplayedEvent[]): void {
    this.events += events.length;
    for (const { result, outcomes } of events) {
      count(this.#results, result, 1);
      for (const [outcome, times] of Object.entries(outcomes))
        count(this.#outcomes, outcome, times);
    }
    this.#listed.push(...events.slice(0, mostListed - this.#listed.length));
  }

  summary() {
    return {
      results: this.#results,
      outcomes: this.#outcomes,
      events: this.#listed,
      isCut: this.events > this.#listed.length,
    };
  }

  sentence(dryRun: boolean): string {
    const results = outcomesText(this.#results) || 'no events';
    const outcomes = outcomesText(this.#outcomes) || 'none';
    const note = dryRun ? ' Nothing was changed.' : '';
    return `${results}; items: ${outcomes}.${note}`;
  }
}
