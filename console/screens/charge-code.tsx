/** A charge: the code that a phone scans, the text that is copied, and whether it has been paid. */
import { Box, Text, useWindowSize } from 'ink';
import type { Room } from '../components/frame.tsx';
import { LinesView } from '../components/lines-view.tsx';
import { NoticeView } from '../components/notice-view.tsx';
import { Toned } from '../components/toned.tsx';
import { useDesk } from '../desk-context.ts';
import type { ChargeView } from '../listen/use-charge.ts';
import { copyText, windowForCode } from '../model/charge-code.ts';
import { linesOf } from '../model/lines.ts';
import { noticeTone } from '../model/notice.ts';
import { drawnCode, type DrawnCode } from '../model/qr-code.ts';
import { toneOf } from '../model/tones.ts';

export interface CodeProps {
  readonly view: ChargeView;
  readonly room: Room;
  /** The code's ink stands for what is dark. */
  readonly isDark: boolean;
}

/** The code in its frame, with its text where there is room for both. */
export function Code({ view, room, isDark }: CodeProps) {
  const text = view.charge ? copyText(view.charge) : '';
  const status = <StatusLine view={view} />;
  if (text === '') return status;
  const textRows = Math.ceil(text.length / room.columns);
  const above = { ...room, rows: room.rows - 1 };
  const beside = drawnCode(text, { ...above, rows: above.rows - textRows - 1 }, isDark);
  const alone = view.isText ? null : drawnCode(text, above, isDark);
  const code = beside ?? alone;
  return (
    <>
      {status}
      {code && <Drawing code={code} />}
      {!alone && !beside && !view.isText && <NoRoom {...{ text, room }} />}
      {(beside !== null || alone === null) && (
        <>
          <Text> </Text>
          <Text wrap="hard">{text}</Text>
        </>
      )}
    </>
  );
}

export interface LonelyCodeProps {
  readonly view: ChargeView;
  readonly keys: readonly string[];
  readonly code: DrawnCode;
}

/** The code on the whole height of the window, with the words beside it. */
export function LonelyCode({ view, keys, code }: LonelyCodeProps) {
  const { columns, rows } = useWindowSize();
  const { live, notice } = view;
  const words = columns - code.columns - 2;
  const notes = notice ? linesOf(notice.text, words - 2, noticeTone(notice)) : [];
  const status = live.status ?? '';
  return (
    <Box width={columns} height={rows}>
      <Drawing code={code} />
      <Box flexDirection="column" width={words} marginLeft={2} flexShrink={0}>
        <Toned bold>{'Ponte › charge'}</Toned>
        <Text> </Text>
        <Toned tone={toneOf(status)} bold>
          {status}
        </Toned>
        <Box flexGrow={1} />
        <NoticeView lines={notes} isBusy={notice?.kind === 'busy'} />
        <LinesView
          lines={[...keys, 'esc back', 'ctrl+c quit'].map((text) => ({ text, tone: 'faint' }))}
        />
      </Box>
    </Box>
  );
}

function StatusLine({ view }: { readonly view: ChargeView }) {
  const { charge, live, isReplay } = view;
  const status = live.status ?? '';
  return (
    <Box gap={2} flexShrink={0}>
      <Toned tone={toneOf(status)} bold>
        {status}
      </Toned>
      <Toned tone="faint">{isReplay ? 'the charge of this key' : charge?.transaction_id}</Toned>
    </Box>
  );
}

/** Black on white, whatever the terminal's own colours are; without colours as it can be. */
function Drawing({ code }: { readonly code: DrawnCode }) {
  const { hasColours } = useDesk();
  const paper = hasColours ? { color: '#000000', backgroundColor: '#ffffff' } : {};
  return (
    <Box flexDirection="column" flexShrink={0}>
      {code.lines.map((line, index) => (
        <Text key={index} {...paper}>
          {line}
        </Text>
      ))}
    </Box>
  );
}

function NoRoom({ text, room }: { readonly text: string; readonly room: Room }) {
  const { columns, rows } = windowForCode(text);
  const words =
    `The QR code needs a window of ${columns}×${rows}: ` +
    'make it larger, or its letters smaller. Or copy this text:';
  return (
    <>
      <Text> </Text>
      <LinesView lines={linesOf(words, room.columns, 'doubtful')} />
    </>
  );
}
