/** Events as the bank posts them, in every shape that providers of this family use. */
import type { Chance } from './chance.ts';

/** What an event tells; what is null is left out. */
export interface EventFacts {
  readonly status: 'COMPLETED' | 'FAILED';
  readonly endToEnd: string | null;
  readonly clientRequestId: string | null;
  readonly amountCents: number | null;
}

type Shape = (facts: EventFacts) => Record<string, unknown>;

function reais(amountCents: number | null): number | null {
  return amountCents === null ? null : amountCents / 100;
}

const flat: Shape = ({ status, endToEnd, clientRequestId, amountCents }) => ({
  event: 'PIX_PAYMENT_OUT',
  endToEnd,
  clientRequestId,
  status: status === 'COMPLETED' ? 'CONFIRMED' : 'ERROR',
  amount: reais(amountCents),
});

const entity: Shape = ({ status, endToEnd, clientRequestId, amountCents }) => ({
  entity: 'pix-payment-out',
  status: status === 'COMPLETED' ? 'CONFIRMED' : 'ERROR',
  body: {
    endToEndId: endToEnd,
    clientCode: clientRequestId,
    amount: reais(amountCents),
    ...(status === 'FAILED' && { error: { code: 'AB03' } }),
  },
});

const requestBody: Shape = ({ status, endToEnd, clientRequestId, amountCents }) => ({
  RequestBody: {
    TransactionType: 'PAYMENT',
    ClientCode: clientRequestId,
    EndToEndId: endToEnd,
    Amount: reais(amountCents),
    StatusCode: { StatusId: status === 'COMPLETED' ? 2 : 3 },
  },
});

const movement: Shape = ({ status, endToEnd, clientRequestId, amountCents }) => ({
  event: status === 'COMPLETED' ? 'BANK:MOVEMENT_CONFIRMED' : 'BANK:MOVEMENT_FAILED',
  payment: { value: amountCents, correlationID: clientRequestId },
  transaction: { endToEndId: endToEnd },
});

/** @returns an event as bytes that no other event has. */
export function writeEvent(chance: Chance, facts: EventFacts): Buffer<ArrayBuffer> {
  const shape = chance.pick([flat, entity, requestBody, movement])(facts);
  const event = { ...shape, createdAt: `nonce ${chance.below(2 ** 31)}` };
  return Buffer.from(JSON.stringify(chance.happens(0.2) ? [event] : event), 'utf8');
}

/** Reads what a notice of the simulated bank tells. */
export function readNotice(payload: Buffer): EventFacts & { readonly endToEnd: string } {
  const notice = JSON.parse(payload.toString('utf8')) as {
    status: string;
    endToEnd: string;
    clientRequestId: string;
    amount: number;
  };
  return {
    status: notice.status === 'CONFIRMED' ? 'COMPLETED' : 'FAILED',
    endToEnd: notice.endToEnd,
    clientRequestId: notice.clientRequestId,
    amountCents: Math.round(notice.amount * 100),
  };
}
