/** The receipt of a transaction, in place of the screen that has the transaction. */
import { useState } from 'react';
import type { PixReceipt, PixReceiptParty } from '../../contract/types.ts';
import { readFaults } from '../api.ts';
import { Frame } from '../components/frame.tsx';
import { ScrollView } from '../components/lists.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useCall, useRead } from '../hooks/use-call.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useList } from '../hooks/use-list.ts';
import { formatAmount, formatBank, localTime } from '../state/format.ts';
import { failure, reading, success } from '../state/notice.ts';
import { factLines, statusColour, wrapLines, type Line } from '../state/text.ts';
import { Dispute } from './dispute.tsx';
import { canRefund, Refund } from './refund.tsx';

export interface ReceiptProps {
  readonly transactionId: string;
  /** Leaves the receipt. */
  close(): void;
}

export function Receipt(props: ReceiptProps) {
  const { transactionId } = props;
  const [isDispute, showDispute] = useState(false);
  const [refunded, refund] = useState<PixReceipt | null>(null);
  if (isDispute) return <Dispute {...{ transactionId }} close={() => showDispute(false)} />;
  if (refunded) return <Refund receipt={refunded} close={() => refund(null)} />;
  return <ShownReceipt {...{ ...props, refund }} dispute={() => showDispute(true)} />;
}

interface ShownProps extends ReceiptProps {
  /** Shows the dispute of the payment. */
  dispute(): void;
  /** Shows the return of the received Pix. */
  refund(receipt: PixReceipt): void;
}

function ShownReceipt({ transactionId, close, dispute, refund }: ShownProps) {
  const { api, copy, login, state } = useApp();
  const path = { transactionId };
  const call = useRead((signal) => api.call('getPixReceipt', { path }, signal));
  const list = useList();
  const bank = useCall<string>();
  const response = call.result;
  const receipt = response?.status === 200 ? response.body : null;
  const canBankReturn = login.email !== '' && receipt !== null && isReturnable(receipt);
  const canDispute = receipt !== null && isDisputable(receipt);
  const refundable = receipt && canRefund(state, receipt) ? receipt : null;
  const returnIt = async (signal: AbortSignal): Promise<string> => {
    const said = await api.actAtBank('return', { transaction: transactionId }, signal);
    call.read();
    return said;
  };
  useKeys((press) => {
    if (press.key === 'escape') close();
    else if (press.text === 'y') copy(transactionId);
    else if (press.text === 'r' && !call.isBusy) call.read();
    else if (press.text === 'd' && canDispute) dispute();
    else if (press.text === 'g' && refundable) refund(refundable);
    else if (press.text === 'b' && canBankReturn && !bank.isBusy) bank.run(returnIt);
    else list.press(press);
  });
  const { '': fault } = response ? readFaults(response) : {};
  const lines = (columns: number): Line[] => (receipt ? receiptLines(receipt, columns) : []);
  const shownHints = [
    ...hints,
    ...(canDispute ? [disputeHint] : []),
    ...(refundable ? [refundHint] : []),
    ...(canBankReturn ? [refundable ? bankNotYouHint : bankHint] : []),
  ];
  return (
    <Frame
      {...{ title: 'receipt', hints: shownHints }}
      notice={reading(call) ?? reading(bank) ?? failure(fault) ?? success(bank.result)}
    >
      {(room) => <ScrollView {...{ lines, list, room }} />}
    </Frame>
  );
}

const hints = ['↑↓ scroll', 'y copy the id', 'r refresh'];
const disputeHint = 'd contest this payment';
const refundHint = 'g give it back to the payer';
const bankHint = 'b the bank returns it (simulated bank)';
const bankNotYouHint = 'b the bank, not you, returns it (simulated bank)';

function isDisputable({ type, status }: PixReceipt): boolean {
  return type === 'PIX_SEND' && status === 'COMPLETED';
}

function isReturnable({
  type,
  status,
  amount,
  refunded_amount: refunded = 0,
}: PixReceipt): boolean {
  return status === 'COMPLETED' && !type.startsWith('PIX_REFUND') && refunded < amount;
}

const titles = {
  PIX_SEND: 'Pix payment',
  PIX_CHARGE: 'Pix charge',
  PIX_RECEIVED: 'Pix received',
  PIX_REFUND_IN: 'Pix refund to you',
  PIX_REFUND_OUT: 'Pix refund to the payer',
} as const;

const noProof: Readonly<Record<PixReceipt['status'], string>> = {
  COMPLETED: '',
  PROCESSING: 'The outcome is not known yet: this is no proof of a payment.',
  FAILED: 'The transaction has failed: this is no proof of a payment.',
};

function receiptLines(receipt: PixReceipt, columns: number): Line[] {
  const { type, status, amount, payer = {}, payee = {}, failure: reason } = receipt;
  const { refunded_amount: refunded } = receipt;
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ['created', localTime(receipt.created_at)],
    ['settled', receipt.settled_at && localTime(receipt.settled_at)],
    ['corrected', receipt.corrected_at && `${localTime(receipt.corrected_at)}: it had failed`],
    ['overruled', receipt.overruled_at && `${localTime(receipt.overruled_at)}: it was not paid`],
    ['paid again by', receipt.paid_again_by],
    ['expires', receipt.expires_at && localTime(receipt.expires_at)],
    ['refunded', refunded === undefined ? undefined : formatAmount(refunded)],
    ['description', receipt.description],
    ...partyFacts('payer', payer),
    ...partyFacts('payee', payee),
    ['reason', reason && `${reason.message} (${reason.code})`],
    ['end-to-end id', receipt.end_to_end],
    ['return id', receipt.return_id],
    ['original', receipt.original_transaction_id],
    ['transaction', receipt.transaction_id],
    ['issued', localTime(receipt.issued_at)],
  ];
  const known = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return [
    { text: `${titles[type]}: ${formatAmount(amount)}`, colour: 'strong' },
    { text: status, colour: statusColour(status) },
    ...wrapLines(noProof[status], columns),
    { text: '' },
    ...factLines(known, columns),
  ];
}

function partyFacts(role: string, { name, document, bank, key }: PixReceiptParty) {
  return [
    [role, name],
    [`${role}'s document`, document],
    [`${role}'s bank`, bank && formatBank(bank)],
    [`${role}'s key`, key],
  ] as const;
}
