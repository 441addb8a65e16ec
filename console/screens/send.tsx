/** Sends a Pix, with a key that stays until a person makes a new one, and follows the payment. */
import { useEffect, useState } from 'react';
import type { PixStatus } from '../../contract/types.ts';
import { readFaults, type OperationResponse } from '../api.ts';
import { FormScreen } from '../components/form.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useCall } from '../hooks/use-call.ts';
import { keyName, useForm } from '../hooks/use-form.ts';
import type { Press } from '../hooks/use-keys.ts';
import { useLiveStatus } from '../hooks/use-live-status.ts';
import { usePayee } from '../hooks/use-payee.ts';
import { doubtPayment } from '../state/app-state.ts';
import { isSubmit } from '../state/form.ts';
import { failure } from '../state/notice.ts';
import { noResponseToSend, sendOutcome, slowSend, type Known } from '../state/outcomes.ts';
import { factLines, statusColour, wrapLines, type Facts, type Line } from '../state/text.ts';
import { Receipt } from './receipt.tsx';

const formName = 'send';

export function Send() {
  const { state, change } = useApp();
  const { pix_key: key = '', copy_paste: code = '' } = state.drafts[formName]?.values ?? {};
  const payees = usePayee({ key, code });
  const { payee } = payees;
  const [sentKey, setSentKey] = useState('');
  const form = useForm({
    name: formName,
    operation: 'sendPix',
    inputs,
    given: { lookup_id: payee?.lookupId },
    doing: 'Sending',
    slow: slowSend,
    warning: noResponseToSend,
    isPayment: true,
    onResponse(response, { values }) {
      setSentKey(String(values[keyName]));
      if (readFaults(response)['lookup_id'] !== undefined) payees.forget();
    },
  });
  const { refuse } = form;
  const setKey = (pixKey: string): void => form.fillIn(() => ({ pix_key: pixKey }));
  const checkPayee = (isHeld = false): void => payees.check({ key, code, setKey, refuse }, isHeld);
  const press = (pressed: Press): boolean => {
    if (payees.press(pressed)) return true;
    const isSent = isSubmit(form.state, pressed) && !form.call.isBusy;
    if (!isSent || !payees.isUndecided) return form.press(pressed);
    checkPayee(true);
    return true;
  };
  const response = form.call.result;
  const sent = response?.status === 200 ? response.body : null;
  const live = useLiveStatus(sent);
  useEffect(() => {
    // The response was lost, but the payment has ended.
    const hasEnded = live.status === 'COMPLETED' || live.status === 'FAILED';
    if (hasEnded) change(doubtPayment(sentKey, false));
  }, [live.status]);
  const reason = useReason(sent?.transaction_id ?? null, live.status);
  const [hasReceipt, showReceipt] = useState(false);
  const onKey = (pressed: Press): void => {
    if (pressed.key === 'ctrl+l') checkPayee();
    if (pressed.key === 'ctrl+r' && sent) showReceipt(true);
  };
  const outcome = (columns: number): Line[] => {
    const isDoubtful = state.doubtful.includes(sentKey);
    if (response) return outcomeLines(response, { live: live.status, reason, isDoubtful }, columns);
    return payee ? [{ text: '' }, ...factLines(payee.facts, columns)] : [];
  };
  const isLeft = !response && state.doubtful.includes(form.state.values[keyName] ?? '');
  const notice =
    form.notice ??
    payees.notice ??
    live.notice ??
    (response ? null : payees.held) ??
    failure(isLeft && noResponseToSend);
  const close = (): void => showReceipt(false);
  if (hasReceipt && sent) return <Receipt transactionId={sent.transaction_id} close={close} />;
  const hints = ['ctrl+l check the payee', ...(sent ? ['ctrl+r receipt'] : [])];
  const shown = { form: { ...form, press }, hints, notice, outcome, onKey };
  return <FormScreen {...shown} title="send a Pix" button="Send" />;
}

const inputs = {
  pix_key: { label: 'Pix key', hint: 'CPF, CNPJ, phone, e-mail or random key' },
  copy_paste: { label: 'Or Pix code', hint: 'copia e cola, in place of the Pix key' },
  amount: 'Amount in R$',
};

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

function outcomeLines(
  response: OperationResponse<'sendPix'>,
  known: Known,
  columns: number,
): Line[] {
  const { colour, text } = sendOutcome(response, known);
  const { live: status } = known;
  const isReplay = response.headers.get('idempotency-replayed') === 'true';
  const ids: Facts =
    response.status !== 200
      ? []
      : [
          ['Transaction', response.body.transaction_id],
          ['End-to-end id', response.body.end_to_end ?? null],
        ];
  return [
    { text: '' },
    ...(status === null ? [] : [{ text: status, colour: statusColour(status) }]),
    ...wrapLines(text, columns, colour),
    ...(isReplay ? [{ text: 'This key was used before: nothing was paid again.' }] : []),
    ...factLines(ids, columns),
  ];
}
