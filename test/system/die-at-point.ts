/**
 * Makes the process kill itself at one named point of a send, to test what a crash leaves behind.
 * Node loads this file before the service (`--import`). It replaces `src/app/compose.ts` and wraps
 * the database and the provider that are created there, so the service needs no code for it.
 */
import { registerHooks } from 'node:module';
import * as service from '../../src/app/compose.ts';
import type { Database } from '../../src/db/database.ts';
import { moveStatements } from '../../src/ledger/move-repository.ts';
import { paymentStatements } from '../../src/ledger/payment-repository.ts';
import { reservationStatements } from '../../src/ledger/reservation-repository.ts';
import type { Provider } from '../../src/provider/provider.ts';
import { intercepted } from '../support/intercepted.ts';
import type { CrashPoint } from './crash-points.ts';

const point = process.env['CRASH_POINT'] as CrashPoint | undefined;

/** Replaces the function of this name for `src/app/app.ts`. */
export const compose: typeof service.compose = async (...given) => {
  const composed = await service.compose(...given);
  const { context } = composed;
  const deadly = { db: deadlyDatabase(context.db), provider: deadlyProvider(context.provider) };
  return { ...composed, context: { ...context, ...deadly } };
};

registerHooks({
  resolve(specifier, from, resolve) {
    const found = resolve(specifier, from);
    const isComposition = found.url.endsWith('/src/app/compose.ts');
    return isComposition ? { ...found, url: import.meta.url } : found;
  },
});

/** SIGKILL: no handler runs and no buffer is flushed. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  // The signal is asynchronous: until it arrives, the payment must not continue.
  return new Promise<never>(() => undefined);
}

function deadlyDatabase(db: Database): Database {
  return intercepted(db, (run) => async (statement, parameters) => {
    const isReserve = statement === reservationStatements.reserveForSession;
    if (isReserve && point === 'before-reserved') return die();
    const rows = await run(statement, parameters);
    if (isReserve && point === 'after-reserved') return die();
    const step = statement === paymentStatements.step ? parameters['toPhase'] : null;
    if (step === 'PAYING' && point === 'after-paying') return die();
    const isRecord = step === 'ACCEPTED' || statement === moveStatements.move;
    if (isRecord && point === 'after-recorded') return die();
    return rows;
  });
}

function deadlyProvider(provider: Provider): Provider {
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
