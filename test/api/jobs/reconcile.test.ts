/** The daily reconciliation: the provider's statement against what is stored, line by line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reconcile } from '../../../src/jobs/reconcile.ts';
import { auditPix } from '../../../src/operator/pix-audit.ts';
import { startPixApp } from '../pix/pix-app.ts';
import { logIn } from '../../support/factories.ts';
import { givenUnheard, loseADay, unheard } from './lost-webhooks.ts';

const app = await startPixApp({ environment: { JOBS: 'off' } });

const hourMs = 60 * 60_000;
const job = { id: '0', kind: 'reconcile', payload: {}, attempt: 1, worker: 'test' } as const;
const run = (context = app.context) => reconcile.run(context, job);

interface DifferenceRow {
  readonly kind: string;
  readonly reason: string;
  readonly subject: string;
  readonly closed_as: string | null;
}

const differencesOf = (userId: number) =>
  app.rows<DifferenceRow>(
    `select kind, reason, subject, closed_as from reconciliation_differences
      where user_id = $1 order by kind, reason, subject`,
    [userId],
  );

interface Movement {
  readonly operation: string;
  readonly status: string;
  readonly amount: string;
}

const movementsOf = (userId: number) =>
  app.rows<Movement>(
    `select operation, status, amount from pix_transactions where user_id = $1
      order by operation, amount`,
    [userId],
  );

test('a day with lost webhooks of every kind is brought in', async () => {
  const user = await givenUnheard(app);
  const day = await loseADay(app, user);
  await app.clock.advance(15 * hourMs);
  assert.equal(await run(), undefined);
  assert.deepEqual(await differencesOf(user.id), [], 'the day is not over by an hour');
  await app.clock.advance(hourMs);
  await logIn(app, unheard);
  await run();
  const ended = await movementsOf(user.id);
  assert.deepEqual(
    ended.map(({ operation, status, amount }) => `${operation} ${amount} ${status}`),
    [
      'CHARGE 15.00 COMPLETED',
      'RECEIVED 42.50 COMPLETED',
      'REFUND_IN 7.00 COMPLETED',
      'REFUND_OUT 2.50 COMPLETED',
      'SEND 11.00 COMPLETED',
      'SEND 12.00 PROCESSING',
      'SEND 13.00 COMPLETED',
      'SEND 14.00 COMPLETED',
    ],
  );
  assert.equal((await app.timeline(day.completed.id)).at(-1), 'SETTLED found_in_statement');
  const corrected = 'SETTLED corrected found_in_statement';
  assert.equal((await app.timeline(day.paidAfterAll.id)).at(-1), corrected);
  // A statement never proves a failure.
  const open = { kind: 'OTHER_STATUS', reason: 'failed_there', subject: day.failed.end_to_end };
  assert.deepEqual(await differencesOf(user.id), [{ ...open, closed_as: null }]);
  const audit = await auditPix.run(
    app.context,
    {},
    { operator: 'test', progress: () => undefined },
  );
  assert.deepEqual(
    audit.invariants.filter(({ broken }) => broken > 0),
    [],
  );
});
