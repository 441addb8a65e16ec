/**
 * Events of disputes that must move nothing: one contradicts a final status, the ids of another are
 * of two payments.
 */
import { writeDisputeEvent, type DisputeIds } from './bank/dispute-notices.ts';
import type { DisputeState, Ledger } from './bank/ledger.ts';
import type { DisputeRow } from './oracle/stored-disputes.ts';
import { isFinal } from './oracle/stored-disputes.ts';
import type { Scheduler } from './scheduler.ts';
import type { FaultProfile } from './fault-profile.ts';
import type { Webhooks } from './webhooks.ts';

export interface ForgedDisputesOptions {
  readonly ledger: Ledger;
  readonly webhooks: Webhooks;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
}

const states = ['OPEN', 'ACCEPTED', 'REJECTED', 'WITHDRAWN'] as const;

export class ForgedDisputes {
  readonly #options: ForgedDisputesOptions;

  constructor(options: ForgedDisputesOptions) {
    this.#options = options;
  }

  /** A dispute is stored with another status than before. */
  moved({ id, status, end_to_end: endToEnd }: DisputeRow): void {
    const { scheduler, profile, ledger } = this.#options;
    const { chance } = scheduler;
    const { contradictions, mismatches, failovers } = profile();
    // After a failover the dispute may be open again: the service would have to believe the event.
    if (isFinal(status) && failovers === 0 && chance.happens(contradictions)) {
      const [other] = chance.shuffled(states.filter((one) => one !== status));
      if (other) this.#send('contradicts a dispute', { disputeId: id, endToEnd }, other);
    }
    const [payment] = chance.shuffled(ledger.payments.filter((one) => one.endToEnd !== endToEnd));
    if (payment && mismatches > 0 && chance.happens(0.5)) {
      const ids = { disputeId: id, endToEnd: payment.endToEnd };
      this.#send('ids of two payments', ids, chance.pick([...states]));
    }
  }

  #send(summary: string, ids: DisputeIds, state: DisputeState): void {
    const { scheduler, webhooks } = this.#options;
    scheduler.count(`events of disputes: ${summary}`);
    webhooks.send(writeDisputeEvent(scheduler.chance, ids, state), `${summary}, ${state}`);
  }
}
