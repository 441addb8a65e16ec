/** Sending a PIX: what is typed, how it ended, and what to do next. */
import { FormWithLines } from '../components/form-with-lines.tsx';
import { Frame, type Room } from '../components/frame.tsx';
import { formKeys } from '../model/foot.ts';
import { factLines, linesOf, type Line } from '../model/lines.ts';
import { useSend, type SendView } from '../listen/use-send.ts';
import { amountOf, money } from '../model/money.ts';
import { sendOutcome } from '../model/outcomes.ts';
import { toneOf } from '../model/tones.ts';

export function Send() {
  const view = useSend();
  const { form, notice } = view;
  const amount = amountOf(form.state.values['amount'] ?? '');
  const button = amount === null ? 'Send' : `Send ${money(amount)}`;
  return (
    <Frame title="send a PIX" keys={[...formKeys('send'), 'ctrl+n new key']} notice={notice}>
      {(room) => <FormWithLines {...{ form, button, room }} lines={outcomeLines(view, room)} />}
    </Frame>
  );
}

function outcomeLines({ answer, live }: SendView, { columns }: Room): Line[] {
  if (!answer) return [];
  const { tone, text } = sendOutcome(answer, live.status);
  const sent = answer.status === 200 ? answer.body : null;
  const isReplay = answer.headers.get('idempotency-replayed') === 'true';
  return [
    { text: '' },
    ...(live.status === null ? [] : [{ text: live.status, tone: toneOf(live.status) }]),
    ...linesOf(text, columns, tone),
    ...(isReplay ? [{ text: 'This key was used before: nothing was paid again.' }] : []),
    ...factLines(
      sent
        ? [
            ['Transaction', sent.transaction_id],
            ['End-to-end id', sent.end_to_end ?? null],
          ]
        : [],
      columns,
    ),
  ];
}
