/**
 * An asynchronous failover: the store returns to an earlier commit, and every connection breaks. A
 * history has one at most. As the handbook says, sends are paused before the new server takes
 * connections, and an operator resumes them.
 */
import { repeatNotes } from '../../src/domain/pix.ts';
import { beginPause } from '../../src/ledger/pause-repository.ts';
import type { Snapshot } from '../postgres-model/database.ts';
import type { Disputes } from './oracle/disputes.ts';
import type { LostCommits, StoredRow } from './oracle/lost-commits.ts';
import type { Oracle } from './oracle/oracle.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { Store } from './store.ts';
import type { FaultProfile } from './fault-profile.ts';

export interface FailoverOptions {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
  /** An embedded database has no standby. */
  readonly isOnServer: boolean;
  readonly lost: LostCommits;
  readonly oracle: Oracle;
  readonly disputes: Disputes;
  /** Called after the store was restored. */
  readonly failedOver: () => void;
  /** An operator resumes the sends, which are paused. */
  readonly recover: () => void;
  /** Whether the service has begun: commits before that are never lost. */
  readonly hasBegun: () => boolean;
}

/** How likely the standby receives a commit. */
const replicated = 0.15;

const readRows = `
  select id, user_id, idempotency_key, phase, status, end_to_end,
         (select count(*)::int from pix_timeline l
           where l.transaction_id = t.id and l.note = '${repeatNotes.unknown}') as repeats
    from pix_transactions t where operation = 'SEND' order by created_at, id`;

const readReturns = `
  select user_id, idempotency_key, status from pix_transactions where operation = 'REFUND_OUT'`;

const readBlocked = `select user_id from accounts where status = 'BLOCKED' order by user_id`;

interface Standby {
  readonly contents: Snapshot;
  /** Later commits are lost. */
  readonly since: Date;
}

export class Failover {
  readonly #options: FailoverOptions;
  readonly #owner: Owner = { name: 'database' };
  /** The contents of the standby; null: none yet, or it has taken over. */
  #standby: Standby | null = null;
  #isOver = false;

  constructor(options: FailoverOptions) {
    this.#options = options;
  }

  /** A statement was committed: the standby may receive it. */
  committed(): void {
    const { store, scheduler, profile, isOnServer, hasBegun } = this.#options;
    const { failovers } = profile();
    if (!isOnServer || failovers === 0 || this.#isOver || !hasBegun()) return;
    if (this.#standby && !scheduler.chance.happens(replicated)) return;
    this.#standby = { contents: store.snapshot(), since: new Date(scheduler.nowMs) };
  }

  /** A step is about to run: the server may fail. */
  strike(): void {
    const { scheduler, profile } = this.#options;
    const standby = this.#standby;
    if (!standby || !scheduler.chance.happens(profile().failovers)) return;
    this.#standby = null;
    this.#isOver = true;
    scheduler.submit({
      owner: this.#owner,
      label: 'the database fails over',
      run: () => this.#failOver(standby),
    });
  }

  async #failOver({ contents, since }: Standby): Promise<string> {
    const { store, scheduler, lost, oracle, disputes, failedOver, recover } = this.#options;
    const before = await store.rows<StoredRow>(readRows);
    const disputesBefore = await disputes.stored.read();
    await store.restore(contents);
    const after = await store.rows<StoredRow>(readRows);
    const changed = lost.failedOver(scheduler.taken, before, after);
    for (const row of changed) oracle.rolledBack(row);
    disputes.rolledBack(disputesBefore, await disputes.stored.read(), changed);
    oracle.returns.rolledBack(await store.rows(readReturns));
    oracle.accounts.rolledBack(await store.rows(readBlocked));
    const clock = scheduler.getClock(this.#owner);
    const reason = 'the database has failed over';
    await beginPause({ db: store.db, clock }, { by: 'operator', reason, lostSince: since });
    failedOver();
    recover();
    scheduler.count('failovers');
    if (changed.length > 0) scheduler.count('failovers that change a payment');
    return `${changed.length} transactions change`;
  }
}
