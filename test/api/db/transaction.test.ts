/** One transaction: every repository function does in it what it does on the pool. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Context } from '../../../src/context/context.ts';
import { batchedStatement, sql } from '../../../src/db/statement.ts';
import { inTransaction, openUnit } from '../../../src/db/unit-of-work.ts';
import { startTestApp } from '../../support/app.ts';
import { customerCases } from './repositories/customers.ts';
import { inspectionCases } from './repositories/inspection.ts';
import { operationCases } from './repositories/operations.ts';
import { paymentCases } from './repositories/payments.ts';
import { givenRows, type Case } from './repositories/seed.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });
const { context } = app;
const seed = await givenRows(app);

const cases = { ...paymentCases, ...operationCases, ...customerCases, ...inspectionCases };

/** Exported functions that reach no database: they write SQL, or read a row. */
const pure = new Set(
  (
    'claimUntil closeness codeHolder codeParameters countRefusedSessions ' +
    'datedReports digestsOf earlierThan emailDigests endUnsent erasedEmail hasEarlierLookUp ' +
    'hasResponse isAbandoned isAccountedFor isActiveSession isBlockedAtStart isRefusal ' +
    'hasLimit isAccounted isBlockedOrder isUnopposed isUnsettled matchesCallId ' +
    'mayHaveLostAttempts mayHaveLostOrders mayMove moveCte moveRow notifyingFinalStatus ' +
    'orderBlock reserveCte reservedRows returningLookUps ' +
    'selectPayers sendAsStored shortTxid targetsAbout toKeyHolder toPayer toSession ' +
    'unblocking wasNotSent'
  ).split(' '),
);

const undone = new Error('undone');

/** @returns what the function does in a transaction, which is rolled back. */
async function inside(work: Case): Promise<unknown> {
  let result: unknown;
  const ended = inTransaction<Context, never>(context, async (transaction) => {
    result = await work(transaction, seed);
    throw undone;
  });
  await assert.rejects(ended, (error) => error === undone);
  return result;
}

/** Replaces the ids that differ in every run: those of version 7 and 4 that the seed lacks. */
function comparable(result: unknown): unknown {
  if (typeof result === 'string') return /^[\da-f]{8}-[\da-f]{4}-[47]/.test(result) ? '#' : result;
  if (Array.isArray(result)) return result.map(comparable);
  if (result === null || typeof result !== 'object' || Object.getPrototypeOf(result) !== proto) {
    return result;
  }
  const entries = Object.entries(result).map(([name, value]) => [name, comparable(value)]);
  return Object.fromEntries(entries);
}

const proto = Object.prototype;

test('every repository function has the same result in a transaction as on the pool', async (t) => {
  for (const [module, functions] of Object.entries(cases)) {
    for (const [name, work] of Object.entries(functions)) {
      await t.test(`${module} ${name}`, async () => {
        const within = comparable(await inside(work));
        assert.deepEqual(within, comparable(await work(context, seed)));
      });
    }
  }
});

test('every repository function has a case', async () => {
  const root = join(import.meta.dirname, '../../../src');
  for (const path of globSync('*/*-repository.ts', { cwd: root })) {
    const module = (await import(join(root, path))) as Record<string, unknown>;
    const functions = Object.entries(module).filter(([, one]) => typeof one === 'function');
    const names = functions.map(([name]) => name).filter((name) => !pure.has(name));
    const found = Object.keys((cases as Record<string, object>)[path] ?? {});
    assert.deepEqual(found.toSorted(), names.toSorted(), path);
  }
});

const double = batchedStatement({
  name: 'test-double',
  parameters: { number: 'int null', at: 'timestamptz' },
  batching: { conflictKey: 'number' },
  text: (requested) => sql<{ twice: number | null; at: Date }>`
    select ordinal, number * 2 as twice, at from ${requested}`,
});

test('batched statements and entities share the commit of a transaction, and its rollback', async () => {
  const at = new Date('2026-05-24T12:00:00.123Z');
  const change = (transaction: Context) => async (name: string) => {
    const { em, User } = await openUnit(transaction.db);
    const user = await em.findOneOrFail(User, { id: seed.otherUserId });
    user.name = name;
    const numbers = [1, 2, null];
    const rows = await Promise.all(
      numbers.map((number) => transaction.db.query(double, { number, at })),
    );
    assert.deepEqual(
      rows.flat().map(({ twice, at: time }) => [twice, time]),
      [2, 4, null].map((twice) => [twice, at]),
    );
  };
  const readName = async () => {
    const text = 'select name from users where id = $1';
    return (await app.rows(text, [seed.otherUserId]))[0]?.['name'];
  };
  await inTransaction(context, (transaction) => change(transaction)('Committed'));
  assert.equal(await readName(), 'Committed');
  const failed = inTransaction(context, async (transaction) => {
    await inTransaction(transaction, (inner) => change(inner)('Undone'));
    throw undone;
  });
  await assert.rejects(failed, (error) => error === undone);
  assert.equal(await readName(), 'Committed');
});

test('a transaction that goes on after a failed statement reports that it was undone', async () => {
  const change = context.db.transaction(async ({ query }) => {
    await query({ name: '', text: 'select nothing from nowhere' }, []).catch(() => undefined);
  });
  await assert.rejects(change, /was undone/);
});
