/** Events of refunds and of charges that have expired. */
import type { Chance } from '../chance.ts';
import type { Charge, Refund } from './ledger.ts';
import { entityWords, getReturnWord, type Vocabulary } from './words.ts';

/** An event on its way to the service. */
interface LaterNotice {
  readonly payload: Buffer<ArrayBuffer>;
  /** Whether its format and status words are documented: then the service must believe it. */
  readonly isReadable: boolean;
}

export interface RefundNotice extends LaterNotice {
  readonly refund: Refund;
}

export interface ExpiryNotice extends LaterNotice {
  readonly charge: Charge;
}

interface Shape<Facts> {
  readonly hasOwnWords: boolean;
  write(facts: Facts, vocabulary: Vocabulary): Record<string, unknown>;
}

const flat: Shape<Refund> = {
  hasOwnWords: false,
  write: ({ direction, endToEnd, returnId, amountCents }, { status }) => ({
    event: direction === 'in' ? 'PIX_REFUND_IN' : 'PIX_REFUND_OUT',
    endToEnd,
    returnId,
    amount: amountCents / 100,
    status: status.completed,
  }),
};

const entity: Shape<Refund> = {
  hasOwnWords: true,
  write: ({ direction, endToEnd, returnId, amountCents }) => ({
    entity: `pix-reversal-${direction}`,
    status: entityWords.completed,
    body: { endToEndId: endToEnd, returnIdentification: returnId, amount: amountCents / 100 },
  }),
};

const objects: Shape<Refund> = {
  hasOwnWords: true,
  write: ({ direction, endToEnd, returnId, amountCents }) => ({
    event: `PIX_TRANSACTION_REFUND_${direction === 'in' ? 'RECEIVED' : 'SENT'}_CONFIRMED`,
    refundTransaction: { endToEndId: returnId, value: amountCents, status: 'CONFIRMED' },
    originalTransaction: { endToEndId: endToEnd, value: amountCents + 100 },
  }),
};

/** @returns an event of a refund as unique bytes. */
export function writeRefundNotice(
  chance: Chance,
  refund: Refund,
  vocabulary: Vocabulary,
): RefundNotice {
  return { refund, ...write(chance, chance.pick([flat, entity, objects]), { refund, vocabulary }) };
}

function write(
  chance: Chance,
  shape: Shape<Refund>,
  { refund, vocabulary }: { readonly refund: Refund; readonly vocabulary: Vocabulary },
): LaterNotice {
  const isReadable = shape.hasOwnWords || vocabulary.isKnown;
  return { payload: toBytes(chance, shape.write(refund, vocabulary)), isReadable };
}

/** @returns an event of a return that has failed, as unique bytes. */
export function writeReturnFailure(
  chance: Chance,
  refund: Refund,
  vocabulary: Vocabulary,
): RefundNotice {
  const { endToEnd, returnId, amountCents } = refund;
  const event = {
    event: 'PIX_REFUND_OUT',
    endToEnd,
    returnId,
    amount: amountCents / 100,
    status: getReturnWord(vocabulary, 'failed'),
    error: { code: 'AC06' },
  };
  return { refund, payload: toBytes(chance, event), isReadable: vocabulary.isKnown };
}

/** @returns an event of a charge that has expired, as unique bytes. */
export function writeExpiryNotice(chance: Chance, charge: Charge): ExpiryNotice {
  const { txid, amountCents } = charge;
  const event = chance.pick<Record<string, unknown>>([
    {
      event: 'OPENPIX:CHARGE_EXPIRED',
      charge: { value: amountCents, status: 'EXPIRED', correlationID: txid },
    },
    { event: 'CHARGE', txid, status: 'EXPIRADA', amount: amountCents / 100 },
  ]);
  return { charge, payload: toBytes(chance, event), isReadable: true };
}

function toBytes(chance: Chance, event: Record<string, unknown>): Buffer<ArrayBuffer> {
  const whole = { ...event, nonce: chance.below(2 ** 31) };
  return Buffer.from(JSON.stringify(chance.happens(0.2) ? [whole] : whole), 'utf8');
}
