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

/** The payee in one format: the name of each identifier that the event has. */
type Party = Readonly<Record<string, unknown>>;

/** @returns a member with the identifiers of the payee; none when there are none. */
function member(name: string, party: Party): Party {
  const named = Object.entries(party).filter(([, value]) => value !== null);
  return named.length === 0 ? {} : { [name]: Object.fromEntries(named) };
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
        ...member('recebedor', {
          cpf: payee.document,
          agencia: payee.agency,
          conta: payee.accountNumber,
        }),
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
    ...member('creditParty', {
      key: payee.key,
      document: payee.document,
      agency: payee.agency,
      account: payee.accountNumber,
    }),
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
      ...member('creditParty', {
        key: payee.key,
        taxId: payee.document,
        branch: payee.agency,
        account: payee.accountNumber,
      }),
    },
  }),
};

const charge: Shape = {
  hasOwnWords: true,
  isUndirected: false,
  write: ({ receipt, txid, payee }) => ({
    event: txid === null ? 'OPENPIX:TRANSACTION_RECEIVED' : 'OPENPIX:CHARGE_COMPLETED',
    ...(txid !== null && { charge: { correlationID: txid, status: 'COMPLETED' } }),
    pix: {
      endToEndId: receipt.endToEnd,
      value: receipt.amountCents,
      ...member('creditParty', {
        ...member('pixKey', { pixKey: payee.key }),
        ...member('holder', member('taxID', { taxID: payee.document })),
        ...member('account', { branch: payee.agency, account: payee.accountNumber }),
      }),
    },
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
