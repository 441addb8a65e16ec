/**
 * A PIX key that is carried from one customer's account to another one's. Both list it: the list
 * that is newer counts.
 */
import type { Collections } from './bank/collections.ts';
import type { Directory } from './bank/directory.ts';
import { portableKeyOwners } from './bank/listed-key.ts';
import type { Client } from './clients.ts';
import type { FaultProfile } from './fault-profile.ts';
import type { Owner, Scheduler } from './scheduler.ts';

export interface KeyCarrierOptions {
  readonly directory: Directory;
  readonly collections: Collections;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  /** How likely the key is carried. */
  readonly likelihood: number;
}

const pauseMs = 20_000;
const maxTries = 6;
const amountCents = 4_321;

export class KeyCarrier {
  readonly #options: KeyCarrierOptions;
  readonly #owner: Owner = { name: 'key' };
  isDone = false;

  constructor(options: KeyCarrierOptions) {
    this.#options = options;
  }

  /** Carries the key, in some histories, if both customers have the app. */
  async run(clients: readonly Client[]): Promise<void> {
    await this.#carry(clients);
    this.isDone = true;
  }

  async #carry(clients: readonly Client[]): Promise<void> {
    const { directory, collections, scheduler, profile, likelihood } = this.#options;
    const [first, second] = portableKeyOwners.map((name) =>
      clients.find(({ customer }) => customer.name === name),
    );
    // Which list is newer is certain only without lost commits.
    if (!first || !second || profile().failovers > 0) return;
    if (!scheduler.chance.happens(likelihood)) return;
    const timesAsked = await this.#list(first);
    if (timesAsked === null) return;
    directory.carryOver();
    if ((await this.#list(second)) === null) return;
    // A list that failed may still be stored. If that happens during the list of the second
    // account, neither account has the key until the next list.
    if (timesAsked > 1 && (await this.#list(second)) === null) return;
    scheduler.count('keys carried to another account');
    collections.payByPortableKey(amountCents);
  }

  /** @returns how often the app has asked for the list; null: it has not received it. */
  async #list(client: Client): Promise<number | null> {
    for (let timesAsked = 1; timesAsked <= maxTries; timesAsked += 1) {
      if (await client.listKeys()) return timesAsked;
      await this.#options.scheduler.sleep(this.#owner, pauseMs);
    }
    return null;
  }
}
