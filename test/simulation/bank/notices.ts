/** Events of payments, in every format that providers of this family use. */
import type { Chance } from '../chance.ts';
import { entityWords, statusIds, type StatusMeaning, type Vocabulary } from './words.ts';

/** The content of an event; null: the event omits it. */
export interface EventFacts {
  readonly status: Exclude<StatusMeaning, 'under_way'>;
  readonly endToEnd: string | null;
  readonly clientRequestId: string | null;
  readonly amountCents: number | null;
  /** The bank's own id of the payment. */
  readonly bankId?: string;
  /** Why it failed. */
  readonly error?: { readonly code: string; readonly description?: string };
}

/** An event on its way to the service. */
export interface Notice extends EventFacts {
  readonly payload: Buffer<ArrayBuffer>;
  /** Whether its format and status words are documented: then the service must believe it. */
  readonly isReadable: boolean;
}

interface Shape {
  /** Whether the format defines its own status words. */
  readonly hasOwnWords: boolean;
  write(facts: EventFacts, vocabulary: Vocabulary): Record<string, unknown>;
}

const failed = { code: 'AB03' } as const;

function reais(amountCents: number | null): number | null {
  return amountCents === null ? null : amountCents / 100;
}

const flat: Shape = {
  hasOwnWords: false,
  write: (
    { status, endToEnd, clientRequestId, amountCents, bankId, error },
    { status: words },
  ) => ({
    event: 'PIX_PAYMENT_OUT',
    id: bankId,
    endToEnd,
    clientRequestId,
    status: words[status],
    amount: reais(amountCents),
    ...(status === 'failed' && { reason: (error ?? failed).code, message: error?.description }),
  }),
};

const entity: Shape = {
  hasOwnWords: true,
  write: ({ status, endToEnd, clientRequestId, amountCents, bankId, error }) => ({
    entity: 'pix-payment-out',
    status: entityWords[status],
    body: {
      id: bankId,
      endToEndId: endToEnd,
      clientCode: clientRequestId,
      amount: reais(amountCents),
      ...(status === 'failed' && { error: error ?? failed }),
    },
  }),
};

const requestBody: Shape = {
  hasOwnWords: true,
  write: ({ status, endToEnd, clientRequestId, amountCents, error }) => ({
    RequestBody: {
      TransactionType: 'PAYMENT',
      ClientCode: clientRequestId,
      EndToEndId: endToEnd,
      Amount: reais(amountCents),
      StatusCode: {
        StatusId: statusIds[status],
        Description: status === 'completed' ? 'CONFIRMED' : 'ERROR',
      },
      ...(status === 'failed' && { Error: { Code: (error ?? failed).code } }),
    },
  }),
};

const movement: Shape = {
  hasOwnWords: true,
  write: ({ status, endToEnd, clientRequestId, amountCents, error }) => ({
    event: status === 'completed' ? 'OPENPIX:MOVEMENT_CONFIRMED' : 'OPENPIX:MOVEMENT_FAILED',
    payment: { value: amountCents, correlationID: clientRequestId },
    transaction: { endToEndId: endToEnd },
    ...(error && { error }),
  }),
};

/** @returns an event as unique bytes. */
export function writeNotice(chance: Chance, facts: EventFacts, vocabulary: Vocabulary): Notice {
  // An event that another payment shares our client id with has to say so by its own id.
  const isByBankId = facts.endToEnd === null && facts.bankId !== undefined;
  const shape = isByBankId
    ? chance.pick([flat, entity])
    : chance.pick([flat, entity, requestBody, movement]);
  const event = {
    ...shape.write(facts, vocabulary),
    nonce: chance.below(2 ** 31),
  };
  const json = JSON.stringify(chance.happens(0.2) ? [event] : event);
  return {
    ...facts,
    payload: Buffer.from(json, 'utf8'),
    isReadable: shape.hasOwnWords || vocabulary.isKnown,
  };
}
