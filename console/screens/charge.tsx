/** Charges: the form, and then on the whole window the code that a phone scans. */
import { Box, Text, useWindowSize } from 'ink';
import { useState } from 'react';
import type { Charge as Made } from '../../contract/types.ts';
import { Lines } from '../components/coloured.tsx';
import { FormScreen } from '../components/form.tsx';
import { NoticeView, useCopied } from '../components/frame.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useCall } from '../hooks/use-call.ts';
import { useForm } from '../hooks/use-form.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useLiveStatus, type LiveStatus } from '../hooks/use-live-status.ts';
import { formatAmount, localTime, parseAmount } from '../state/format.ts';
import { chargeOutcome, noResponseToCharge, slowCharge } from '../state/outcomes.ts';
import { anotherKey } from '../state/order-view.ts';
import { copyText, drawCode, type DrawnCode } from '../state/qr-code.ts';
import { joinHints, statusColour, wrapLines, type Line, type Room } from '../state/text.ts';

export function Charge() {
  const form = useForm({
    name: 'charge',
    operation: 'createCharge',
    doing: 'Charging',
    slow: slowCharge,
    warning: noResponseToCharge,
    inputs,
  });
  const response = form.call.result;
  const charge = response?.status === 200 ? response.body : null;
  const live = useLiveStatus(charge);
  if (charge && live.status !== 'FAILED') {
    const isReplay = response?.headers.get('idempotency-replayed') === 'true';
    const amount = parseAmount(form.state.values['amount'] ?? '');
    return <ChargeCode {...{ charge, amount, isReplay, live, close: form.call.clear }} />;
  }
  const outcome = (columns: number): Line[] => {
    if (!response) return [];
    const { colour, text } = chargeOutcome(response, anotherKey);
    return [{ text: '' }, ...wrapLines(text, columns, colour)];
  };
  return <FormScreen {...{ title: 'charge', form, button: 'Charge', outcome }} />;
}

const inputs = {
  type: { choices: { dynamic: 'dynamic: it expires', static: 'static: it does not expire' } },
  amount: 'Amount in R$',
  zipcode: 'CEP',
  expiration_qr: 'Expires after',
  payer_cpf: "Payer's CPF or CNPJ",
  code_category: 'Category code',
};

interface ChargeCodeProps {
  readonly charge: Made;
  readonly amount: number | null;
  readonly isReplay: boolean;
  readonly live: LiveStatus;
  close(): void;
}

/** The words beside a code need this many columns, or this many rows below it. */
const wordsRoom: Room = { columns: 27, rows: 8 };

function ChargeCode(props: ChargeCodeProps) {
  const { hasColours } = useApp();
  const { columns, rows } = useWindowSize();
  const [isText, setText] = useState(false);
  // Without colours the ink may be dark or light.
  const [isDark, setDark] = useState(hasColours);
  const { api, copy } = useApp();
  const payment = useCall<string>();
  useKeys(({ key, text }) => {
    if (key === 'escape') props.close();
    if (text === 'y') copy(copyText(props.charge));
    if (text === 'b' && props.live.status === 'PROCESSING' && !payment.isBusy) {
      const values = { code: copyText(props.charge) };
      payment.run((signal) => api.actAtBank('pay-charge', values, signal));
    }
    if (text === 't') setText(!isText);
    if (text === 'i' && !hasColours) setDark(!isDark);
  });
  const text = isText ? '' : copyText(props.charge);
  const beside = drawCode(text, { columns: columns - wordsRoom.columns, rows }, isDark);
  const code = beside ?? drawCode(text, { columns, rows: rows - wordsRoom.rows }, isDark);
  // Black on white, whatever the colours of the terminal are.
  const paper = hasColours ? { color: '#000000', backgroundColor: '#ffffff' } : {};
  const room = {
    columns: columns - (beside ? beside.columns : 0) - 2,
    rows: rows - (code && !beside ? code.lines.length : 0),
  };
  return (
    <Box width={columns} height={rows} flexDirection={beside ? 'row' : 'column'}>
      <Box flexDirection="column" flexShrink={0}>
        {code?.lines.map((line, index) => (
          <Text key={index} {...paper}>
            {line}
          </Text>
        ))}
      </Box>
      <Words {...{ ...props, room, code, isText }} said={payment.result ?? payment.failure} />
    </Box>
  );
}

interface WordsProps extends ChargeCodeProps {
  readonly room: Room;
  readonly code: DrawnCode | null;
  readonly isText: boolean;
  /** The response of the simulated bank. */
  readonly said: string | null;
}

/** All but the code; its text too, where there is room for both. */
function Words({ charge, amount, isReplay, live, room, code, isText, said }: WordsProps) {
  const { hasColours, login } = useApp();
  const notice = useCopied() ?? live.notice;
  const status = live.status ?? '';
  const text = copyText(charge);
  const expiry = status === 'PROCESSING' && charge.expires_at;
  const head: Line[] = [
    { text: 'Ponte › charge', colour: 'strong' },
    ...(amount === null ? [] : [{ text: formatAmount(amount) }]),
    { text: status, colour: statusColour(status) },
    ...wrapLines(expiry ? `expires ${localTime(expiry)}` : '', room.columns),
    ...wrapLines(isReplay ? 'the charge of this key' : '', room.columns, 'faint'),
    ...wrapLines(said ?? '', room.columns),
  ];
  const hints = [
    ...(hasColours ? [] : ['i light or dark terminal']),
    't code or text',
    'y copy the text',
    // Only a service in development has the simulated bank's other side.
    ...(login.email !== '' && status === 'PROCESSING' ? ['b pay it (simulated bank)'] : []),
    'esc back',
  ];
  const hintLines = joinHints(hints, room.columns);
  const isRoomy =
    head.length + Math.ceil(text.length / room.columns) + hintLines.length + 4 <= room.rows;
  return (
    <Box flexDirection="column" width={room.columns} height={room.rows} marginLeft={1}>
      <Lines lines={head} />
      {code === null && !isText && <Lines lines={wrapLines(noRoom, room.columns, 'doubtful')} />}
      {(code === null || isRoomy) && <Text wrap="hard">{text}</Text>}
      <Box flexGrow={1} />
      <NoticeView notice={notice} columns={room.columns} />
      <Lines lines={hintLines.map((hint) => ({ text: hint, colour: 'faint' }))} />
    </Box>
  );
}

const noRoom = 'For the QR code make the window larger, or its letters smaller. Or copy this text:';
