/**
 * One history: a seed, the customers, the processes, the bank and the weather, from the first step
 * to the last check. The same seed gives the same history.
 */
import type { Clock } from '../../src/clock.ts';
import type { Database } from '../../src/db/database.ts';
import type { JobTable } from '../../src/jobs/job.ts';
import { sendPix } from '../../src/operations/pix/send-pix.ts';
import { receiveProviderWebhook } from '../../src/operations/webhooks/receive-provider-webhook.ts';
import type { Provider } from '../../src/provider/provider.ts';
import { Bank } from './bank/bank.ts';
import { Ledger, type Payment } from './bank/ledger.ts';
import { drawPolicy, type Policy } from './bank/policy.ts';
import { Chance } from './chance.ts';
import { Client, type SendOperation } from './clients.ts';
import { Fleet } from './fleet.ts';
import type { Hazards } from './hazards.ts';
import { Liar } from './liar.ts';
import { Names } from './names.ts';
import { Evidence, isTrue } from './oracle/evidence.ts';
import { Truth } from './oracle/truth.ts';
import { type Owner, Scheduler } from './scheduler.ts';
import { sendJobs, Service } from './service.ts';
import { Statements } from './statements.ts';
import type { Store } from './store.ts';
import { drawWeather, fairWeather, type Weather } from './weather.ts';
import { type Intake, Webhooks } from './webhooks.ts';
import { describeRequest, watchPayments } from './wire/orders.ts';
import { wireOf } from './wire/wire.ts';

/**
 * What is different from the service as it is: a part that was broken on purpose, to see that the
 * invariants notice.
 */
export interface Deviation {
  readonly db?: (db: Database) => Database;
  /** Around the provider's HTTP API, below time-outs and retries. */
  readonly wire?: (wire: Provider) => Provider;
  /** Around what the operations have, above all else. */
  readonly provider?: (provider: Provider, clock: Clock) => Provider;
  readonly jobs?: JobTable;
  readonly intake?: Intake;
  readonly send?: SendOperation;
  /** Trouble in which the difference shows soon; otherwise each seed brings its own. */
  readonly weather?: Partial<Weather>;
  readonly policy?: Partial<Policy>;
}

/** Which history is run. */
export interface Plan {
  readonly seed: number;
  /** What the provider, the database and the app may do beyond what is always drawn. */
  readonly hazards: Hazards;
  readonly deviation: Deviation;
}

const dayMs = 24 * 60 * 60_000;
const firstDay = Date.parse('2026-05-24T00:00:00.000Z');

/** The parts of one history, put together but not yet set going. */
export class World {
  readonly chance: Chance;
  readonly scheduler: Scheduler;
  readonly names = new Names();
  readonly hazards: Hazards;
  readonly store: Store;
  readonly policy: Policy;
  readonly ledger: Ledger;
  readonly bank: Bank;
  readonly evidence: Evidence;
  readonly truth: Truth;
  readonly statements: Statements;
  readonly fleet: Fleet;
  readonly webhooks: Webhooks;
  readonly liar: Liar;
  readonly clients: readonly Client[];
  readonly openingBalanceCents: number;
  /** The executed payments whose end is still to be told. */
  unsettled = 0;
  readonly #deviation: Deviation;
  readonly #bankOwner: Owner = { name: 'bank' };
  #weather: Weather;

  constructor(store: Store, { seed, hazards, deviation }: Plan) {
    this.store = store;
    this.hazards = hazards;
    this.#deviation = deviation;
    this.chance = new Chance(seed);
    this.#weather = { ...drawWeather(this.chance), ...deviation.weather };
    this.policy = { ...drawPolicy(this.chance, hazards), ...deviation.policy };
    this.openingBalanceCents = this.chance.pick([5_000, 100_000, 1_000_000]);
    this.scheduler = this.#makeScheduler();
    this.ledger = new Ledger(store.customers, this.openingBalanceCents);
    this.bank = this.#openBank();
    const { scheduler, names, ledger, policy } = this;
    const weather = (): Weather => this.#weather;
    this.evidence = new Evidence({ ledger, policy, hazards, scheduler });
    const { evidence } = this;
    this.truth = new Truth({ ledger, evidence, hazards, names, scheduler });
    const { truth } = this;
    const size = this.chance.pick([1, 2]);
    const kind = size === 1 && this.chance.happens(0.5) ? 'embedded' : 'postgresql';
    this.statements = new Statements({
      ...{ store, names, scheduler, weather, kind, evidence, truth },
      observed: (row) => {
        if (truth.observed(row)) this.liar.contradict(row);
      },
      hasBegun: () => this.fleet.isComplete,
    });
    this.fleet = new Fleet({
      ...{ scheduler, weather, size },
      create: (owner) => this.#createService(owner),
      buried: (owner) => this.statements.forget(owner),
    });
    const intake = deviation.intake ?? receiveProviderWebhook;
    const { fleet } = this;
    this.webhooks = new Webhooks({ fleet, intake, names, evidence, policy, scheduler, weather });
    this.liar = new Liar({ truth, webhooks: this.webhooks, scheduler, weather });
    this.clients = this.#makeClients();
  }

  /** What a failover has lost, if there was one. */
  get lost(): Evidence['lost'] {
    return this.evidence.lost;
  }

  /** From now on nothing goes wrong any more; what is under way may still come to its bad end. */
  calmDown(): void {
    this.#weather = fairWeather;
    this.scheduler.order = fairWeather.order;
    this.scheduler.stalls = fairWeather.stalls;
    this.fleet.calmDown();
    this.scheduler.note('the weather calms down');
  }

  get isAtRest(): boolean {
    return (
      this.clients.every(({ isDone }) => isDone) &&
      this.webhooks.outstanding === 0 &&
      this.unsettled === 0 &&
      this.fleet.isComplete &&
      this.scheduler.isQuiet
    );
  }

  /** Whether an event, named by its hash, says of its payment what is not true. */
  readonly isUntrue = (hash: string): boolean => {
    const notice = this.webhooks.posted.get(hash);
    return (
      this.liar.told.has(hash) || (notice !== undefined && !isTrue(notice, this.ledger.payments))
    );
  };

  #makeScheduler(): Scheduler {
    const scheduler = new Scheduler({
      chance: this.chance,
      startMs: firstDay + this.chance.below(dayMs),
      beforeStep: (owner) => {
        this.fleet.strike(owner);
        this.statements.faults.strike(owner);
        this.statements.failover.strike();
        this.liar.mismatch();
      },
    });
    scheduler.order = this.#weather.order;
    scheduler.stalls = this.#weather.stalls;
    return scheduler;
  }

  #openBank(): Bank {
    return new Bank({
      ...{ policy: this.policy, ledger: this.ledger, chance: this.chance },
      nowMs: () => this.scheduler.nowMs,
      statementLagMs: () => this.#weather.statementLagMs,
      post: (notice) => this.webhooks.post(notice),
      executed: (payment) => {
        this.truth.executed(payment);
        this.#settleLater(payment);
      },
    });
  }

  /** Payments settle when the scheduler comes to it, which may be before their answer. */
  #settleLater(payment: Payment): void {
    const { scheduler, names } = this;
    const owner = this.#bankOwner;
    this.unsettled += 1;
    const run = (): void => {
      this.bank.settle(payment);
      this.unsettled -= 1;
    };
    const label = `bank settles ${names.of('E', payment.endToEnd)}`;
    const delayMs = this.chance.delayMs(this.policy.slowestSettlementMs);
    scheduler.after(owner, delayMs, () => scheduler.submit({ owner, label, run }));
  }

  #createService(owner: Owner): Service {
    const { scheduler, store, chance, bank, truth, evidence, names } = this;
    const dispatcher = wireOf(owner, {
      ...{ bank, scheduler, weather: () => this.#weather },
      watch: watchPayments({ customers: store.customers, truth, evidence }),
      describe: (request) => describeRequest(request, bank, names),
    });
    const db = this.statements.databaseOf(owner);
    const deviation = this.#deviation;
    return new Service({
      ...{ name: owner.name, store, chance, dispatcher },
      clock: scheduler.clockOf(owner),
      whenAwake: () =>
        scheduler.isFrozen(owner) ? scheduler.hop(owner, `${owner.name} reads a request`) : null,
      db: deviation.db?.(db) ?? db,
      jobs: deviation.jobs ?? sendJobs,
      wrapWire: deviation.wire ?? ((provider) => provider),
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
