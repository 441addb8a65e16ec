/** Events of disputes, in the declared shape and with any of the ids that name a dispute. */
import type { Chance } from '../chance.ts';
import type { Dispute, DisputeState } from './ledger.ts';

/** An event on its way to the service. */
export interface DisputeNotice {
  readonly payload: Buffer<ArrayBuffer>;
  readonly dispute: Dispute;
  /** The state of the dispute when the bank has written the event. */
  readonly status: DisputeState;
}

/** The ids by which an event names a dispute; null: the event omits it. */
export interface DisputeIds {
  readonly disputeId: string | null;
  readonly endToEnd: string | null;
}

/** @returns an event of a dispute as unique bytes. */
export function writeDisputeNotice(
  chance: Chance,
  dispute: Dispute,
  status: DisputeState,
): DisputeNotice {
  return { dispute, status, payload: writeDisputeEvent(chance, drawIds(chance, dispute), status) };
}

/** @returns an event with these ids, whether or not they are of one dispute, as unique bytes. */
export function writeDisputeEvent(
  chance: Chance,
  { disputeId, endToEnd }: DisputeIds,
  status: DisputeState,
): Buffer<ArrayBuffer> {
  const name = chance.pick(['endToEnd', 'endToEndId']);
  const event = {
    event: 'PIX_DISPUTE',
    ...(disputeId !== null && { disputeId }),
    ...(endToEnd !== null && { [name]: endToEnd }),
    status,
    nonce: chance.below(2 ** 31),
  };
  return Buffer.from(JSON.stringify(chance.happens(0.2) ? [event] : event), 'utf8');
}

/** A dispute of another channel has no id of the service. */
function drawIds(chance: Chance, { disputeId, endToEnd }: Dispute): DisputeIds {
  if (disputeId === null) return { disputeId, endToEnd };
  return chance.pick<DisputeIds>([
    { disputeId, endToEnd },
    { disputeId, endToEnd: null },
    { disputeId: null, endToEnd },
  ]);
}
