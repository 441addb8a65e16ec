/**
 * Dying on purpose, to prove what a death leaves behind: the process kills itself at one named
 * point of a send. It wraps the database and the provider from outside, so that nothing on a
 * payment's way knows of it, and the configuration refuses it outside `local` and `test`.
 */
import type { CrashPoint } from './config.ts';
import { moveTransaction } from './db/queries/move-transaction.ts';
import { reserveSend } from './db/queries/reserve-send.ts';
import { stepSend } from './db/queries/step-send.ts';
import type { Database } from './db/database.ts';
import type { Provider } from './provider/provider.ts';

/** SIGKILL: no handler runs, no buffer is flushed, as in a power cut of the process. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  // The signal is on its way; nothing may happen in between.
  return new Promise<never>(() => undefined);
}

/** @returns the database, deadly at the point. */
export function deadlyDatabase(db: Database, point: CrashPoint | undefined): Database {
  if (point === undefined) return db;
  return {
    ...db,
    async query(statement, parameters) {
      const isReserve = statement === reserveSend;
      if (isReserve && point === 'before-reserved') return die();
      const rows = await db.query<never>(statement, parameters);
      if (isReserve && point === 'after-reserved') return die();
      const step = statement === stepSend ? parameters[1] : null;
      if (step === 'PAYING' && point === 'after-paying') return die();
      const isRecord = step === 'ACCEPTED' || statement === moveTransaction;
      if (isRecord && point === 'after-recorded') return die();
      return rows;
    },
  };
}

/** @returns the provider, deadly at the point. */
export function deadlyProvider(provider: Provider, point: CrashPoint | undefined): Provider {
  if (point === undefined) return provider;
  return {
    ...provider,
    async lookUpKey(...call) {
      const owner = await provider.lookUpKey(...call);
      return point === 'after-look-up' ? die() : owner;
    },
    async pay(...call) {
      const receipt = await provider.pay(...call);
      return point === 'after-payment' ? die() : receipt;
    },
  };
}
