/** Charging: the form, and then the code that a phone scans. */
import { Box, Text } from 'ink';
import { FormView } from '../components/form-view.tsx';
import { Frame, type Room } from '../components/frame.tsx';
import { LinesView } from '../components/lines-view.tsx';
import { Toned } from '../components/toned.tsx';
import { useDesk } from '../desk-context.ts';
import { formKeys } from '../model/foot.ts';
import { linesOf, type Line } from '../model/lines.ts';
import { useCharge, type ChargeView } from '../listen/use-charge.ts';
import { amountOf, money } from '../model/money.ts';
import { chargeOutcome } from '../model/outcomes.ts';
import { codeSize, drawnCode, type DrawnCode } from '../model/qr-code.ts';
import { toneOf } from '../model/tones.ts';

export function Charge() {
  const view = useCharge();
  const { form, charge, notice } = view;
  const { hasColours } = useDesk();
  const amount = amountOf(form.state.values['amount'] ?? '');
  const button = amount === null ? 'Charge' : `Charge ${money(amount)}`;
  const codeKeys = [...(hasColours ? [] : ['i light or dark terminal']), 't code or text'];
  const keys = charge ? codeKeys : [...formKeys('charge'), 'ctrl+n new key'];
  return (
    <Frame title="charge" keys={keys} notice={notice}>
      {(room) => {
        if (charge) return <Code {...{ view, room }} />;
        const lines = outcomeLines(view, room);
        return (
          <>
            <FormView {...{ form, button }} room={{ ...room, rows: room.rows - lines.length }} />
            <Box flexGrow={1} />
            <LinesView lines={lines} />
          </>
        );
      }}
    </Frame>
  );
}

/** What became of a charge that has no code to show. */
function outcomeLines({ answer }: ChargeView, { columns }: Room): Line[] {
  if (!answer) return [];
  const { tone, text } = chargeOutcome(answer);
  return [{ text: '' }, ...linesOf(text, columns, tone)];
}

interface CodeProps {
  readonly view: ChargeView;
  readonly room: Room;
}

/** The copy-and-paste text of a charge, wherever the provider has put it. */
function textOf({ charge }: ChargeView): string {
  const { copy_paste: text, qr_code: code = '' } = charge ?? {};
  return text ?? (code.startsWith('000201') ? code : '');
}

function Code({ view, room }: CodeProps) {
  const { hasColours } = useDesk();
  const text = textOf(view);
  const status = <StatusLine view={view} />;
  if (text === '') return status;
  const textRows = Math.ceil(text.length / room.columns);
  const above = { ...room, rows: room.rows - 1 };
  const isDark = hasColours || view.isInverted;
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

/** What is around the code: the head, the status, the notice and the keys. */
const otherRows = 7;

function NoRoom({ text, room }: { readonly text: string; readonly room: Room }) {
  const { columns, rows } = codeSize(text);
  const words =
    `The QR code needs a window of ${columns + 2}×${rows + otherRows}: ` +
    'make it larger, or its letters smaller. Or copy this text:';
  return (
    <>
      <Text> </Text>
      <LinesView lines={linesOf(words, room.columns, 'doubtful')} />
    </>
  );
}
