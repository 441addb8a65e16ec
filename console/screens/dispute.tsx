/** The dispute of a payment, in place of its receipt: its status, the form, and the withdrawal. */
import { useState } from 'react';
import type { DisputeSituation, PixDispute } from '../../contract/types.ts';
import { readFaults, type OperationResponse } from '../api.ts';
import { Lines } from '../components/coloured.tsx';
import { FormScreen } from '../components/form.tsx';
import { Frame } from '../components/frame.tsx';
import { useApp } from '../hooks/use-app.ts';
import { useCall, useRead } from '../hooks/use-call.ts';
import { useForm } from '../hooks/use-form.ts';
import { useKeys } from '../hooks/use-keys.ts';
import { useQuestion } from '../hooks/use-question.ts';
import { forgetForms } from '../state/app-state.ts';
import { formatAmount, localTime } from '../state/format.ts';
import { failure, reading, success, writing } from '../state/notice.ts';
import { factLines, type Line } from '../state/text.ts';

const situations = {
  SCAM: 'deceived into sending it',
  ACCOUNT_TAKEOVER: 'someone else has sent it',
  COERCION: 'forced to send it',
  FRAUDULENT_ACCESS: 'someone had access to my device or password',
  OTHER: 'another fraud',
} as const satisfies Record<DisputeSituation, string>;

export interface DisputeProps {
  readonly transactionId: string;
  /** Leaves the dispute. */
  close(): void;
}

export function Dispute({ transactionId, close }: DisputeProps) {
  const [isOpening, setOpening] = useState(false);
  const [said, setSaid] = useState('');
  const show = (text: string): void => {
    setSaid(text);
    setOpening(false);
  };
  if (isOpening) return <OpenDispute {...{ transactionId }} close={show} />;
  return <ShownDispute {...{ transactionId, close, said }} open={() => setOpening(true)} />;
}

interface ShownProps extends DisputeProps {
  /** The last change. */
  readonly said: string;
  open(): void;
}

function ShownDispute({ transactionId, close, said, open }: ShownProps) {
  const { api } = useApp();
  const path = { transactionId };
  const call = useRead((signal) => api.call('getDispute', { path }, signal));
  const withdrawal = useCall<OperationResponse<'withdrawDispute'>>();
  const question = useQuestion();
  const response = call.result;
  const dispute = response?.status === 200 ? response.body : null;
  const canOpen = response?.status === 404 || dispute?.status === 'REFUSED';
  const canWithdraw = dispute?.status === 'OPEN';
  const withdraw = (): void =>
    withdrawal.run(async (signal) => {
      const answered = await api.call('withdrawDispute', { path }, signal);
      call.read();
      return answered;
    });
  useKeys((press) => {
    if (question.press(press)) return undefined;
    if (press.key === 'escape') return withdrawal.isBusy ? withdrawal.cancel() : close();
    if (withdrawal.isBusy || call.isBusy) return undefined;
    if (press.text === 'r') return call.read();
    if (press.text === 'c' && canOpen) return open();
    if (press.text === 'w' && canWithdraw) return question.ask('Withdraw the dispute?', withdraw);
    return undefined;
  });
  const isFault = response?.status !== 404;
  const { '': fault } = response && isFault ? readFaults(response) : {};
  const { '': refusal } = withdrawal.result ? readFaults(withdrawal.result) : {};
  const hints = [
    'r refresh',
    ...(canOpen ? ['c contest this payment'] : []),
    ...(canWithdraw ? ['w withdraw'] : []),
  ];
  const notice =
    question.notice ??
    writing(withdrawal, 'Withdrawing') ??
    reading(call) ??
    failure(fault ?? refusal) ??
    success(said);
  return (
    <Frame title="receipt › dispute" {...{ hints, notice }}>
      {(room) => <Lines lines={disputeLines(dispute, response?.status === 404, room.columns)} />}
    </Frame>
  );
}

function disputeLines(
  dispute: PixDispute | null,
  isNone: boolean,
  columns: number,
): readonly Line[] {
  if (dispute === null) return isNone ? [{ text: 'The payment is not contested.' }] : [];
  const { status, situation, refunded_amount: refunded } = dispute;
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ['situation', situation === undefined ? 'opened at another channel' : situations[situation]],
    ['requested', localTime(dispute.requested_at)],
    ['opened', dispute.opened_at && localTime(dispute.opened_at)],
    [
      'withdrawal requested',
      dispute.withdrawal_requested_at && localTime(dispute.withdrawal_requested_at),
    ],
    ['ended', dispute.ended_at && localTime(dispute.ended_at)],
    ['returned so far', refunded === undefined ? undefined : formatAmount(refunded)],
  ];
  const known = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return [{ text: `Dispute: ${status}`, colour: 'strong' }, ...factLines(known, columns)];
}

interface OpenProps {
  readonly transactionId: string;
  close(said: string): void;
}

function OpenDispute({ transactionId, close }: OpenProps) {
  const { change } = useApp();
  const name = `dispute ${transactionId}`;
  const form = useForm({
    name,
    operation: 'openDispute',
    given: { transactionId },
    inputs: {
      situation: { label: 'What happened', choices: situations },
      details: { label: 'Details', hint: 'for the bank' },
    },
    onResponse(response) {
      if (response.status !== 200) return;
      change(forgetForms(name));
      close('The bank is asked to return the money.');
    },
  });
  const leave = (): void => close('');
  const title = 'receipt › contest this payment';
  return <FormScreen {...{ title, form, button: 'Contest', close: leave }} />;
}
