/**
 * A failover to an asynchronous standby, as the handbook has it: the last commits are not on the
 * standby. Repeats of lost payments do not pay twice, and the statement brings them back.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, serverPrograms } from '../chaos/cluster.ts';
import { onServer } from '../support/db.ts';
import { freePort } from '../support/free-port.ts';
import { assertEachOnce, PayingApp, ponte, sendsIn } from './paying-app.ts';
import { startSandbox } from './sandbox-process.ts';
import { settingsFor, type Environment } from './service-process.ts';

const programs = serverPrograms();

const skip = programs === null ? "needs PostgreSQL's server programs on this machine" : false;

/** Short, so that the pause after a loss is short: every call has ended after seven seconds. */
const provider = {
  PROVIDER_STUB: 'false',
  PROVIDER_TIMEOUT_MS: '1000',
  PROVIDER_STATEMENT_FINAL: 'true',
};
const maxCallMs = 7_000;

test('a failover to an asynchronous standby', { skip }, async (t) => {
  const cluster = await Cluster.create(programs ?? '', { isSynchronous: false });
  t.after(() => cluster.close());
  const dataDir = await mkdtemp(join(tmpdir(), 'ponte-failover-'));
  t.after(() => rm(dataDir, { recursive: true }));
  const port = await freePort();
  const bank = await startSandbox(t, `http://127.0.0.1:${port}/api/v1/webhooks/provider`);
  const environment: Environment = {
    ...settingsFor({ databaseUrl: cluster.url, dataDir }),
    ...provider,
    DATABASE_FAILOVER: 'asynchronous',
    PROVIDER_BASE_URL: bank,
    PORT: String(port),
  };
  const app = new PayingApp(t, environment);
  await app.start();

  await app.pay('before-1', 'before-2');
  await delayLookUp(bank);
  const halfKnown = app.pay('half-1');
  await until('the standby has the key', async () => {
    const sends = await sendsIn(cluster.standbyUrl);
    return sends.length === 3;
  });
  await cluster.cutReplication();
  await until('the replication has ended', async () => {
    const receivers = await onServer(cluster.standbyUrl, 'select from pg_stat_wal_receiver');
    return receivers.length === 0;
  });
  await halfKnown;
  await app.pay('lost-1', 'lost-2', 'lost-3');
  const paid = new Map(app.paid);
  assert.equal(paid.size, 6);

  const amid = ['amid-1', 'amid-2', 'amid-3', 'amid-4'];
  const interrupted = Promise.all(amid.map((key) => app.send(key).catch(() => null)));
  await cluster.stop('immediate');
  await interrupted;
  await cluster.promote();
  const kept = await sendsIn(cluster.standbyUrl);
  assert.equal(kept.length, 3, 'the failover forgets payments');

  // Before the address of the database moves.
  const since = await lastReplayed(cluster.standbyUrl);
  const there = { ...environment, DATABASE_URL: cluster.standbyUrl };
  await ponte(there, 'pix', 'pause', '--since', since, '--reason', 'failover', '--yes');
  await cluster.takeAddress();

  await t.test(
    'while sends are paused, nothing is sent, and what is stored is answered',
    async () => {
      await until(
        'the service has reconnected',
        async () => (await app.send('before-1')).status === 200,
      );
      for (const key of ['lost-1', 'half-1', 'new-1']) {
        const { status, headers } = await app.send(key);
        assert.equal(status, key === 'half-1' ? 200 : 503, key);
        assert.equal(headers.get('pix-outcome'), 'unknown', key);
      }
    },
  );

  await pause(maxCallMs);
  await ponte(environment, 'pix', 'resume', '--reason', 'promoted', '--yes');

  await t.test('the repeat of every payment finds the one that was made', async () => {
    await app.pay(...paid.keys());
    assert.deepEqual(Object.fromEntries(app.paid), Object.fromEntries(paid));
  });

  await t.test('payments that the failover has interrupted are made once', () => app.pay(...amid));

  await t.test('a new payment is made', () => app.pay('new-1'));

  await t.test('the payments of the bank are the stored ones, each once', () =>
    assertEachOnce({ bank, environment, url: cluster.url, count: app.paid.size }),
  );
});

/** Gives the standby the time to learn of a key before its payment. */
async function delayLookUp(bank: string): Promise<void> {
  const { ok } = await fetch(`${bank}/sandbox/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ faults: 'keys/dict:latency=900ms#1' }),
  });
  assert.ok(ok);
}

/** @returns the time of the last commit that a promoted standby has. */
async function lastReplayed(url: string): Promise<string> {
  const [row] = await onServer<{ at: Date | null }>(
    url,
    'select pg_last_xact_replay_timestamp() as at',
  );
  return row?.at?.toISOString() ?? assert.fail('the standby has replayed nothing');
}

async function until(what: string, isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await isDone().catch(() => false)) return;
    await pause(100);
  }
  assert.fail(`${what}: not within 20 s`);
}
