/**
 * How the statements of a payment's way find their rows: by the index that names one row, while the
 * tables are empty as well as when one user has most of what is in them.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { hotStatements } from '../../../src/app/hot-statements.ts';
import type { Database, Statement } from '../../../src/db/database.ts';
import { indexedSettings } from '../../../src/db/pool.ts';
import { resolveListStatements } from '../../../src/operator/pix-resolve-list-repository.ts';
import { unknownStatements } from '../../../src/operator/unknown-repository.ts';
import { correctionStatements } from '../../../src/ledger/correction-repository.ts';
import { overruleStatements } from '../../../src/ledger/overrule-repository.ts';
import { readPage, readReceipt } from '../../../src/ledger/history-repository.ts';
import { lostSendStatements } from '../../../src/ledger/lost-send-repository.ts';
import { transactionStatements } from '../../../src/ledger/pix-transaction-repository.ts';
import { closedKeyStatements } from '../../../src/ledger/closed-key-repository.ts';
import { returnReservationStatements } from '../../../src/ledger/return-reservation-repository.ts';
import { sightStatements } from '../../../src/settlement/statement-sight-repository.ts';
import { limitStatements } from '../../../src/ledger/spending-limit-repository.ts';
import { sweepStatements } from '../../../src/ledger/sweep-repository.ts';
import { reversalStatements } from '../../../src/ledger/reversal-repository.ts';
import { findWebhookEvent } from '../../../src/settlement/event-repository.ts';
import { recordRefund } from '../../../src/ledger/refund-repository.ts';
import { identifyPayment, recordReceived } from '../../../src/ledger/transaction-repository.ts';
import type { Prepared } from '../../../src/db/batcher.ts';
import { openTestDatabase } from '../../support/open-database.ts';

const nilUuid = '00000000-0000-0000-0000-000000000000';

const { db, rows } = await openTestDatabase();

type Store = Parameters<typeof readPage>[0];

/** The statement of a read that has one. */
async function captureStatement(read: (store: Store) => Promise<unknown>): Promise<Statement> {
  const executed: Statement[] = [];
  const query = (statement: Statement) => Promise.resolve(void executed.push(statement));
  const store = { db: { query } as unknown as Database, clock: { now: () => new Date(0) } };
  // There is no response to read.
  await read(store as Store).catch(() => undefined);
  const [statement] = executed;
  assert.ok(statement);
  return statement;
}

const caller = { sessionId: nilUuid, userId: 1 } as Parameters<typeof readPage>[1];
const receipt = await captureStatement((store) => readReceipt(store, caller, nilUuid));
const page = await captureStatement((store) =>
  readPage(store, caller, {
    operation: null,
    status: null,
    limit: 1,
    from: new Date(0),
    before: { createdAt: new Date(0), id: nilUuid },
  }),
);

/** Indexes that find many rows: all of a user, all that are not over. */
const wide =
  /transactions_(?:stat|unset)|events_(?!pkey|payload|\d)|jobs_(?:due|lea)|sessions_(?!pkey)/;

const statements: readonly Statement[] = [
  ...hotStatements,
  findWebhookEvent,
  identifyPayment,
  recordReceived,
  recordRefund,
  closedKeyStatements.close,
  returnReservationStatements.reserve,
  receipt,
  transactionStatements.storeAnomaly,
];

/** Statements of corrections, of the sweep and of operators, which may read more than one row. */
const rareStatements: readonly Statement[] = [
  ...Object.values(correctionStatements),
  ...Object.values(overruleStatements),
  lostSendStatements.findKnown,
  lostSendStatements.findHolder,
  lostSendStatements.findReturns,
  lostSendStatements.storeAgain,
  ...Object.values(resolveListStatements),
  ...Object.values(sightStatements),
  ...Object.values(reversalStatements),
  ...Object.values(sweepStatements),
  ...Object.values(unknownStatements),
];

/** A statement, and its form for one call if it is batched. */
const formsOf = (statement: Statement): readonly Prepared[] =>
  statement.alone ? [statement, statement.alone] : [statement];

/** The lines of a plan, as a connection with some settings makes it for some values. */
async function explainPlan(
  { text }: Prepared,
  values: string,
  settings: readonly string[] = [],
): Promise<string[]> {
  const unit = await db.em();
  return unit.transactional(async (em) => {
    for (const setting of settings) {
      const [name, value] = setting.split('=');
      await em.execute(`set local ${name} = ${value}`);
    }
    await em.execute(`prepare planned as ${text}`);
    const plan = await em.execute<{ 'QUERY PLAN': string }[]>(`explain execute planned(${values})`);
    await em.execute('deallocate planned');
    return plan.map((line) => line['QUERY PLAN']);
  });
}

/** The lines of a plan that read a table; by default as the connections of batches make it. */
async function countScans(
  statement: Prepared,
  settings: readonly string[] = indexedSettings,
): Promise<string[]> {
  const parameters = new Set(statement.text.match(/\$\d+/g));
  const nulls = [...parameters].map(() => 'null').join(', ');
  const plan = await explainPlan(statement, nulls, settings);
  return plan.filter((line) => / Scan (?:Backward )?(?:using \S+ )?on /.test(line));
}

/** Whether a judgement reads what a user has sent since the limit was renewed. */
function isSumOfPeriod({ name }: Prepared, scan: string): boolean {
  const ofUser = 'Scan using pix_transactions_statement on pix_transactions t';
  return name.startsWith(limitStatements.read.name) && scan.includes(ofUser);
}

function findsByName(): void {
  for (const statement of statements.flatMap(formsOf)) {
    test(statement.name, async () => {
      const scans = await countScans(statement);
      assert.ok(scans.length > 0, 'the plan reads something');
      for (const scan of scans) {
        assert.doesNotMatch(scan, /Seq Scan/);
        if (!isSumOfPeriod(statement, scan)) assert.doesNotMatch(scan, wide);
      }
    });
  }
}

describe('on empty tables', findsByName);

describe('when one user has most of the transactions', () => {
  before(async () => {
    await rows(`
      insert into users (name, email, password_hash, created_at, updated_at)
      select 'Ana', 'ana' || n || '@example.com', 'none', now(), now()
        from generate_series(1, 2000) n`);
    await rows(`
      insert into pix_transactions (id, user_id, operation, idempotency_key, fingerprint, status,
             phase, outcome, amount, end_to_end, provider_txid, created_at, updated_at, settled_at)
      select gen_random_uuid(), case when n % 10 = 0 then users.id else first.id end, 'SEND',
             'key-' || n, '\\x00', 'COMPLETED', 'SETTLED', 'accepted', 1, 'E' || n, 'T' || n, now(),
             now(), now()
        from generate_series(1, 20000) n
        join users on users.email = 'ana' || (1 + n % 2000) || '@example.com',
             (select min(id) as id from users) first`);
    await rows(`
      insert into pix_timeline (transaction_id, phase, at)
      select id, 'SETTLED', now()
        from pix_transactions`);
    await rows('analyze');
  });

  findsByName();

  test('a page of transactions is read from its position on, whatever it filters', async () => {
    const [busiest] = await rows<{ id: number }>('select min(id) as id from users');
    assert.ok(busiest);
    const session = `'${nilUuid}', ${busiest.id}, now()`;
    const period = `now() - interval '1 month', now(), '${nilUuid}'`;
    for (const filter of ['null, null', `'RECEIVED', 'FAILED'`]) {
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        const values = `${session}, ${period}, ${filter}, 101`;
        const plan = (await explainPlan(page, values, [`plan_cache_mode=${mode}`])).join('\n');
        assert.match(plan, /Limit[^]*Index Scan Backward using pix_transactions_statement on .* t/);
        assert.match(plan, /Index Scan using pix_transactions_end_to_end_unique on .* charge/);
        assert.match(plan, /Index Cond: .*user_id = u\.id.*ROW\(/);
      }
    }
  });

  // A call whose batch has failed, and each of a transaction, has a connection that may read whole
  // tables.
  for (const statement of statements.flatMap(({ alone }) => alone ?? [])) {
    test(`${statement.name} finds transactions by their index on any connection`, async () => {
      const scans = await countScans(statement, ['plan_cache_mode=force_generic_plan', 'jit=off']);
      for (const scan of scans) assert.doesNotMatch(scan, /Seq Scan on pix_transactions/);
    });
  }

  for (const statement of rareStatements) {
    test(`${statement.name} finds transactions and their steps by an index`, async () => {
      const scans = await countScans(statement, ['plan_cache_mode=force_generic_plan', 'jit=off']);
      assert.ok(scans.length > 0, 'the plan reads something');
      // The open ones and the pauses are few rows, no statement was read, and no line was found.
      const whole = /Seq Scan on pix_(?!open|pauses|limits)/;
      for (const scan of scans) assert.doesNotMatch(scan, whole);
    });
  }

  test('a statement finds the charge of a received PIX by its end-to-end id', async () => {
    const [busiest] = await rows<{ id: number }>('select min(id) as id from users');
    assert.ok(busiest);
    const month = `${busiest.id}, now() - interval '1 month', now(), 1001`;
    const plan = await explainPlan(transactionStatements.listOfUser, month);
    assert.match(
      plan.join('\n'),
      /Index Scan using pix_transactions_end_to_end_unique on .* charge/,
    );
  });
});

test('accepting or settling a payment changes nothing that an index of its row names', async () => {
  const named = await rows<{ column: string }>(`
    select distinct attname as "column" from pg_index i
      join pg_attribute a on attrelid = indrelid
       and (attnum = any(indkey) or exists
             (select from pg_depend where objid = indexrelid and refobjid = indrelid
                 and refobjsubid = attnum))
     where indrelid = 'pix_transactions'::regclass order by 1`);
  assert.deepEqual(
    named.map(({ column }) => column),
    [
      'code_digest',
      'code_key_digest',
      'code_payee_digest',
      'corrected_at',
      'created_at',
      'end_to_end',
      'id',
      'idempotency_key',
      'operation',
      'original_id',
      'received_txid',
      'transaction_identification',
      'user_id',
    ],
  );
});
