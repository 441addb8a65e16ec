/** Returns a received Pix to its payer, in place of its receipt, and follows the return. */
import { useEffect } from 'react';
import type { PixReceipt } from '../../contract/types.ts';
import { FormScreen } from '../components/form.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useRead } from '../hooks/use-call.ts';
import { keyName, useForm } from '../hooks/use-form.ts';
import { viewOrder } from '../state/order-view.ts';
import { forgetForms, ordersInDoubt, type AppState } from '../state/app-state.ts';
import { formatAmount } from '../state/format.ts';
import { refundReasons } from '../state/outcomes.ts';

/** Only what was received, and is not returned in whole; the service says for how long. */
export function canRefund(state: AppState, receipt: PixReceipt): boolean {
  const { type, status, amount, refunded_amount: refunded = 0 } = receipt;
  const isReceived = type === 'PIX_RECEIVED' || type === 'PIX_CHARGE';
  if (isReceived && status === 'COMPLETED' && refunded < amount) return true;
  // Its own key shows how a return in doubt has ended.
  return ordersInDoubt(state).some(({ form }) => form === formName(receipt));
}

function formName({ transaction_id: id }: PixReceipt): string {
  return `refund ${id}`;
}

export interface RefundProps {
  readonly receipt: PixReceipt;
  /** Leaves the return. */
  close(): void;
}

export function Refund({ receipt, close }: RefundProps) {
  const { api, state, change } = useApp();
  const { transaction_id: transactionId, amount, refunded_amount: refunded = 0 } = receipt;
  const name = formName(receipt);
  const intro = useUnderWay(transactionId);
  const form = useForm({
    name,
    operation: 'refundPix',
    inputs,
    given: { transactionId },
    doing: 'Returning',
    order: {
      kind: 'refund',
      cancel: (key, signal) =>
        api.call('cancelRefund', { path: { transactionId }, headers: { [keyName]: key } }, signal),
    },
    ask(values) {
      const question = `Return ${formatAmount(Number(values['amount']))} to the payer?`;
      return intro === '' ? question : `${intro} ${question}`;
    },
  });
  const order = viewOrder('refund', form);
  useEffect(() => {
    if (state.drafts[name]) return;
    form.fillIn(() => ({ amount: (amount - refunded).toFixed(2).replace('.', ',') }));
  }, []);
  const leave = (): void => {
    // The next return of this Pix takes a new key, and what is left then.
    if (order.isOver) change(forgetForms(name));
    close();
  };
  const title = 'receipt › return this Pix';
  const notice = form.notice ?? order.notice;
  const { outcome } = order;
  const shown = { title, form, intro, notice, ...(outcome && { outcome }), close: leave };
  return <FormScreen {...shown} button="Return" />;
}

/** @returns how much is being returned as the screen opens: a console that was quit forgets it. */
function useUnderWay(transactionId: string): string {
  const { api } = useApp();
  const query = { type: 'PIX_REFUND_OUT', status: 'PROCESSING' } as const;
  const { result } = useRead((signal) => api.call('listPixTransactions', { query }, signal));
  const items = result?.status === 200 ? result.body.items : [];
  const open = items.filter(({ original_transaction_id: id }) => id === transactionId);
  const sum = open.reduce((total, { amount }) => total + amount, 0);
  return sum === 0 ? '' : `${formatAmount(sum)} of it is on its way back already.`;
}

const inputs = {
  amount: 'Amount in R$',
  reason: {
    label: 'Reason',
    hint: '← → to choose; the receipt of the return shows it',
    choices: refundReasons,
  },
};
