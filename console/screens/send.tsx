/** Sends a PIX, with a key that stays until a person makes a new one, and follows the payment. */
import { useState } from 'react';
import type { PixStatus } from '../../contract/types.ts';
import type { Answer } from '../api.ts';
import { FormScreen } from '../components/form.tsx';
import { useForm } from '../hooks/use-form.ts';
import type { Press } from '../hooks/use-keys.ts';
import { useLiveStatus } from '../hooks/use-live-status.ts';
import { noAnswerToSend, sendOutcome } from '../state/outcomes.ts';
import { factLines, statusColour, wrapLines, type Facts, type Line } from '../state/text.ts';
import { Receipt } from './receipt.tsx';

export function Send() {
  const form = useForm({
    ...{
      name: 'send',
      operation: 'sendPix',
      inputs: { pix_key: 'PIX key', amount: 'Amount in R$' },
    },
    ...{ doing: 'Sending', warning: noAnswerToSend },
  });
  const answer = form.call.result;
  const sent = answer?.status === 200 ? answer.body : null;
  const live = useLiveStatus(sent);
  const [hasReceipt, showReceipt] = useState(false);
  const outcome = (columns: number): Line[] =>
    answer ? outcomeLines(answer, live.status, columns) : [];
  const notice = form.notice ?? live.notice;
  const close = (): void => showReceipt(false);
  if (hasReceipt && sent) return <Receipt transactionId={sent.transaction_id} close={close} />;
  const receipt = {
    hints: ['ctrl+r receipt'],
    onKey({ key }: Press): void {
      if (key === 'ctrl+r') showReceipt(true);
    },
  };
  return (
    <FormScreen
      {...{ title: 'send a PIX', form, button: 'Send', notice, outcome, ...(sent && receipt) }}
    />
  );
}

type Status = PixStatus | null;

function outcomeLines(answer: Answer<'sendPix'>, status: Status, columns: number): Line[] {
  const { colour, text } = sendOutcome(answer, status);
  const isReplay = answer.headers.get('idempotency-replayed') === 'true';
  const ids: Facts =
    answer.status !== 200
      ? []
      : [
          ['Transaction', answer.body.transaction_id],
          ['End-to-end id', answer.body.end_to_end ?? null],
        ];
  return [
    { text: '' },
    ...(status === null ? [] : [{ text: status, colour: statusColour(status) }]),
    ...wrapLines(text, columns, colour),
    ...(isReplay ? [{ text: 'This key was used before: nothing was paid again.' }] : []),
    ...factLines(ids, columns),
  ];
}
