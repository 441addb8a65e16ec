/**
 * Outages of the database at each step of many concurrent sends. When the database is back, the
 * process stores everything that it knows about each payment.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { auditPix } from '../../src/operator/pix-audit.ts';
import { eventually, startPixApp, type PixApp } from '../api/pix/pix-app.ts';
import type { TestResponse } from '../support/app.ts';
import { startDatabaseProxy, type CutSide, type DatabaseProxy } from '../support/database-proxy.ts';
import { createTestDatabase } from '../support/db.ts';
import { givenCustomer, type TestUser } from '../support/factories.ts';
import { onlyOnServer } from '../support/open-database.ts';

/** A text that only the statement of this step contains. RESOLVED is committed with PAYING. */
const steps = {
  'the claim of the key': 'pix-reserve-send',
  'the commit of PAYING': '"PAYING"',
  'the acceptance': '"ACCEPTED"',
  'the refusal': '"REJECTED"',
} as const;

const sides: readonly CutSide[] = ['before', 'after'];

/** The durations of the outages, in seconds on the service's clock. */
const spans = [3, 10, 30] as const;

/** Three attempts of 5 s, one more in the queue, and two back-offs. */
const claimSeconds = 22;

/** The numbers of concurrent sends. */
const groups = [256, 16, 64] as const;

const users = 8;

interface StoredSend {
  readonly idempotency_key: string;
  readonly phase: string;
  readonly status: string;
  readonly end_to_end: string | null;
  readonly outcome: string | null;
}

interface Outage {
  readonly marker: string;
  readonly side: CutSide;
  readonly seconds: number;
  readonly sends: number;
}

/** The bank's response to each payment, by end-to-end id. */
type BankOutcomes = ReadonlyMap<string, 'done' | 'refused'>;

test('outages of the database', onlyOnServer, async (t) => {
  const database = await createTestDatabase();
  const proxy = await startDatabaseProxy(database.databaseUrl ?? '');
  const app = await startPixApp({
    database: { ...database, databaseUrl: proxy.url },
    environment: {
      PROVIDER_TIMEOUT_MS: '5000',
      JWT_TTL_SECONDS: '86400',
      MAX_CONNECTIONS_PER_ADDRESS: '1000',
    },
  });
  t.after(async () => {
    await app.stop();
    await proxy.cut();
    await database.drop();
  });
  const answered = new Map<string, 'done' | 'refused'>();
  const { pay } = app.bank;
  t.mock.method(app.bank, 'pay', async (...call: Parameters<typeof pay>) => {
    const response = await pay.apply(app.bank, call);
    assert.ok(response.outcome !== 'faulty');
    answered.set(call[1].endToEnd, response.outcome);
    return response;
  });
  const customers = await Promise.all(Array.from({ length: users }, () => givenCustomer(app)));

  let nth = 0;
  for (const [step, marker] of Object.entries(steps)) {
    for (const side of sides) {
      for (const seconds of spans) {
        const sends = groups[nth % groups.length] ?? 1;
        nth += 1;
        await t.test(`${seconds} s from ${side} ${step}, ${sends} sends`, async () => {
          const outage = { marker, side, seconds, sends };
          await goThrough({ app, proxy, customers }, outage, answered);
        });
      }
    }
  }
  assert.deepEqual(new Set(answered.values()), new Set(['done', 'refused']));
  await t.test('leave nothing open, and the audit finds nothing', () => endsWell(app));
});

interface Trial {
  readonly app: PixApp;
  readonly proxy: DatabaseProxy;
  readonly customers: readonly TestUser[];
}

async function goThrough(trial: Trial, outage: Outage, answered: BankOutcomes): Promise<void> {
  const { app, proxy } = trial;
  const { marker, side, seconds, sends } = outage;
  const prefix = randomUUID();
  const isCut = proxy.cutAt(marker, side);
  let open = sends;
  const responses = Array.from({ length: sends }, (_, nth) =>
    send(trial, prefix, nth).finally(() => (open -= 1)),
  );
  const ended = Promise.all(responses);
  ended.catch(() => undefined);
  await Promise.race([isCut, ended]);
  await pass(app, seconds * 1_000);
  const isAnswered = marker === steps['the acceptance'] || marker === steps['the refusal'];
  const isKept = app.context.outcomes.size > 0;
  assert.ok(isKept || seconds < claimSeconds || !isAnswered, 'no outcome has outlasted its claim');
  await proxy.mend();
  await eventually(async () => {
    await pass(app, 1_000);
    return open === 0 && app.context.outcomes.size === 0;
  });
  const rows = await app.rows<StoredSend>(
    `select * from pix_transactions where idempotency_key like $1 || '-%'`,
    [prefix],
  );
  const stored = new Map(rows.map((row) => [row.idempotency_key, row]));
  for (const [nth, response] of (await ended).entries()) {
    checkSend(stored.get(makeKey(prefix, nth)), response, answered);
  }
}

function makeKey(prefix: string, nth: number): string {
  return `${prefix}-${nth}`;
}

function send({ app, customers }: Trial, prefix: string, nth: number): Promise<TestResponse> {
  const user = customers[nth % customers.length];
  assert.ok(user);
  const key = nth % 3 === 0 ? 'reject@ponte.test' : 'ana@example.com';
  return app.send(user, { pix_key: key, amount: 0.01 }, { key: makeKey(prefix, nth) });
}

/** Advances the clock in steps of 500 ms; between them the service does its due work. */
async function pass(app: PixApp, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 500) {
    await app.clock.advance(500);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Asserts that the stored send and the app's response agree with the bank's response. */
function checkSend(
  stored: StoredSend | undefined,
  response: TestResponse,
  answered: BankOutcomes,
): void {
  const banked = answered.get(stored?.end_to_end ?? '');
  const outcome = response.headers.get('pix-outcome');
  const shown = JSON.stringify({ ...stored, banked, status: response.status, outcome });
  switch (banked) {
    case 'done':
      // After a long outage the sweep may find the payment in the statement first.
      assert.ok(stored?.phase === 'ACCEPTED' || stored?.status === 'COMPLETED', shown);
      assert.equal(stored.outcome, 'accepted', shown);
      assert.deepEqual([response.status, outcome], [200, 'accepted'], shown);
      break;
    case 'refused':
      assert.deepEqual([stored?.phase, stored?.status], ['REJECTED', 'FAILED'], shown);
      assert.ok(outcome === 'rejected' || outcome === 'unknown', shown);
      break;
    case undefined:
      // Nothing was sent: a repeat continues the send, or the sweep fails it.
      if (stored && stored.status === 'PROCESSING') assert.equal(stored.phase, 'RESERVED', shown);
      if (stored?.status === 'FAILED') assert.equal(stored.outcome, 'not_sent', shown);
      if (response.status === 502) {
        // Its deadline passed before the first attempt: it fails, and the response reports that.
        assert.deepEqual([stored?.status, outcome], ['FAILED', 'not_sent'], shown);
      } else {
        assert.ok(response.status === 503 && (outcome === 'unknown' || outcome === null), shown);
      }
  }
}

async function endsWell(app: PixApp): Promise<void> {
  await eventually(async () => {
    await pass(app, 10_000);
    const open = await app.rows(
      `select phase from pix_transactions where status = 'PROCESSING' and phase <> 'ACCEPTED'`,
    );
    return open.length === 0;
  });
  const { ok, checked, invariants } = await auditPix.run(
    app.context,
    {},
    { operator: 'test', progress: () => undefined },
  );
  assert.deepEqual(
    invariants.filter(({ broken }) => broken > 0),
    [],
  );
  assert.ok(ok && checked.transactions > 0);
}
