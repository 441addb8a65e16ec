/** Sends whose connections to the database break under them: none is lost, doubled or made up. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { TestResponse } from '../../support/app.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import { unhurriedTimeoutMs } from '../../support/passing-time.ts';
import { startPixApp } from './pix-app.ts';

// The time passes as the event loop turns, however long the bank's responses wait for a processor.
const app = await startPixApp({
  environment: { PROVIDER_TIMEOUT_MS: String(unhurriedTimeoutMs) },
});

/** Ends the connections of the service that are carrying out a statement about payments. */
async function breakConnections(): Promise<number> {
  const ended = await app.rows(`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and query like '%pix_transactions%' and application_name = 'ponte'`);
  return ended.length;
}

interface Sent {
  readonly key: string;
  readonly responses: readonly TestResponse[];
}

/** How many responses there were so far. */
let answered = 0;

/** So many responses come between two losses, or hardly a payment would come through. */
const responsesBetween = 12;

/** Sends as an app does that never gives up: the same key until it gets the payment. */
async function sendSurely(user: TestUser): Promise<Sent> {
  const key = randomUUID();
  const responses: TestResponse[] = [];
  for (;;) {
    const response = await app.send(user, { pix_key: 'ana@example.com', amount: 1 }, { key });
    responses.push(response);
    answered += 1;
    if (response.status === 200) return { key, responses };
    assert.deepEqual([response.status, response.headers.get('pix-outcome')], [503, 'unknown']);
  }
}

interface StoredSend {
  readonly key: string;
  readonly phase: string;
  readonly end_to_end: string | null;
}

test(
  'each payment is sent at most once, and each response is what is stored',
  onlyOnServer,
  async () => {
    const users = await Promise.all(Array.from({ length: 8 }, () => givenCustomer(app)));
    let broken = 0;
    let accepted = 0;
    let isOver = false;
    // Outcomes are stored with back-off, for which the time has to pass.
    const enough = (next: number) =>
      eventually(async () => {
        await app.clock.advance(2);
        return isOver || answered >= next;
      }, 'responses');
    const lose = async () => isOver || (await breakConnections());
    const breaking = (async () => {
      while (!isOver) {
        const lost = await eventually(lose, 'a loss');
        if (lost !== true) broken += lost;
        await enough(answered + responsesBetween);
      }
    })();
    const sends = await Promise.all(
      users.map(async (user) => {
        const sent: Sent[] = [];
        for (let round = 0; round < 5; round += 1) {
          sent.push(...(await Promise.all([1, 2, 3, 4].map(() => sendSurely(user)))));
        }
        return { user, sent };
      }),
    );
    isOver = true;
    await breaking;
    assert.ok(broken > 0, 'no connection was broken');

    for (const { user, sent } of sends) {
      const stored = await app.rows<StoredSend>(
        `select idempotency_key as key, phase, end_to_end from pix_transactions where user_id = $1`,
        [user.id],
      );
      const byKey = new Map(stored.map((row) => [row.key, row]));
      assert.equal(stored.length, sent.length, 'a send was lost or doubled');
      const executed = await app.executed(user);
      assert.equal(new Set(executed).size, executed.length);
      const storedIds = new Set(stored.map((row) => row.end_to_end));
      assert.ok(
        executed.every((endToEnd) => storedIds.has(endToEnd)),
        'a payment was sent that is not stored',
      );
      for (const { key, responses } of sent) {
        const outcome = responses.at(-1)?.headers.get('pix-outcome');
        const { phase, end_to_end: endToEnd } = byKey.get(key) ?? {};
        const isExecuted = executed.includes(String(endToEnd));
        if (outcome === 'accepted')
          assert.ok(isExecuted, 'a payment was reported that was never sent');
        if (phase === 'RESERVED')
          assert.ok(!isExecuted, 'a payment left before it was written down');
      }
      accepted += sent.filter(
        ({ responses }) => responses.at(-1)?.headers.get('pix-outcome') === 'accepted',
      ).length;
    }
    assert.ok(accepted > 0, 'no payment came through');
  },
);
