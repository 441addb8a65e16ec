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
    if (!(await this.#list(first))) return;
    directory.carryOver();
    if (!(await this.#list(second))) return;
    scheduler.count('keys carried to another account');
    collections.payByPortableKey(amountCents);
  }

  /** @returns whether the app has received the list. */
  async #list(client: Client): Promise<boolean> {
    for (let tries = 0; tries < maxTries; tries += 1) {
      if (await client.listKeys()) return true;
      await this.#options.scheduler.sleep(this.#owner, pauseMs);
    }
    return false;
  }
}
