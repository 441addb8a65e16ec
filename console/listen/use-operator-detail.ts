import { useWindowSize } from 'ink';
import { useEffect, useState } from 'react';
import type { Operate } from '../model/desk.ts';
import type { Press } from '../model/keyboard.ts';
import type { Line } from '../model/lines.ts';
import { ask, good, ofCall, ofRead, type Notice } from '../model/notice.ts';
import { detailLines, replayLines, retrySentence } from '../model/operator-details.ts';
import { showWords, wordOf } from '../model/operator-views.ts';
import { useCall } from './use-call.ts';
import { useKeys } from './use-keys.ts';
import type { Opened } from './use-operator.ts';
import { useScroll, type ScrollHandle } from './use-scroll.ts';

export interface OperatorDetailView {
  /** What a replay did or would do, and what the command tells of the row. */
  readonly lines: readonly Line[];
  readonly scroll: ScrollHandle;
  readonly notice: Notice | null;
  readonly keys: readonly string[];
}

export interface OperatorDetailOptions {
  readonly operate: Operate;
  readonly opened: Opened;
  close(): void;
}

/** One event, payment or dead job, and what can be done about it. */
export function useOperatorDetail(options: OperatorDetailOptions): OperatorDetailView {
  const { opened, close } = options;
  const { view } = opened;
  const { call, isWriting, lines, said, preview, confirmed } = useCommands(options);
  const [question, setQuestion] = useState<string | null>(null);
  const scroll = useScroll(lines.length);
  const about = (press: Press): void => {
    if (scroll.press(press)) return;
    const isReplay = view.of === 'event' && (press.text === 'd' || press.text === 'w');
    if (isReplay) {
      scroll.toTop();
      // Nobody replays for good what they have not looked at.
      preview(() => setQuestion(press.text === 'w' ? 'Replay it for good?' : null));
    }
    if (view.of === 'job' && press.text === 't') setQuestion('Queue the job again?');
  };
  useKeys((press) => {
    if (question !== null) {
      setQuestion(null);
      return press.text === 'y' ? confirmed() : undefined;
    }
    if (press.key === 'escape') return isWriting ? call.cancel() : close();
    return call.isBusy ? undefined : about(press);
  });
  return {
    ...{ lines, scroll, keys: keysOf[view.of] },
    notice: ask(question) ?? (isWriting ? ofCall : ofRead)(call, 'Asking ponte') ?? good(said),
  };
}

/** What the command tells of the row, and has done about it. */
function useCommands({ operate, opened }: OperatorDetailOptions) {
  const { view, row } = opened;
  const { columns } = useWindowSize();
  const call = useCall<null>();
  const [shown, setShown] = useState<unknown>(null);
  const [replayed, setReplayed] = useState<unknown>(null);
  const [said, setSaid] = useState('');
  const [isChange, setChange] = useState(false);
  const id = wordOf(row, 'id');
  const run = (work: (signal: AbortSignal) => Promise<void>, isToChange = false): void => {
    setChange(isToChange);
    call.run(async (signal) => {
      await work(signal);
      return null;
    });
  };
  const show = async (signal: AbortSignal): Promise<void> => {
    const words = showWords(view, row);
    if (words) setShown(await operate(words, signal));
  };
  useEffect(() => run(show), [id]);
  const width = columns - 2;
  return {
    ...{ call, said, isWriting: isChange && call.isBusy },
    lines: [
      ...(replayed === null ? [] : replayLines(replayed, width)),
      ...detailLines(view, { row, shown }, width),
    ],
    preview: (then: () => void): void =>
      run(async (signal) => {
        setReplayed(await operate(['webhook', 'replay', id, '--dry-run'], signal));
        then();
      }),
    confirmed: (): void =>
      run(async (signal) => {
        if (view.of === 'job') {
          setSaid(retrySentence(await operate(['jobs', 'retry', id, '--yes'], signal)));
        } else {
          setReplayed(await operate(['webhook', 'replay', id, '--yes'], signal));
          await show(signal);
        }
      }, true),
  };
}

const keysOf = {
  counts: ['↑↓ scroll'],
  payment: ['↑↓ scroll'],
  job: ['↑↓ scroll', 't try again'],
  event: ['↑↓ scroll', 'd replay dry', 'w replay'],
} as const;
