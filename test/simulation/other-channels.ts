/**
 * Events of payments that other people and other channels have made with a client id that one of
 * our payments has, too: before it, for another user, or as another payment of the provider. They
 * name the payment by that id alone, and none of them may move it.
 */
import type { ProcessedRow } from '../../src/ledger/pix-transaction-repository.ts';
import { centsFromDecimal } from '../../src/domain/money.ts';
import type { EventFacts } from './bank/notices.ts';
import type { ForgedEvents } from './forged-events.ts';
import type { Oracle } from './oracle/oracle.ts';
import type { Scheduler } from './scheduler.ts';
import type { FaultProfile } from './fault-profile.ts';

export interface OtherChannelsOptions {
  readonly oracle: Oracle;
  readonly forgedEvents: ForgedEvents;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  /** How likely an event of another channel names a payment. */
  readonly likelihood: number;
}

/** How likely an event of another user arrives in a step, as a factor of the likelihood. */
const perStep = 0.01;

/** The most events of other users in one history. */
const maxOfOthers = 3;

const statuses = ['completed', 'failed'] as const;

export class OtherChannels {
  readonly #options: OtherChannelsOptions;
  readonly #accepted = new Set<string>();
  #ofOthers = 0;

  constructor(options: OtherChannelsOptions) {
    this.#options = options;
  }

  /** The app is about to send a payment under a new key, which another channel has used before. */
  async before({ key, amountCents }: { key: string; amountCents: number }): Promise<void> {
    const { forgedEvents, scheduler, profile, likelihood } = this.#options;
    // With a wrong clock the event would not be older for certain.
    const { clockSkewMs, clockJumps } = profile();
    if (clockSkewMs + clockJumps > 0 || !scheduler.chance.happens(likelihood)) return;
    scheduler.count('events older than their payment');
    const status = scheduler.chance.pick(statuses);
    await forgedEvents.sendOnce('an event of an older payment', {
      status,
      endToEnd: null,
      clientRequestId: key,
      amountCents,
    });
  }

  /** The provider has accepted a payment: another one of it with the same client id fails. */
  observed({ id, operation, phase, ...row }: ProcessedRow): void {
    const { forgedEvents, scheduler, profile, likelihood } = this.#options;
    if (operation !== 'SEND' || phase !== 'ACCEPTED') return;
    // A failover may lose the acceptance: the service would have to believe the event.
    if (this.#accepted.has(id) || profile().failovers > 0) return;
    this.#accepted.add(id);
    if (!scheduler.chance.happens(likelihood)) return;
    scheduler.count('failures of another payment of the provider');
    forgedEvents.send('another payment of the provider', {
      status: 'failed',
      endToEnd: null,
      clientRequestId: row.idempotencyKey,
      amountCents: centsFromDecimal(row.amount),
      bankId: `bank-other-${row.idempotencyKey}`,
    });
  }

  /** A step is about to run: a payment of another user with the same client id may end. */
  strike(): void {
    const { forgedEvents, oracle, scheduler, likelihood } = this.#options;
    const { chance } = scheduler;
    if (this.#ofOthers === maxOfOthers || !chance.happens(likelihood * perStep)) return;
    const [request] = chance.shuffled(oracle.requests());
    if (!request) return;
    this.#ofOthers += 1;
    scheduler.count("events of another user's payment");
    const amounts: readonly [EventFacts['amountCents'], EventFacts['amountCents']] = [
      null,
      request.amountCents + 700,
    ];
    forgedEvents.send("another user's payment", {
      status: chance.pick(statuses),
      endToEnd: null,
      clientRequestId: request.key,
      amountCents: chance.pick([...amounts]),
    });
  }
}
