/** Sends a Pix, with a key that stays until a person makes a new one, and follows the payment. */
import { useEffect, useState } from 'react';
import type { DecodedPixCode, PixKeyOwner, PixStatus } from '../../contract/types.ts';
import { readFaults, type Answer } from '../api.ts';
import { FormScreen } from '../components/form.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useCall } from '../hooks/use-call.ts';
import { keyName, useForm } from '../hooks/use-form.ts';
import type { Press } from '../hooks/use-keys.ts';
import { useLiveStatus } from '../hooks/use-live-status.ts';
import { doubtPayment } from '../state/app-state.ts';
import { formatAmount } from '../state/format.ts';
import { failure, writing } from '../state/notice.ts';
import { noAnswerToSend, sendOutcome, type Known } from '../state/outcomes.ts';
import { factLines, statusColour, wrapLines, type Facts, type Line } from '../state/text.ts';
import { Receipt } from './receipt.tsx';

const formName = 'send';

/** The payee that the service has found for the typed key. */
interface Payee {
  readonly typed: string;
  readonly facts: Facts;
  /** Of a Pix key: the payment uses this look-up. */
  readonly lookupId?: string;
}

export function Send() {
  const { api, state, change } = useApp();
  const { pix_key: key = '', copy_paste: code = '' } = state.drafts[formName]?.values ?? {};
  const typed = code || key;
  const [known, setKnown] = useState<Payee | null>(null);
  const payee = known?.typed === typed ? known : null;
  const [sentKey, setSentKey] = useState('');
  const form = useForm({
    name: formName,
    operation: 'sendPix',
    inputs,
    given: { lookup_id: payee?.lookupId },
    doing: 'Sending',
    warning: noAnswerToSend,
    isPayment: true,
    onAnswer: (_answer, { values }) => setSentKey(String(values[keyName])),
  });
  const check = useCall<unknown>();
  const findPayee = async (signal: AbortSignal): Promise<void> => {
    const answer = await (code
      ? api.call('decodePixCode', { body: { copy_paste: code } }, signal)
      : api.call('lookUpPixKey', { body: { pix_key: key } }, signal));
    form.refuse(readFaults(answer));
    if (answer.status === 200) setKnown({ typed, ...readPayee(answer.body) });
  };
  const answer = form.call.result;
  const sent = answer?.status === 200 ? answer.body : null;
  const live = useLiveStatus(sent);
  useEffect(() => {
    // The answer was lost, but the payment has ended.
    const hasEnded = live.status === 'COMPLETED' || live.status === 'FAILED';
    if (hasEnded) change(doubtPayment(sentKey, false));
  }, [live.status]);
  const reason = useReason(sent?.transaction_id ?? null, live.status);
  const [hasReceipt, showReceipt] = useState(false);
  const onKey = (press: Press): void => {
    if (press.key === 'ctrl+l') check.run(findPayee);
    if (press.key === 'ctrl+r' && sent) showReceipt(true);
  };
  const outcome = (columns: number): Line[] => {
    const isDoubtful = state.doubtful.includes(sentKey);
    if (answer) return outcomeLines(answer, { live: live.status, reason, isDoubtful }, columns);
    return payee ? [{ text: '' }, ...factLines(payee.facts, columns)] : [];
  };
  const isLeft = !answer && state.doubtful.includes(form.state.values[keyName] ?? '');
  const notice =
    form.notice ??
    writing(check, 'Looking the payee up') ??
    live.notice ??
    failure(isLeft && noAnswerToSend);
  const close = (): void => showReceipt(false);
  if (hasReceipt && sent) return <Receipt transactionId={sent.transaction_id} close={close} />;
  const hints = ['ctrl+l check the payee', ...(sent ? ['ctrl+r receipt'] : [])];
  return (
    <FormScreen {...{ title: 'send a Pix', form, button: 'Send', hints, notice, outcome, onKey }} />
  );
}

const inputs = {
  pix_key: { label: 'Pix key', hint: 'CPF, CNPJ, phone, e-mail or random key' },
  copy_paste: { label: 'Or Pix code', hint: 'copia e cola, in place of the Pix key' },
  amount: 'Amount in R$',
};

function readPayee(found: PixKeyOwner | DecodedPixCode): Omit<Payee, 'typed'> {
  if ('lookup_id' in found) {
    const { name = null, document = null, institution = null, lookup_id: lookupId } = found;
    const facts = [
      ['Payee', name],
      ['Document', document],
      ['Institution', institution],
    ] as const;
    return { facts, lookupId };
  }
  const { kind, payee_name: name, payee_city: city, pix_key: key = null, amount } = found;
  const facts = [
    ['Payee', `${name}, ${city}`],
    ['Pix key', kind === 'static' ? key : 'none: a dynamic code cannot be paid here'],
    ['Amount', amount === undefined ? 'chosen by the payer' : formatAmount(amount)],
  ] as const;
  return { facts };
}

/** Reads why a payment has failed, once it has. */
function useReason(id: string | null, status: PixStatus | null): string | undefined {
  const { api } = useApp();
  const call = useCall<string | undefined>();
  useEffect(() => {
    call.clear();
    if (id === null || status !== 'FAILED') return;
    call.run(async (signal) => {
      const path = { transactionId: id };
      const receipt = await api.call('getPixReceipt', { path }, signal);
      return receipt.status === 200 ? receipt.body.failure?.message : undefined;
    });
  }, [id, status]);
  return call.result ?? undefined;
}

function outcomeLines(answer: Answer<'sendPix'>, known: Known, columns: number): Line[] {
  const { colour, text } = sendOutcome(answer, known);
  const { live: status } = known;
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
