/** Events that are not true: they contradict what is final, or belong to no payment. */
import type { PixTransactionRow } from '../../src/pix/pix-transaction-repository.ts';
import { centsFromDecimal } from '../../src/domain/money.ts';
import { writeNotice, type EventFacts } from './bank/notices.ts';
import { knownVocabularies } from './bank/words.ts';
import type { Oracle } from './oracle/oracle.ts';
import type { Scheduler } from './scheduler.ts';
import type { FaultProfile } from './fault-profile.ts';
import { hashOf } from './payload-hash.ts';
import type { Webhooks } from './webhooks.ts';

export interface ForgedEventsOptions {
  readonly oracle: Oracle;
  readonly webhooks: Webhooks;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
}

/** So many in one history; each is looked at again and again, which costs time. */
const mostMismatches = 3;

const foreignEndToEnd = 'E99999999202605241200foreign0001';
const foreignKey = 'a key that nobody uses';

export class ForgedEvents {
  /** The hashes of all that was told: none of it may move anything. */
  readonly told = new Set<string>();
  readonly #options: ForgedEventsOptions;
  #mismatches = 0;

  constructor(options: ForgedEventsOptions) {
    this.#options = options;
  }

  /** A transaction is final: the opposite is told of it, which can come only too late. */
  contradict(row: PixTransactionRow): void {
    const { scheduler, profile } = this.#options;
    const { contradictions, failovers } = profile();
    // A failover may take the end back: what is told of it then would be believed, and rightly.
    if (row.operation !== 'SEND' || failovers > 0) return;
    if (!scheduler.chance.happens(contradictions)) return;
    this.#tell('contradiction', {
      status: row.status === 'COMPLETED' ? 'failed' : 'completed',
      endToEnd: row.end_to_end,
      clientRequestId: row.idempotency_key,
      amountCents: centsFromDecimal(row.amount),
    });
  }

  /** Tells an end of some payment of which an id or the amount is not right. */
  mismatch(): void {
    const { oracle, scheduler, profile } = this.#options;
    const { chance } = scheduler;
    if (this.#mismatches === mostMismatches || !chance.happens(profile().mismatches)) return;
    const [wish] = chance.shuffled(oracle.wishes());
    if (!wish) return;
    this.#mismatches += 1;
    const { key: clientRequestId, endToEnd, amountCents } = wish;
    const right = { endToEnd, clientRequestId, amountCents };
    const wrong: Partial<EventFacts> = chance.pick<Partial<EventFacts>>([
      { amountCents: amountCents + 5 },
      { amountCents: amountCents - 5, clientRequestId: null },
      // Twice, because it can do harm only before a payment has left.
      { endToEnd: foreignEndToEnd },
      { endToEnd: foreignEndToEnd },
      { clientRequestId: foreignKey },
      { endToEnd: foreignEndToEnd, clientRequestId: foreignKey },
    ]);
    const facts = { ...right, ...wrong, status: chance.pick(['completed', 'failed'] as const) };
    this.#tell(`mismatch of ${Object.keys(wrong).join(' and ')}`, facts);
  }

  #tell(word: string, facts: EventFacts): void {
    const { scheduler, webhooks } = this.#options;
    const vocabulary = scheduler.chance.pick(knownVocabularies);
    const { payload } = writeNotice(scheduler.chance, facts, vocabulary);
    this.told.add(hashOf(payload));
    webhooks.send(payload, `${word}, ${facts.status}`);
  }
}
