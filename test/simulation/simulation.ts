/**
 * One history: a seed, the customers, the processes, the bank and the faults, from the first step
 * to the last check. The same seed gives the same history.
 */
import { receiveProviderWebhook } from '../../src/settlement/receive-provider-webhook.ts';
import { drawApps, noAppFaults, type AppFaults, type Apps } from './app/app-faults.ts';
import { Ledger } from './bank/ledger.ts';
import { drawPolicy, type Policy } from './bank/policy.ts';
import { Chance } from './chance.ts';
import type { Client } from './clients.ts';
import type { Deviation } from './deviation.ts';
import { Processes } from './processes.ts';
import type { Hazards } from './hazards.ts';
import { drawLimits, LimitCheck, type Limits } from './limits.ts';
import { makeClients } from './make-clients.ts';
import { FalseEvents } from './false-events.ts';
import { Names } from './names.ts';
import { Operator } from './operator.ts';
import { isTrue } from './oracle/evidence.ts';
import { Oracles } from './oracle/oracles.ts';
import { ProviderSide } from './provider-side.ts';
import { type Owner, Scheduler } from './scheduler.ts';
import { Service } from './service.ts';
import { Statements, type StatementsOptions } from './statements.ts';
import type { Store } from './store.ts';
import { drawFaultProfile, noFaults, type FaultProfile } from './fault-profile.ts';
import { Webhooks } from './webhooks.ts';
import { describeRequest, watchPayments } from './wire/orders.ts';
import { makeWire } from './wire/wire.ts';

/** The history to run. */
export interface Plan {
  readonly seed: number;
  /** The hazards to draw from. */
  readonly hazards: Hazards;
  readonly deviation: Deviation;
  /** Whether all customers pay by the client of the contract. */
  readonly client: boolean;
  /** Whether there are dynamic codes to pay, whatever the seed draws. */
  readonly codes: boolean;
}

const dayMs = 24 * 60 * 60_000;
const firstDay = Date.parse('2026-05-24T00:00:00.000Z');

/** The parts of one history, composed and not yet started. */
export class Simulation {
  readonly chance: Chance;
  readonly scheduler: Scheduler;
  readonly names = new Names();
  readonly hazards: Hazards;
  readonly store: Store;
  readonly policy: Policy;
  readonly ledger: Ledger;
  readonly provider: ProviderSide;
  readonly bank: ProviderSide['bank'];
  readonly evidence: Oracles['evidence'];
  readonly receipts: Oracles['receipts'];
  readonly charges: Oracles['charges'];
  readonly refunds: Oracles['refunds'];
  readonly expiries: Oracles['expiries'];
  readonly disputes: Oracles['disputes'];
  readonly intents: Oracles['intents'];
  readonly oracle: Oracles['oracle'];
  readonly statements: Statements;
  readonly processes: Processes;
  readonly webhooks: Webhooks;
  readonly falseEvents: FalseEvents;
  readonly clients: readonly Client[];
  readonly operator: Operator;
  /** The beginning of the history. */
  readonly began: Date;
  /** Whether days pass after the history, and the app repeats its requests. */
  readonly goesOn: boolean;
  /** The limits of a customer's sends, in some seeds. */
  readonly limits: Limits;
  readonly #deviation: Deviation;
  #profile: FaultProfile;
  #appFaults: AppFaults;

  constructor(store: Store, { seed, hazards, deviation, client, codes }: Plan) {
    this.store = store;
    this.hazards = hazards;
    this.#deviation = deviation;
    this.chance = new Chance(seed);
    this.#profile = { ...drawFaultProfile(this.chance), ...deviation.profile };
    const apps = { ...drawApps(seed), ...(client && { share: 1 }), ...deviation.apps };
    this.#appFaults = apps.faults;
    const hasDisputes = deviation.disputes === true;
    const policy = drawPolicy(this.chance, { seed, hazards, hasDisputes });
    this.policy = { ...policy, ...deviation.policy };
    const openingBalanceCents = this.chance.pick([5_000, 100_000, 1_000_000]);
    this.scheduler = this.#makeScheduler();
    this.ledger = new Ledger(store.customers, openingBalanceCents);
    this.provider = this.#openProvider(seed, codes || deviation.codes === true);
    this.bank = this.provider.bank;
    this.limits = drawLimits(seed);
    const oracles = this.#makeOracles();
    this.evidence = oracles.evidence;
    this.receipts = oracles.receipts;
    this.charges = oracles.charges;
    this.refunds = oracles.refunds;
    this.expiries = oracles.expiries;
    this.disputes = oracles.disputes;
    this.intents = oracles.intents;
    this.oracle = oracles.oracle;
    this.oracle.codes.watch(this.provider.codes);
    const size = this.chance.pick([1, 2]);
    const kind = size === 1 && this.chance.happens(0.5) ? 'embedded' : 'postgresql';
    this.statements = this.#makeStatements(kind);
    this.processes = this.#makeProcesses(size);
    this.webhooks = this.#makeWebhooks();
    this.falseEvents = this.#makeFalseEvents();
    this.clients = this.#makeClients(seed, apps);
    this.operator = this.#makeOperator();
    this.goesOn = this.chance.happens(0.2);
    this.began = new Date(this.scheduler.nowMs);
  }

  /** Starts the processes, the clients, the operator and the payers. */
  begin(): void {
    this.processes.start();
    for (const client of this.clients) void client.run();
    void this.operator.run();
    void this.provider.keyCarrier.run(this.clients);
    for (const customer of this.store.customers) this.provider.payers.pay(customer);
    for (const { customer, returns } of this.clients) {
      if (returns > 0) this.provider.payers.payForReturns(customer, 2);
    }
  }

  /** The commits that a failover has lost, if there was one. */
  get lost(): Oracles['evidence']['lost'] {
    return this.evidence.lost;
  }

  /** Ends the faults; steps that are under way may still fail. */
  endFaults(): void {
    this.#profile = noFaults;
    this.#appFaults = noAppFaults;
    this.scheduler.order = noFaults.order;
    this.scheduler.stalls = noFaults.stalls;
    this.processes.endFaults();
    this.scheduler.note('the faults end');
  }

  get isAtRest(): boolean {
    return (
      this.clients.every(({ isDone, app }) => isDone && (app?.isQuiet ?? true)) &&
      this.operator.isDone &&
      this.provider.keyCarrier.isDone &&
      this.webhooks.outstanding === 0 &&
      this.provider.unsettled === 0 &&
      this.processes.isComplete &&
      this.scheduler.isQuiet
    );
  }

  /** Whether the event with this hash is false. */
  readonly isUntrue = (hash: string): boolean => {
    const notice = this.webhooks.posted.get(hash);
    return (
      this.falseEvents.sent.has(hash) ||
      (notice !== undefined && !isTrue(notice, this.ledger.payments))
    );
  };

  /** The end-to-end id of the payment that the event with this hash reports; null: unknown. */
  readonly findEndToEnd = (hash: string): string | null =>
    this.webhooks.posted.get(hash)?.endToEnd ??
    this.receipts.findEndToEnd(hash) ??
    this.refunds.findEndToEnd(hash);

  #makeScheduler(): Scheduler {
    const scheduler = new Scheduler({
      chance: this.chance,
      startMs: firstDay + this.chance.below(dayMs),
      beforeStep: (owner) => {
        this.processes.strike(owner);
        this.statements.faults.strike(owner);
        this.statements.failover.strike();
        this.falseEvents.strike();
        for (const { app } of this.clients) app?.strike(owner);
      },
    });
    scheduler.order = this.#profile.order;
    scheduler.stalls = this.#profile.stalls;
    return scheduler;
  }

  #openProvider(seed: number, hasCodes: boolean): ProviderSide {
    const { policy, ledger, names, scheduler } = this;
    return new ProviderSide({
      seed,
      hasCodes,
      policy,
      ledger,
      names,
      scheduler,
      statementLagMs: () => this.#profile.statementLagMs,
      post: (notice) => this.webhooks.post(notice),
      postReceived: (notice, again) => this.webhooks.postReceived(notice, again),
      postRefund: (notice, again) => this.webhooks.postRefund(notice, again),
      postExpiry: (notice, again) => this.webhooks.postExpiry(notice, again),
      postDispute: (notice, again) => this.webhooks.postDispute(notice, again),
      postReturnFailure: (notice, again) => this.webhooks.postReturnFailure(notice, again),
      returned: (made) => this.oracle.returns.executed(made),
      executed: (payment) => {
        this.oracle.executed(payment);
        this.intents.executed(payment);
      },
      profile: () => this.#profile,
    });
  }

  #makeOracles(): Oracles {
    const { ledger, policy, hazards, names, scheduler, limits, store } = this;
    return new Oracles({
      ledger,
      policy,
      hazards,
      names,
      scheduler,
      limits,
      sealer: store.sealer,
      profile: this.#profile,
      rows: store.rows,
    });
  }

  #makeStatements(kind: StatementsOptions['kind']): Statements {
    const { store, names, scheduler, evidence, oracle, disputes, limits } = this;
    const violated = (text: string): void => oracle.violated(text);
    const limitCheck = new LimitCheck({ store, limits, violated });
    return new Statements({
      store,
      names,
      scheduler,
      profile: () => this.#profile,
      kind,
      evidence,
      oracle,
      disputes,
      observed: (row) => this.falseEvents.observed(row, { isEnd: oracle.observed(row) }),
      statementExecuted: async (statement) => {
        oracle.accounts.statementExecuted(statement);
        await disputes.statementExecuted(statement);
        return limitCheck.statementExecuted(statement);
      },
      recover: () => void this.operator.recover(),
      hasBegun: () => this.processes.isComplete,
    });
  }

  #makeProcesses(size: number): Processes {
    return new Processes({
      scheduler: this.scheduler,
      profile: () => this.#profile,
      size,
      create: (owner) => this.#createService(owner),
      buried: (owner) => this.statements.forget(owner),
    });
  }

  #makeWebhooks(): Webhooks {
    const { processes, names, evidence, receipts, refunds, expiries, disputes } = this;
    return new Webhooks({
      processes,
      intake: this.#deviation.intake ?? receiveProviderWebhook,
      names,
      evidence,
      receipts,
      refunds,
      returns: this.oracle.returns,
      expiries,
      disputes,
      policy: this.policy,
      scheduler: this.scheduler,
      profile: () => this.#profile,
    });
  }

  #makeFalseEvents(): FalseEvents {
    const { oracle, disputes, ledger, webhooks, scheduler, policy } = this;
    return new FalseEvents({
      oracle,
      disputes,
      ledger,
      webhooks,
      scheduler,
      profile: () => this.#profile,
      otherChannels: policy.adversary.otherChannels,
    });
  }

  #makeClients(seed: number, apps: Apps): readonly Client[] {
    const { chance, store, processes, scheduler, oracle, charges, intents, disputes } = this;
    return makeClients({
      seed,
      chance,
      deviation: this.#deviation,
      customers: store.customers,
      processes,
      scheduler,
      oracle,
      charges,
      intents,
      codesToPay: this.provider.codes.all,
      apps,
      appFaults: () => this.#appFaults,
      profile: () => this.#profile,
      otherChannels: this.falseEvents.otherChannels,
      disputes,
      disputeTimes: this.policy.disputes?.times ?? [],
      store,
    });
  }

  #makeOperator(): Operator {
    const { processes, oracle, scheduler } = this;
    return new Operator({
      processes,
      oracle,
      scheduler,
      slowestListingMs: () => this.policy.slowestSettlementMs + this.#profile.statementLagMs,
    });
  }

  #createService(owner: Owner): Service {
    const { scheduler, store, chance, bank, oracle, evidence, names } = this;
    const dispatcher = makeWire(owner, {
      bank,
      scheduler,
      profile: () => this.#profile,
      doubtfulTokens: this.policy.adversary.doubtfulTokens,
      watch: watchPayments({
        customers: store.customers,
        oracle,
        evidence,
        lookUps: oracle.lookUps,
        codes: oracle.codes,
        disputes: this.disputes.calls,
      }),
      describe: (request) => describeRequest(request, bank, names),
    });
    const db = this.statements.getDatabase(owner);
    const deviation = this.#deviation;
    return new Service({
      name: owner.name,
      store,
      chance,
      dispatcher,
      clock: scheduler.getClock(owner),
      whenAwake: () =>
        scheduler.isFrozen(owner) ? scheduler.hop(owner, `${owner.name} reads a request`) : null,
      db: deviation.db?.(db) ?? db,
      jobs: deviation.jobs,
      hasDisputes: this.policy.disputes !== null,
      limits: this.limits,
      wrapWire: deviation.wire ?? ((provider) => provider),
      wrap: deviation.provider ?? ((provider) => provider),
    });
  }
}
