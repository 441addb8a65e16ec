/** A payment or a return that a form has sent: it is followed until its end is known. */
import { useEffect } from 'react';
import type { PixRefund, PixStatus, PixTransaction } from '../../contract/types.ts';
import { readSendResponse } from '../../contract/client/send-response.ts';
import type { OperationResponse } from '../api.ts';
import { endDoubt, isDoubtful } from '../state/app-state.ts';
import { failure, type Notice } from '../state/notice.ts';
import { orderOutcome, orderTexts, type Known, type OrderKind } from '../state/outcomes.ts';
import { factLines, statusColour, wrapLines, type Facts, type Line } from '../state/text.ts';
import { useApp } from './use-app.ts';
import { useCall } from './use-call.ts';
import { keyName, type Form } from './use-form.ts';
import { useLiveStatus } from './use-live-status.ts';

export interface OrderOptions {
  readonly kind: OrderKind;
  /** The name of the form. */
  readonly name: string;
  readonly form: Pick<Form<'sendPix'> | Form<'refundPix'>, 'call' | 'sentKey' | 'state'>;
}

export interface Order {
  /** Its transaction; null before a response has named it. */
  readonly transactionId: string | null;
  /** Whether nothing more happens under its key. */
  readonly isOver: boolean;
  /** A lost connection, or a doubt that was left on the screen before. */
  readonly notice: Notice | null;
  /** Its status and what to do next; empty before the response. */
  outcome(columns: number): Line[];
}

export function useOrder({ kind, name, form }: OrderOptions): Order {
  const { state, change } = useApp();
  const { sentKey } = form;
  const response = form.call.result;
  const made = response?.status === 200 ? response.body : null;
  const live = useLiveStatus(made);
  const { status } = live;
  const hasEnded = status === 'COMPLETED' || status === 'FAILED';
  useEffect(() => {
    // The response was lost, but the order has ended.
    if (hasEnded) change(endDoubt({ form: name, key: sentKey }));
  }, [status]);
  const transactionId = made?.transaction_id ?? null;
  const reason = useReason(transactionId, status);
  const key = form.state.values[keyName] ?? '';
  const isLeft = !response && isDoubtful(state, { form: name, key });
  const known = {
    live: status,
    reason,
    isDoubtful: isDoubtful(state, { form: name, key: sentKey }),
  };
  return {
    transactionId,
    isOver: hasEnded || (response !== null && readSendResponse(response).step === 'not_paid'),
    notice: live.notice ?? failure(isLeft && orderTexts[kind].noResponse),
    outcome: (columns) => (response ? outcomeLines({ kind, response, known }, columns) : []),
  };
}

/** Reads why an order has failed, once it has. */
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

interface Answered {
  readonly kind: OrderKind;
  readonly response: OperationResponse<'sendPix'> | OperationResponse<'refundPix'>;
  readonly known: Known;
}

function outcomeLines({ kind, response, known }: Answered, columns: number): Line[] {
  const { colour, text } = orderOutcome(kind, response, known);
  const { live: status } = known;
  const isReplay = response.headers.get('idempotency-replayed') === 'true';
  return [
    { text: '' },
    ...(status === null ? [] : [{ text: status, colour: statusColour(status) }]),
    ...wrapLines(text, columns, colour),
    ...wrapLines(isReplay ? orderTexts[kind].replayed : '', columns),
    ...factLines(response.status === 200 ? idFacts(kind, response.body) : [], columns),
  ];
}

function idFacts(kind: OrderKind, made: PixTransaction | PixRefund): Facts {
  const { transaction_id: id, end_to_end: endToEnd, return_id: returnId }: AnyOrder = made;
  return [
    ['Transaction', id ?? null],
    kind === 'send' ? ['End-to-end id', endToEnd ?? null] : ['Return id', returnId ?? null],
  ];
}

type AnyOrder = Partial<PixTransaction & PixRefund>;
