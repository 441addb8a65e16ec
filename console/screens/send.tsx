/** Sends a PIX, with a key that stays until a person makes a new one, and follows the payment. */
import type { PixStatus } from '../../contract/types.ts';
import type { Answer } from '../api.ts';
import { FormScreen } from '../components/form.tsx';
import { useForm } from '../hooks/use-form.ts';
import { useLiveStatus } from '../hooks/use-live-status.ts';
import { noAnswerToSend, sendOutcome } from '../state/outcomes.ts';
import { factLines, statusColour, wrapLines, type Facts, type Line } from '../state/text.ts';

export function Send() {
  const form = useForm({
    ...{
      name: 'send',
      operation: 'sendPix',
      inputs: {
        pix_key: 'PIX key',
        copy_paste: { label: 'Or Pix code', hint: 'copia e cola, in place of the PIX key' },
        amount: 'Amount in R$',
      },
    },
    ...{ doing: 'Sending', warning: noAnswerToSend },
  });
  const answer = form.call.result;
  const live = useLiveStatus(answer?.status === 200 ? answer.body : null);
  const outcome = (columns: number): Line[] =>
    answer ? outcomeLines(answer, live.status, columns) : [];
  const notice = form.notice ?? live.notice;
  return <FormScreen {...{ title: 'send a PIX', form, button: 'Send', notice, outcome }} />;
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
