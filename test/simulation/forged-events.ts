/** False events: they contradict a final payment, or match no payment. */
import type { ProcessedRow } from '../../src/ledger/pix-transaction-repository.ts';
import { centsFromDecimal } from '../../src/domain/money.ts';
import { writeNotice, type EventFacts } from './bank/notices.ts';
import { knownVocabularies } from './bank/words.ts';
import type { Oracle } from './oracle/oracle.ts';
import type { Scheduler } from './scheduler.ts';
import type { FaultProfile } from './fault-profile.ts';
import { computeHash } from './payload-hash.ts';
import type { Webhooks } from './webhooks.ts';

export interface ForgedEventsOptions {
  readonly oracle: Oracle;
  readonly webhooks: Webhooks;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
}

/** The most in one history: the service processes each many times. */
const maxMismatches = 3;

const foreignEndToEnd = 'E99999999202605241200foreign0001';
const foreignKey = 'a key that nobody uses';

export class ForgedEvents {
  /** The hashes of the forged events: none of them may move a transaction. */
  readonly sent = new Set<string>();
  readonly #options: ForgedEventsOptions;
  #mismatches = 0;

  constructor(options: ForgedEventsOptions) {
    this.#options = options;
  }

  /**
   * A transaction is final: posts an event with the opposite status, which is too late. One that
   * says that a failed payment was made does not name its end-to-end id: it would be proof.
   */
  contradict(row: ProcessedRow): void {
    const { scheduler, profile } = this.#options;
    const { contradictions, failovers } = profile();
    // After a failover the payment may be open again: the service would have to believe the event.
    if (row.operation !== 'SEND' || failovers > 0) return;
    if (!scheduler.chance.happens(contradictions) || this.#isAmbiguous(row)) return;
    this.send('contradiction', {
      status: row.status === 'COMPLETED' ? 'failed' : 'completed',
      endToEnd: row.status === 'COMPLETED' ? row.endToEnd : null,
      clientRequestId: row.idempotencyKey,
      amountCents: centsFromDecimal(row.amount),
    });
  }

  /** Without an end-to-end id, the event would be true of another payment with the same key. */
  #isAmbiguous({ status, idempotencyKey: key, amount }: ProcessedRow): boolean {
    if (status === 'COMPLETED') return false;
    const amountCents = centsFromDecimal(amount);
    const requests = this.#options.oracle.requests();
    return requests.filter((one) => one.key === key && one.amountCents === amountCents).length > 1;
  }

  /** Posts a final status of a payment with a wrong id or amount. */
  mismatch(): void {
    const { oracle, scheduler, profile } = this.#options;
    const { chance } = scheduler;
    if (this.#mismatches === maxMismatches || !chance.happens(profile().mismatches)) return;
    const [request] = chance.shuffled(oracle.requests());
    if (!request) return;
    this.#mismatches += 1;
    const { key: clientRequestId, endToEnd, amountCents } = request;
    const right = { endToEnd, clientRequestId, amountCents };
    const wrong: Partial<EventFacts> = chance.pick<Partial<EventFacts>>([
      { amountCents: amountCents + 5 },
      { amountCents: amountCents - 5, clientRequestId: null },
      // Listed twice, because it has an effect only before a payment has left.
      { endToEnd: foreignEndToEnd },
      { endToEnd: foreignEndToEnd },
      { clientRequestId: foreignKey },
      { endToEnd: foreignEndToEnd, clientRequestId: foreignKey },
    ]);
    const facts = { ...right, ...wrong, status: chance.pick(['completed', 'failed'] as const) };
    this.send(`mismatch of ${Object.keys(wrong).join(' and ')}`, facts);
  }

  /** Posts a false event. */
  send(summary: string, facts: EventFacts): void {
    this.#options.webhooks.send(this.#forge(facts), `${summary}, ${facts.status}`);
  }

  /** Posts a false event and waits for its only delivery, whether or not that succeeds. */
  sendOnce(summary: string, facts: EventFacts): Promise<void> {
    return this.#options.webhooks.sendOnce(this.#forge(facts), `${summary}, ${facts.status}`);
  }

  #forge(facts: EventFacts): Buffer<ArrayBuffer> {
    const { chance } = this.#options.scheduler;
    const { payload } = writeNotice(chance, facts, chance.pick(knownVocabularies));
    this.sent.add(computeHash(payload));
    return payload;
  }
}
