/**
 * The operator: resolves payments, replays events, blocks and unblocks accounts, at any time and in
 * any live process. A careful operator checks with the provider before a decision, a careless one
 * does not.
 */
import type { Context } from '../../src/context/context.ts';
import { isDatabaseTrouble } from '../../src/db/unavailable.ts';
import { blockAccount, unblockAccount } from '../../src/operator/accounts.ts';
import { OpError, type OpCaller } from '../../src/operator/op.ts';
import { acceptOp } from '../../src/operator/reconcile.ts';
import { resumePix } from '../../src/operator/pix-pause.ts';
import { listPix } from '../../src/operator/pix-list.ts';
import { resolvePix, riskOfCompleting, riskOfFailing } from '../../src/operator/pix-resolve.ts';
import type { PixView } from '../../src/operator/pix-view.ts';
import { replayWebhooks, type WebhookReplayInput } from '../../src/operator/webhook-replay.ts';
import { reconcileUser, type ReconciledUser } from '../../src/settlement/reconcile-user.ts';
import { findStatementUser } from '../../src/settlement/reconciliation-repository.ts';
import type { Processes } from './processes.ts';
import type { Oracle } from './oracle/oracle.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { ProcessGone, requestFacts } from './service.ts';

export interface OperatorOptions {
  readonly processes: Processes;
  readonly oracle: Oracle;
  readonly scheduler: Scheduler;
  /** How long the provider takes at most to execute a payment and to list it, in milliseconds. */
  readonly slowestListingMs: () => number;
}

/** The possible numbers of actions of the operator in one history. */
const counts = [0, 0, 2, 5, 12] as const;

const maxPauseMs = 240_000;

/** How often the operator tries again, and the pause between two tries. */
const maxTries = 200;
const triesPauseMs = 2_000;

const recoveryPauseMs = 60_000;

const decision = { reason: 'checked with the provider' } as const;

const caller: OpCaller = { operator: 'operator', progress: ignore };

const everything = '2020-01-01T00:00:00.000Z';

const states = ['received', 'parked', 'orphaned', 'processed', 'anomaly', 'ignored'] as const;

export class Operator {
  readonly owner: Owner = { name: 'operator' };
  #hasActed = false;
  #isRecovering = false;
  readonly #options: OperatorOptions;
  readonly #isCareful: boolean;

  constructor(options: OperatorOptions) {
    this.#options = options;
    this.#isCareful = options.scheduler.chance.happens(0.6);
  }

  get isDone(): boolean {
    return this.#hasActed && !this.#isRecovering;
  }

  async run(): Promise<void> {
    const { scheduler } = this.#options;
    const { chance } = scheduler;
    for (let left = chance.pick(counts); left > 0; left -= 1) {
      await scheduler.sleep(this.owner, 10 + chance.delayMs(maxPauseMs));
      await chance.pick([this.#resolve, this.#resolve, this.#replay, this.#replay, this.#block])();
      if (chance.happens(0.4)) await this.unblockAll();
    }
    await this.unblockAll();
    this.#hasActed = true;
  }

  /**
   * Resumes the sends after a failover, as the handbook says: as soon as the service lets it, and
   * the provider has executed and listed what was under way.
   */
  async recover(): Promise<void> {
    const { scheduler, slowestListingMs } = this.#options;
    this.#isRecovering = true;
    await scheduler.sleep(this.owner, slowestListingMs());
    for (let tries = 0; tries < maxTries; tries += 1) {
      await scheduler.sleep(this.owner, recoveryPauseMs);
      const resumed = await this.#call('resumes sends', (context) =>
        resumePix.run(context, decision, caller),
      );
      if (resumed !== null) break;
    }
    // What an event has settled may be lost, although the event itself is stored as processed.
    for (let tries = 0; tries < maxTries && !(await this.replayAll()); tries += 1) {
      await scheduler.sleep(this.owner, triesPauseMs);
    }
    this.#isRecovering = false;
  }

  /**
   * Replays every stored event, also those that are applied already. A process that stops leaves
   * the rest for the next call.
   * @returns whether all of them were replayed.
   */
  async replayAll(): Promise<boolean> {
    let after: WebhookReplayInput['after'];
    for (;;) {
      const input = { since: everything, limit: 100, ...(after !== undefined && { after }) };
      const page = await this.#call('replays all', (c) => replayWebhooks.run(c, input, caller));
      if (page === null) return false;
      if (page.next === null) return true;
      after = page.next;
    }
  }

  /** Reconciles days of a user. @returns null when the service could not be reached. */
  reconcile(
    userId: number,
    days: { readonly first: string; readonly last: string },
  ): Promise<ReconciledUser | 'no account' | null> {
    return this.#call('reconciles', async (context) => {
      const user = await findStatementUser(context, userId);
      const options = requestFacts(context).callOptions;
      return user ? reconcileUser(context, user, { ...days, options }) : 'no account';
    });
  }

  /** Accounts for lines of statements that block orders. */
  async accountFor(ids: readonly string[]): Promise<void> {
    await this.#call('accounts for payments', (context) =>
      acceptOp.run(context, { ids, ...decision }, caller),
    );
  }

  async unblockAll(): Promise<void> {
    const { oracle, scheduler } = this.#options;
    for (let tries = 0; tries < maxTries && oracle.accounts.blocked.length > 0; tries += 1) {
      for (const id of oracle.accounts.blocked) {
        const input = { user: String(id), ...decision };
        await this.#call('unblocks an account', (context) =>
          unblockAccount.run(context, input, caller),
        );
      }
      if (oracle.accounts.blocked.length > 0) await scheduler.sleep(this.owner, triesPauseMs);
    }
  }

  readonly #block = async (): Promise<void> => {
    const { oracle, scheduler } = this.#options;
    const [customer] = scheduler.chance.shuffled(oracle.ledger.customers);
    if (!customer) return;
    const input = { user: String(customer.id), ...decision };
    await this.#call('blocks an account', (context) => blockAccount.run(context, input, caller));
  };

  readonly #replay = async (): Promise<void> => {
    const { chance } = this.#options.scheduler;
    const filter = chance.happens(0.5) ? { since: everything } : { state: chance.pick(states) };
    const input: WebhookReplayInput = {
      ...filter,
      limit: chance.pick([1, 5, 100]),
      dryRun: chance.happens(0.2),
      counting: chance.happens(0.2),
    };
    const replay = await this.#call('replays', (c) => replayWebhooks.run(c, input, caller));
    for (const { result } of replay?.events ?? []) this.#options.scheduler.count(`event ${result}`);
  };

  readonly #resolve = async (): Promise<void> => {
    const { scheduler } = this.#options;
    const stuck = scheduler.chance.happens(0.5);
    const listed = await this.#call('lists payments', (context) =>
      listPix.run(
        context,
        { limit: 20, ...(stuck ? { stuck } : { status: 'PROCESSING' }) },
        caller,
      ),
    );
    const sends = (listed?.transactions ?? []).filter(({ operation }) => operation === 'SEND');
    const [send] = scheduler.chance.shuffled(sends);
    const as = send ? this.#decision(send) : null;
    if (send && as) await this.#decide(send, as);
  };

  /** The operator's decision about a payment; null: none yet. */
  #decision({ endToEnd }: PixView): 'completed' | 'failed' | null {
    const { oracle, scheduler } = this.#options;
    if (!this.#isCareful) return scheduler.chance.pick(['completed', 'failed']);
    const state = oracle.ledger.payments.find((one) => one.endToEnd === endToEnd)?.state;
    if (state === 'completed') return 'completed';
    return state === 'reversed' ? 'failed' : null;
  }

  async #decide({ id, userId, clientRequestId }: PixView, as: 'completed' | 'failed') {
    const { oracle, scheduler } = this.#options;
    const customer = oracle.ledger.customers.find((one) => one.id === userId);
    if (!customer || clientRequestId === null) return;
    const status = as === 'completed' ? 'COMPLETED' : 'FAILED';
    const onlyCheck = scheduler.chance.happens(0.2);
    const undo = onlyCheck ? ignore : oracle.decides(customer, clientRequestId, status);
    const despiteStatement = as === 'failed' && !this.#isCareful;
    const confirm = as === 'completed' ? riskOfCompleting : riskOfFailing;
    const input = { id, as, confirm, despiteStatement, onlyCheck, ...decision };
    const resolved = await this.#call(`resolves as ${as}`, (context) =>
      resolvePix.run(context, input, caller).catch((error: unknown) => {
        if (error instanceof OpError) undo();
        throw error;
      }),
    );
    if (resolved && !onlyCheck) scheduler.count(`payments resolved as ${as}`);
  }

  /** @returns the result, or null: the service refused, or could not be reached. */
  async #call<Result>(
    label: string,
    work: (context: Context) => Promise<Result>,
  ): Promise<Result | null> {
    const { scheduler, processes, oracle } = this.#options;
    await scheduler.hop(this.owner, `operator ${label}`);
    scheduler.count(`operator ${label}`);
    try {
      return (await processes.pick()?.serve(work)) ?? null;
    } catch (error) {
      const isExpected =
        error instanceof OpError || error instanceof ProcessGone || isDatabaseTrouble(error);
      if (!isExpected) oracle.violated(`a defect when the operator ${label}: ${String(error)}`);
      scheduler.note(`operator ${label}: ${String(error)}`);
      return null;
    }
  }
}

function ignore(): void {
  // The simulated operator ignores progress messages.
}
