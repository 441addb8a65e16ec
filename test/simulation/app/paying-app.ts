/**
 * The app of a customer who pays by the client of the contract (`contract/client/`). The app is
 * killed and started again, has two tabs, and its customer taps again; the device keeps what the
 * client stores.
 */
import {
  PonteClient,
  type ClientOptions,
  type PayOptions,
} from '../../../contract/client/index.ts';
import type { Intents, ShownResult } from '../oracle/intents.ts';
import type { Phone } from '../phone.ts';
import type { Owner, Scheduler } from '../scheduler.ts';
import type { StoredCustomer } from '../store.ts';
import type { FaultProfile } from '../fault-profile.ts';
import type { AppFaults } from './app-faults.ts';
import { Device } from './device.ts';
import type { AppNetwork } from './network.ts';

export interface PayingAppOptions {
  readonly customer: StoredCustomer;
  readonly phone: Phone;
  readonly scheduler: Scheduler;
  readonly network: AppNetwork;
  readonly intents: Intents;
  readonly violated: (text: string) => void;
  readonly profile: () => FaultProfile;
  readonly faults: () => AppFaults;
  /** Changes the client on purpose; the identity, except in mutations. */
  readonly change: (options: ClientOptions) => ClientOptions;
}

/** A payment that the customer wants to make once. */
export interface Wish {
  /** The first key of the payment, and its name. */
  readonly key: string;
  readonly pixKey: string;
  readonly amountCents: number;
  readonly lookUp: { readonly id: string } | null;
}

/** A wish, and what the app knows of it. */
interface Intent extends Wish {
  /** The keys that the client has drawn for it. */
  readonly keys: string[];
  /** Whether the customer may see it in the app: an equal wish is another payment on purpose. */
  isOpen: boolean;
}

/** A running tab: it is the owner of its steps. */
interface Tab {
  readonly owner: Owner;
  readonly client: PonteClient;
  /** Resolves when the tab is killed. */
  readonly died: Promise<null>;
  readonly die: () => void;
}

/** How often the customer asks for the result before giving up. */
const maxRounds = 6;

const longestAwayMs = 20_000;
const longestPauseMs = 12 * 60_000;

export class PayingApp {
  readonly #options: PayingAppOptions;
  readonly #device: Device;
  readonly #intents: Intent[] = [];
  #tabs: readonly Tab[] = [];
  #started = 0;
  /** The wish that a tap is for, while the client draws a key. */
  #tapped: Intent | null = null;
  /** The work that a start of the app has begun, and that is not done yet. */
  #resuming = 0;

  constructor(options: PayingAppOptions) {
    this.#options = options;
    const { scheduler, faults } = options;
    this.#device = new Device({ scheduler, fullDisks: () => faults().fullDisks });
  }

  get isQuiet(): boolean {
    return this.#resuming === 0;
  }

  /** A step of an owner is about to run: a tab may be killed before it. */
  strike(owner: Owner): void {
    const { scheduler, faults } = this.#options;
    const tab = this.#tabs.find((one) => one.owner === owner);
    if (!tab || !scheduler.chance.happens(faults().deaths)) return;
    scheduler.count('app: deaths');
    scheduler.note(`${owner.name} dies`);
    this.#tabs = this.#tabs.filter((one) => one !== tab);
    scheduler.bury(owner);
    this.#device.died(owner);
    tab.die();
  }

  /** Pays, and asks again until the result is final or the customer gives up. */
  async fulfil(wish: Wish): Promise<ShownResult | null> {
    const { scheduler, phone } = this.#options;
    const { chance } = scheduler;
    const intent: Intent = { ...wish, keys: [], isOpen: true };
    this.#intents.push(intent);
    let shown: ShownResult | null = null;
    for (let round = 0; round < maxRounds; round += 1) {
      const tab = await this.#openTab();
      shown = (await this.#ask(tab, intent)) ?? shown;
      if (shown?.result === 'paid') break;
      // After a refusal some customers tap again: that is a new payment of the same wish.
      if (shown?.result === 'not_paid' && !chance.happens(0.3)) break;
      if (shown?.result === 'blocked' && shown.reason === 'log_in') await this.#logIn();
      await scheduler.sleep(phone.owner, 100 + chance.delayMs(longestPauseMs));
    }
    if (shown === null || !(await this.#forget(shown))) return shown;
    intent.isOpen = false;
    return shown;
  }

  /** The customer opens the app, which resumes all payments without a result. */
  async resumeAll(): Promise<void> {
    await this.#resumeLeft(await this.#openTab());
  }

  /**
   * Asks for the result of each payment that is final at the service, without faults.
   * @param statuses the final statuses by key.
   */
  async checkFinal(statuses: ReadonlyMap<string, string>): Promise<void> {
    const { scheduler, violated } = this.#options;
    const { client } = await this.#openTab();
    for (const { key, result } of await client.payments()) {
      const status = statuses.get(key);
      // A result may be older than a correction, of which an event tells.
      if (status === undefined || result !== null) continue;
      scheduler.count('app: results at rest');
      const shown = this.#show(await client.resume(key));
      const isRight = shown.result === (status === 'COMPLETED' ? 'paid' : 'not_paid');
      if (!isRight) violated(`the app shows ${shown.result} of ${key}, which is ${status}`);
    }
  }

  async #logIn(): Promise<void> {
    const { customer, phone } = this.#options;
    if (!(await phone.logIn())) return;
    const session = { accessToken: phone.sessionId, email: customer.email };
    for (const { client } of this.#tabs) client.session = session;
  }

  /** The customer has seen a result. @returns whether the app has forgotten the payment. */
  async #forget({ key, result }: ShownResult): Promise<boolean> {
    const { scheduler } = this.#options;
    if (result !== 'paid' && result !== 'not_paid') return false;
    if (scheduler.chance.happens(0.2)) return false;
    const tab = await this.#openTab();
    const forgotten = tab.client.forget(key).then(
      () => true,
      () => false,
    );
    return (await Promise.race([forgotten, tab.died])) ?? false;
  }

  /** Taps, sometimes again, in any tab. @returns what the app shows; null: nothing, it failed. */
  async #ask(tab: Tab, intent: Intent): Promise<ShownResult | null> {
    const { scheduler, profile } = this.#options;
    const tap = (one: Tab): Promise<ShownResult | null> =>
      Promise.race([this.#tap(one, intent), one.died]);
    const taps = [tap(tab)];
    while (scheduler.chance.happens(profile().impatience / 2)) {
      taps.push(tap(scheduler.chance.pick([tab, ...this.#tabs])));
    }
    const shown = await Promise.all(taps);
    return shown.find((one) => one !== null) ?? null;
  }

  async #tap(tab: Tab, intent: Intent): Promise<ShownResult | null> {
    const { scheduler, intents, customer } = this.#options;
    const { client } = tab;
    let drawn: string | null = null;
    try {
      const known = await this.#storedKey(client, intent);
      const isAlone = !this.#intents.some((one) => one !== intent && isEqual(one, intent));
      const resumes = known !== null && (!isAlone || scheduler.chance.happens(0.5));
      if (resumes) return this.#show(await client.resume(known));
      if (!isAlone && intent.keys.length > 0 && intent.isOpen) return null;
      const paying = this.#pay(tab, intent, { another: !isAlone });
      drawn = intent.keys.at(-1) ?? null;
      return this.#show(await paying);
    } catch (error) {
      scheduler.note(`${tab.owner.name} shows an error: ${String(error)}`);
      scheduler.count('app: errors shown');
      intents.failed(customer, drawn);
      await this.#checkShown(client, intent);
      return null;
    }
  }

  /** The customer taps to pay. */
  async #pay(tab: Tab, intent: Intent, options: PayOptions): Promise<ShownResult> {
    const { scheduler, intents, customer } = this.#options;
    scheduler.count('app: taps');
    const isOver = intents.tapped(customer, intent);
    void tab.died.then(isOver);
    this.#tapped = intent;
    const paying = tab.client.pay(
      {
        pix_key: intent.pixKey,
        amount: intent.amountCents / 100,
        ...(intent.lookUp && { lookup_id: intent.lookUp.id }),
      },
      options,
    );
    this.#tapped = null;
    return paying.finally(isOver);
  }

  /** The key under which the device keeps a wish; null: it does not. */
  async #storedKey(client: PonteClient, { keys }: Intent): Promise<string | null> {
    const payments = await client.payments();
    return payments.find((one) => keys.includes(one.key))?.key ?? null;
  }

  /** An error says that nothing was paid: no payment of the wish may be open on the device. */
  async #checkShown(client: PonteClient, intent: Intent): Promise<void> {
    const { intents, customer, violated } = this.#options;
    for (const { key, result } of await client.payments()) {
      const isOpen = result === null && intent.keys.includes(key);
      if (!isOpen || !intents.wasSent(customer, key)) continue;
      violated(`the app shows an error for ${intent.key}, of which ${key} may be paid`);
    }
  }

  #show(shown: ShownResult): ShownResult {
    const { customer, scheduler, intents } = this.#options;
    scheduler.count(`app: ${shown.result}`);
    intents.shown(customer, shown);
    return shown;
  }

  async #openTab(): Promise<Tab> {
    const { scheduler, phone, faults } = this.#options;
    const { chance } = scheduler;
    while (this.#tabs.length === 0) {
      if (this.#started > 0) await scheduler.sleep(phone.owner, chance.delayMs(longestAwayMs));
      if (this.#tabs.length > 0) break;
      const tab = this.#start();
      if (chance.happens(faults().tabs)) this.#start();
      this.#resuming += 1;
      void Promise.race([this.#resumeLeft(tab), tab.died]).finally(() => {
        this.#resuming -= 1;
      });
    }
    const [first, ...others] = this.#tabs;
    if (!first) throw new Error('no tab is open');
    return chance.pick([first, ...others]);
  }

  /** Resumes the payments that an earlier run has left. */
  async #resumeLeft({ client, owner }: Tab): Promise<void> {
    const { scheduler } = this.#options;
    try {
      const left = await client.payments();
      await Promise.all(
        left.map(async ({ key }) => {
          scheduler.count('app: payments resumed');
          this.#show(await client.resume(key));
        }),
      );
    } catch (error) {
      scheduler.note(`${owner.name} cannot resume: ${String(error)}`);
    }
  }

  #start(): Tab {
    const { customer, scheduler, network, phone, faults, change } = this.#options;
    this.#started += 1;
    const owner = { name: `${customer.name} app ${this.#started}` };
    const { promise: died, resolve } = Promise.withResolvers<null>();
    scheduler.note(`${owner.name} starts`);
    scheduler.count('app: starts');
    const client = new PonteClient(
      change({
        url: 'https://ponte.test',
        storage: this.#device.storageOf(owner),
        locks: this.#device.locksOf(owner),
        clock: scheduler.getClock(owner),
        fetch: network.fetchOf(owner),
        newKey: () => this.#newKey(),
        askToLogIn: async () => {
          await scheduler.sleep(owner, 1_000 + scheduler.chance.delayMs(60_000));
          if (scheduler.chance.happens(faults().refusedLogins)) return null;
          return { email: customer.email, password: '' };
        },
      }),
    );
    client.session = { accessToken: phone.sessionId, email: customer.email };
    const tab: Tab = { owner, client, died, die: () => resolve(null) };
    this.#tabs = [...this.#tabs, tab];
    return tab;
  }

  #newKey(): string {
    const { intents, customer } = this.#options;
    const intent = this.#tapped;
    if (!intent) throw new Error('the client draws a key without a tap');
    const { length } = intent.keys;
    const key = length === 0 ? intent.key : `${intent.key}.${length + 1}`;
    intent.keys.push(key);
    intents.drew(customer, intent, key);
    return key;
  }
}

function isEqual(one: Intent, other: Intent): boolean {
  return one.isOpen && one.pixKey === other.pixKey && one.amountCents === other.amountCents;
}
