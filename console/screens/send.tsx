/** Sends a Pix, with a key that stays until a person makes a new one, and follows the payment. */
import { useState } from 'react';
import { readFaults } from '../api.ts';
import { FormScreen } from '../components/form.tsx';
import { useApp } from '../hooks/use-app.ts';
import { keyName, useForm } from '../hooks/use-form.ts';
import type { Press } from '../hooks/use-keys.ts';
import { viewOrder } from '../state/order-view.ts';
import { usePayee } from '../hooks/use-payee.ts';
import { isSubmit } from '../state/form.ts';
import { factLines, type Line } from '../state/text.ts';
import { Receipt } from './receipt.tsx';

const formName = 'send';

export function Send() {
  const { api, state } = useApp();
  const { pix_key: key = '', copy_paste: code = '' } = state.drafts[formName]?.values ?? {};
  const payees = usePayee({ key, code });
  const { payee } = payees;
  const form = useForm({
    name: formName,
    operation: 'sendPix',
    inputs,
    given: { lookup_id: payee?.lookupId },
    doing: 'Sending',
    order: {
      kind: 'send',
      cancel: (sent, signal) => api.call('cancelPix', { headers: { [keyName]: sent } }, signal),
    },
    onResponse(response) {
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
  const order = viewOrder('send', form);
  const { transactionId } = order;
  const [hasReceipt, showReceipt] = useState(false);
  const onKey = (pressed: Press): void => {
    if (pressed.key === 'ctrl+l') checkPayee();
    if (pressed.key === 'ctrl+r' && transactionId !== null) showReceipt(true);
  };
  const found = form.isNew ? payee : null;
  const outcome = (columns: number): Line[] => [
    ...(order.outcome?.(columns) ?? []),
    ...(found ? [{ text: '' }, ...factLines(found.facts, columns)] : []),
  ];
  const held = form.isNew ? payees.held : null;
  const notice = form.notice ?? payees.notice ?? held ?? order.notice;
  const close = (): void => showReceipt(false);
  if (hasReceipt && transactionId !== null) return <Receipt {...{ transactionId, close }} />;
  const hints = ['ctrl+l check the payee', ...(transactionId === null ? [] : ['ctrl+r receipt'])];
  const shown = { form: { ...form, press }, hints, notice, outcome, onKey };
  return <FormScreen {...shown} title="send a Pix" button="Send" />;
}

const inputs = {
  pix_key: { label: 'Pix key', hint: 'CPF, CNPJ, phone, e-mail or random key' },
  copy_paste: { label: 'Or Pix code', hint: 'copia e cola, in place of the Pix key' },
  amount: 'Amount in R$',
};
