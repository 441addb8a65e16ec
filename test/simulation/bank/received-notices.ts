/** Events of received PIX, in every format that providers of this family use. */
import type { Chance } from '../chance.ts';
import type { PayeeIdentifiers } from './identifiers.ts';
import type { Receipt } from './ledger.ts';
import type { Vocabulary } from './words.ts';

/** The content of an event of a receipt; null: the event omits it. */
interface ReceivedFacts {
  readonly receipt: Receipt;
  /** The identification of the paid charge, as the event writes it. */
  readonly txid: string | null;
  readonly payee: PayeeIdentifiers;
  /** Whether the payer has copied the identification into the code of another payee. */
  readonly isCopied?: true;
}

/** An event on its way to the service. */
export interface ReceivedNotice extends ReceivedFacts {
  readonly payload: Buffer<ArrayBuffer>;
  /** Whether its format and status words are documented: then the service must believe it. */
  readonly isReadable: boolean;
  /** Whether the event does not state the direction of the payment. */
  readonly isUndirected: boolean;
}

interface Shape {
  readonly hasOwnWords: boolean;
  readonly isUndirected: boolean;
  write(facts: ReceivedFacts, vocabulary: Vocabulary): Record<string, unknown>;
}

function partyOf({ key, document, agency, accountNumber }: PayeeIdentifiers) {
  const party = {
    ...(key !== null && { key }),
    ...(document !== null && { document }),
    ...(agency !== null && { agency }),
    ...(accountNumber !== null && { account: accountNumber }),
  };
  return Object.keys(party).length === 0 ? {} : { creditParty: party };
}

const bacen: Shape = {
  hasOwnWords: true,
  isUndirected: true,
  write: ({ receipt, txid, payee }) => ({
    pix: [
      {
        endToEndId: receipt.endToEnd,
        ...(txid !== null && { txid }),
        ...(payee.key !== null && { chave: payee.key }),
        valor: (receipt.amountCents / 100).toFixed(2),
        horario: new Date(receipt.atMs).toISOString(),
        ...partyOf({ ...payee, key: null }),
      },
    ],
  }),
};

const flat: Shape = {
  hasOwnWords: false,
  isUndirected: false,
  write: ({ receipt, txid, payee }, { status }) => ({
    event: 'PIX_PAYMENT_IN',
    id: receipt.bankId,
    endToEnd: receipt.endToEnd,
    ...(txid !== null && { transactionIdentification: txid }),
    amount: receipt.amountCents / 100,
    status: status.completed,
    ...partyOf(payee),
  }),
};

const entity: Shape = {
  hasOwnWords: true,
  isUndirected: false,
  write: ({ receipt, txid, payee }) => ({
    entity: 'pix-payment-in',
    body: {
      id: receipt.bankId,
      endToEndId: receipt.endToEnd,
      ...(txid !== null && { transactionIdentification: txid }),
      amount: receipt.amountCents / 100,
      ...partyOf(payee),
    },
  }),
};

const charge: Shape = {
  hasOwnWords: true,
  isUndirected: false,
  write: ({ receipt, txid, payee }) => ({
    event: txid === null ? 'OPENPIX:TRANSACTION_RECEIVED' : 'OPENPIX:CHARGE_COMPLETED',
    ...(txid !== null && { charge: { correlationID: txid, status: 'COMPLETED' } }),
    pix: { endToEndId: receipt.endToEnd, value: receipt.amountCents },
    ...partyOf(payee),
  }),
};

/** @returns an event as unique bytes. */
export function writeReceivedNotice(
  chance: Chance,
  facts: ReceivedFacts,
  vocabulary: Vocabulary,
): ReceivedNotice {
  const shape = chance.pick([bacen, flat, entity, charge]);
  const event = { ...shape.write(facts, vocabulary), nonce: chance.below(2 ** 31) };
  const json = JSON.stringify(chance.happens(0.2) ? [event] : event);
  return {
    ...facts,
    payload: Buffer.from(json, 'utf8'),
    isReadable: shape.hasOwnWords || vocabulary.isKnown,
    isUndirected: shape.isUndirected,
  };
}
