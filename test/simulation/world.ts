/**
 * One history: a seed, the customers, the processes, the bank and the weather, from the first step
 * to the last check. The same seed gives the same history.
 */
import type { Clock } from '../../src/clock.ts';
import type { Database } from '../../src/db/database.ts';
import type { JobTable } from '../../src/jobs/job.ts';
import { settleWebhook } from '../../src/jobs/settle-webhook.ts';
import { sweepPix } from '../../src/jobs/sweep-pix.ts';
import { sendPix } from '../../src/operations/pix/send-pix.ts';
import { receiveProviderWebhook } from '../../src/operations/webhooks/receive-provider-webhook.ts';
import type { Provider } from '../../src/provider/provider.ts';
import { createBank, type Bank } from '../../src/provider/stub/bank.ts';
import { Chance } from './chance.ts';
import { Client, type SendOperation } from './clients.ts';
import { BankDesk } from './desk.ts';
import { Fleet } from './fleet.ts';
import { LedgerView } from './ledger.ts';
import { Liar } from './liar.ts';
import { Names } from './names.ts';
import { type Owner, Scheduler } from './scheduler.ts';
import { Service } from './service.ts';
import { Statements } from './statements.ts';
import type { Store } from './store.ts';
import { Truth } from './truth.ts';
import { drawWeather, fairWeather, type Weather } from './weather.ts';
import { type Intake, Webhooks } from './webhooks.ts';
import { wireFrom } from './wire.ts';

/**
 * What is different from the service as it is: a part that was broken on purpose, to see that the
 * invariants notice.
 */
export interface Deviation {
  readonly db?: (db: Database) => Database;
  /** Around the bank itself, below time-outs and retries. */
  readonly wire?: (wire: Provider) => Provider;
  /** Around what the operations have, above all else. */
  readonly provider?: (provider: Provider, clock: Clock) => Provider;
  readonly jobs?: JobTable;
  readonly intake?: Intake;
  readonly send?: SendOperation;
  /** Trouble in which the difference shows soon; otherwise each seed brings its own. */
  readonly weather?: Partial<Weather>;
}

/** What sends are settled by; all other duties have to do with nothing here. */
export const sendJobs = {
  'settle-webhook': settleWebhook,
  'sweep-pix': sweepPix,
} as const satisfies JobTable;

const dayMs = 24 * 60 * 60_000;
const firstDay = Date.parse('2026-05-24T00:00:00.000Z');

/** The parts of one history, put together but not yet set going. */
export class World {
  readonly chance: Chance;
  readonly scheduler: Scheduler;
  readonly names = new Names();
  readonly store: Store;
  readonly bank: Bank;
  readonly truth: Truth;
  readonly desk: BankDesk;
  readonly statements: Statements;
  readonly fleet: Fleet;
  readonly webhooks: Webhooks;
  readonly liar: Liar;
  readonly clients: readonly Client[];
  readonly openingBalanceCents: number;
  readonly #deviation: Deviation;
  #weather: Weather;

  constructor(store: Store, seed: number, deviation: Deviation) {
    this.store = store;
    this.#deviation = deviation;
    this.chance = new Chance(seed);
    this.#weather = { ...drawWeather(this.chance), ...deviation.weather };
    this.openingBalanceCents = this.chance.pick([5_000, 100_000, 1_000_000]);
    this.scheduler = this.#makeScheduler();
    this.bank = this.#openBank();
    const ledger = new LedgerView(this.bank, store.customers);
    const { scheduler, names, bank } = this;
    const weather = (): Weather => this.#weather;
    this.truth = new Truth({ ledger, names, scheduler });
    const { truth } = this;
    this.desk = new BankDesk({ bank, ledger, truth, names, scheduler, weather });
    const size = this.chance.pick([1, 2]);
    const kind = size === 1 && this.chance.happens(0.5) ? 'embedded' : 'postgresql';
    this.statements = new Statements({
      ...{ store, names, scheduler, weather, kind },
      observed: (row) => {
        if (truth.observed(row)) this.liar.contradict(row);
      },
    });
    this.fleet = new Fleet({
      ...{ scheduler, weather, size },
      create: (owner) => this.#createService(owner),
      buried: (owner) => this.statements.forget(owner),
    });
    const intake = deviation.intake ?? receiveProviderWebhook;
    this.webhooks = new Webhooks({ fleet: this.fleet, intake, names, scheduler, weather });
    this.liar = new Liar({ truth, webhooks: this.webhooks, scheduler, weather });
    this.clients = this.#makeClients();
  }

  /** From now on nothing goes wrong any more; what is under way may still come to its bad end. */
  calmDown(): void {
    this.#weather = fairWeather;
    this.scheduler.order = fairWeather.order;
    this.scheduler.stalls = fairWeather.stalls;
    this.scheduler.note('the weather calms down');
  }

  get isAtRest(): boolean {
    return (
      this.clients.every(({ isDone }) => isDone) &&
      this.webhooks.outstanding === 0 &&
      this.desk.unsettled === 0 &&
      this.fleet.isComplete &&
      this.scheduler.isQuiet
    );
  }

  #makeScheduler(): Scheduler {
    const scheduler = new Scheduler({
      chance: this.chance,
      startMs: firstDay + this.chance.below(dayMs),
      beforeStep: (owner) => {
        this.fleet.strike(owner);
        this.liar.mismatch();
      },
    });
    scheduler.order = this.#weather.order;
    scheduler.stalls = this.#weather.stalls;
    return scheduler;
  }

  #openBank(): Bank {
    const { config } = this.store;
    return createBank({
      clock: this.scheduler.clockOf({ name: 'bank' }),
      ispb: config.provider.ispb,
      // Payments settle when the desk says so.
      settleMs: 0,
      openingBalanceCents: this.openingBalanceCents,
      notify: async (payload) => this.webhooks.post(Buffer.from(payload)),
      onFault: (fault) => this.truth.violated(`the bank has a fault: ${String(fault)}`),
    });
  }

  #createService(owner: Owner): Service {
    const { scheduler, store, chance, desk } = this;
    const wire = wireFrom(owner, { desk, scheduler, weather: () => this.#weather });
    const db = this.statements.databaseOf(owner);
    const deviation = this.#deviation;
    return new Service({
      ...{ name: owner.name, store, chance },
      clock: scheduler.clockOf(owner),
      db: deviation.db?.(db) ?? db,
      wire: deviation.wire?.(wire) ?? wire,
      jobs: deviation.jobs ?? sendJobs,
      wrap: deviation.provider ?? ((provider) => provider),
    });
  }

  #makeClients(): Client[] {
    const count = this.chance.pick([1, 1, 2, 3]);
    const { scheduler, truth, fleet } = this;
    const sharesKeys = this.chance.happens(0.3);
    const send = this.#deviation.send ?? sendPix;
    return this.store.customers.slice(0, count).map(
      (customer) =>
        new Client({
          ...{ customer, send, fleet, truth, scheduler, sharesKeys },
          weather: () => this.#weather,
        }),
    );
  }
}
