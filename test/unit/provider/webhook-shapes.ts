import type { WebhookItem } from '../../../src/provider/webhook-events.ts';

export const endToEnd = 'E11165756202605241530aB3dE5gH7jK';
export const txid = 'Q7w8E9r0T1y2U3i4O5p6A7s8D9';
export const noPayee = { key: null, document: null, agency: null, accountNumber: null };

/** An event of a payment that went through, as the tests expect it unless they say otherwise. */
export function expected(changes: Partial<WebhookItem>): WebhookItem {
  return {
    index: 0,
    name: 'PIX_PAYMENT',
    shape: 'ponte/payment',
    kind: 'payment',
    status: 'COMPLETED',
    ids: ids({ endToEnd }),
    amountCents: 1050,
    payee: noPayee,
    reason: null,
    ignoredBecause: null,
    word: null,
    ...changes,
  };
}

export function ids(known: Partial<WebhookItem['ids']>): WebhookItem['ids'] {
  const none = {
    endToEnd: null,
    clientRequestId: null,
    transactionIdentification: null,
    providerTxid: null,
  };
  return { ...none, ...known };
}

/** A flat item of a payment, with changes. */
export function flat(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { event: 'PIX_PAYMENT', endToEnd, status: 'CONFIRMED', amount: 10.5, ...changes };
}

/** An item that says two things under two spellings of a name. */
export function twice(name: string, one: unknown, other: unknown) {
  return { ...flat(), [name]: one, [name.toUpperCase()]: other };
}

export const shapes: readonly { title: string; payload: unknown; event: WebhookItem }[] = [
  {
    title: 'entity and body, confirmed',
    payload: {
      entity: 'pix-payment-out',
      createTimestamp: '2026-05-24T15:30:00',
      status: 'CONFIRMED',
      body: { id: '7f3c', amount: 10.5, clientCode: 'key-1', endToEndId: endToEnd },
    },
    event: expected({
      shape: 'celcoin/payment out',
      name: 'pix-payment-out',
      ids: ids({ endToEnd, clientRequestId: 'key-1', providerTxid: '7f3c' }),
    }),
  },
  {
    title: 'entity and body, with an error',
    payload: {
      entity: 'pix-payment-out',
      status: 'ERROR',
      body: {
        amount: 10.5,
        endToEndId: endToEnd,
        error: { code: 'BE17', description: 'QR Code recusado por Fulano de Tal' },
      },
    },
    event: expected({
      shape: 'celcoin/payment out',
      name: 'pix-payment-out',
      status: 'FAILED',
      reason: 'BE17',
    }),
  },
  {
    title: 'RequestBody of a payment',
    payload: {
      RequestBody: {
        TransactionType: 'PAYMENT',
        ClientCode: 'key-1',
        EndToEndId: endToEnd,
        TransactionId: 12345,
        Amount: 10.5,
        StatusCode: { StatusId: 2, Description: 'Confirmado' },
      },
    },
    event: expected({
      shape: 'celcoin/RequestBody payment',
      name: 'PAYMENT',
      ids: ids({ endToEnd, clientRequestId: 'key-1', providerTxid: '12345' }),
    }),
  },
  {
    title: 'RequestBody of a received PIX, with the party that it is for',
    payload: {
      RequestBody: {
        TransactionType: 'RECEIVEPIX',
        EndToEndId: endToEnd,
        transactionIdentification: txid,
        Amount: '10.50',
        DebitParty: { TaxId: '52998224725', Account: '999' },
        CreditParty: {
          TaxId: '111.444.777-35',
          Branch: '0001',
          Account: '12345-6',
          Key: 'ana@ponte.test',
        },
        StatusCode: { StatusId: 2, Description: 'CONFIRMED' },
      },
    },
    event: expected({
      shape: 'celcoin/RequestBody received',
      name: 'RECEIVEPIX',
      kind: 'received',
      ids: ids({ endToEnd, transactionIdentification: txid }),
      payee: {
        key: 'ana@ponte.test',
        document: '11144477735',
        agency: '0001',
        accountNumber: '123456',
      },
    }),
  },
  {
    title: 'event with payment and transaction, in centavos',
    payload: {
      event: 'OPENPIX:MOVEMENT_CONFIRMED',
      payment: { value: 1050, status: 'APPROVED', correlationID: 'key-1' },
      transaction: { endToEndId: endToEnd },
    },
    event: expected({
      shape: 'woovi/movement',
      name: 'OPENPIX:MOVEMENT_CONFIRMED',
      ids: ids({ endToEnd, clientRequestId: 'key-1' }),
    }),
  },
  {
    title: 'event of a movement that failed',
    payload: {
      event: 'OPENPIX:MOVEMENT_FAILED',
      payment: { value: 1050, status: 'FAILED', correlationID: 'key-1' },
    },
    event: expected({
      shape: 'woovi/movement',
      name: 'OPENPIX:MOVEMENT_FAILED',
      status: 'FAILED',
      ids: ids({ clientRequestId: 'key-1' }),
    }),
  },
  {
    title: 'event of a charge that was paid, known by its correlation id',
    payload: {
      event: 'OPENPIX:CHARGE_COMPLETED',
      payment: { value: 1050, correlationID: txid },
      transaction: { endToEndId: endToEnd },
    },
    event: expected({
      shape: 'woovi/charge by its payment',
      name: 'OPENPIX:CHARGE_COMPLETED',
      kind: 'received',
      ids: ids({ endToEnd, transactionIdentification: txid }),
    }),
  },
  {
    title: 'event of a transaction received',
    payload: { event: 'TRANSACTION_RECEIVED', transaction: { endToEndId: endToEnd, value: 1050 } },
    event: expected({
      shape: 'woovi/received transaction',
      name: 'TRANSACTION_RECEIVED',
      kind: 'received',
    }),
  },
  {
    title: "BACEN's list of received PIX",
    payload: {
      pix: [
        {
          endToEndId: endToEnd,
          txid,
          chave: 'ana@ponte.test',
          valor: '10.50',
          horario: '2026-05-24T15:31:02.000Z',
        },
      ],
    },
    event: expected({
      shape: 'bacen/received',
      name: 'received',
      kind: 'received',
      isUndirected: true,
      at: new Date('2026-05-24T15:31:02.000Z'),
      ids: ids({ endToEnd, transactionIdentification: txid }),
      payee: { ...noPayee, key: 'ana@ponte.test' },
    }),
  },
  {
    title: 'event of a transaction received, with pix and charge in centavos',
    payload: {
      event: 'OPENPIX:TRANSACTION_RECEIVED',
      pix: {
        value: 1050,
        endToEndId: endToEnd,
        type: 'PAYMENT',
        charge: { value: 1050, correlationID: txid, status: 'COMPLETED' },
      },
    },
    event: expected({
      shape: 'woovi/received',
      name: 'OPENPIX:TRANSACTION_RECEIVED',
      kind: 'received',
      ids: ids({ endToEnd, transactionIdentification: txid }),
    }),
  },
  {
    title: 'flat, of type pix',
    payload: {
      id: 'p-1',
      amount: 10.5,
      status: 'SUCCESS',
      endToEndId: endToEnd,
      type: 'pix',
      createdAt: '2026-05-24',
    },
    event: expected({
      shape: 'ponte/payment by type',
      name: 'pix',
      ids: ids({ endToEnd, providerTxid: 'p-1' }),
    }),
  },
  {
    title: 'flat, with an event word',
    payload: flat({ clientRequestId: 'key-1' }),
    event: expected({ ids: ids({ endToEnd, clientRequestId: 'key-1' }) }),
  },
  {
    title: 'flat, without any word, of a charge',
    payload: { transactionIdentification: txid, status: 'PAID', amount: 10.5 },
    event: expected({
      shape: 'ponte/charge without a word',
      name: 'charge without a word',
      kind: 'received',
      ids: ids({ transactionIdentification: txid }),
    }),
  },
];
