/**
 * An asynchronous failover: the store goes back to an earlier commit, and every connection breaks.
 * It comes once in a history at most.
 */
import type { LostCommits, StoredRow } from './oracle/lost-commits.ts';
import type { Truth } from './oracle/truth.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { Statements } from './statements.ts';
import type { Store } from './store.ts';
import type { Weather } from './weather.ts';

export interface FailoverOptions {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly weather: () => Weather;
  /** A database inside of its process has no standby. */
  readonly isOnServer: boolean;
  readonly lost: LostCommits;
  readonly truth: Truth;
  readonly statements: () => Statements;
  /** Whether the service has begun: what came before is on every standby. */
  readonly hasBegun: () => boolean;
}

/** How likely a commit is the last one that the standby has. */
const replicated = 0.15;

const tables = [
  ...(['banking_sessions', 'jobs', 'pix_transactions', 'pix_timeline'] as const),
  ...(['webhook_events', 'webhook_waits'] as const),
];

const readRows = `
  select id, user_id, idempotency_key, phase, status, end_to_end
    from pix_transactions where operation = 'SEND' order by created_at, id`;

export class Failover {
  readonly #options: FailoverOptions;
  readonly #owner: Owner = { name: 'database' };
  #state: 'none' | 'replicated' | 'begun' = 'none';

  constructor(options: FailoverOptions) {
    this.#options = options;
  }

  /** A statement was committed: the standby may have got this far. */
  async committed(): Promise<void> {
    const { scheduler, weather, isOnServer, hasBegun } = this.#options;
    const { failovers } = weather();
    if (!isOnServer || failovers === 0 || this.#state === 'begun' || !hasBegun()) return;
    if (this.#state === 'replicated' && !scheduler.chance.happens(replicated)) return;
    await this.#keep();
    this.#state = 'replicated';
  }

  /** A step is about to be taken: the server may die. */
  strike(): void {
    const { scheduler, weather } = this.#options;
    if (this.#state !== 'replicated' || !scheduler.chance.happens(weather().failovers)) return;
    this.#state = 'begun';
    scheduler.submit({
      owner: this.#owner,
      label: 'the database fails over',
      run: () => this.#failOver(),
    });
  }

  async #failOver(): Promise<string> {
    const { store, scheduler, lost, truth, statements } = this.#options;
    const before = await store.rows<StoredRow>(readRows);
    await this.#restore();
    const after = await store.rows<StoredRow>(readRows);
    const changed = lost.failedOver(scheduler.taken, before, after);
    for (const row of changed) truth.tookBack(row);
    statements().failOver();
    scheduler.count('failovers');
    if (changed.length > 0) scheduler.count('failovers that lose something of a payment');
    return `${changed.length} transactions go back`;
  }

  /** Beside the tables stand copies of them, made when they are needed first. */
  async #keep(): Promise<void> {
    const { store } = this.#options;
    await store.rows('create schema if not exists standby');
    const copies = tables.map(
      (table) => `
        create table if not exists standby.${table} as table public.${table} with no data;
        delete from standby.${table};
        insert into standby.${table} select * from public.${table};`,
    );
    await store.rows(`do $$ begin ${copies.join('')} end $$`);
  }

  /** Without the triggers that keep what is final. */
  async #restore(): Promise<void> {
    const moves = tables.map(
      (table) => `
        delete from public.${table};
        insert into public.${table} select * from standby.${table};`,
    );
    const text = `set local session_replication_role = replica; ${moves.join('')}`;
    await this.#options.store.rows(`do $$ begin ${text} end $$`);
  }
}
