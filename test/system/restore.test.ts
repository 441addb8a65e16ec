/**
 * The restore of a backup, as the handbook has it: payments that were made after the backup are
 * gone from the database. Their repeats do not pay twice, and the statement brings them back.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createTestDatabase, onServer, type TestDatabase } from '../support/db.ts';
import { freePort } from '../support/free-port.ts';
import { onlyOnServer } from '../support/open-database.ts';
import { startSandbox } from './sandbox-process.ts';
import {
  root,
  settingsFor,
  startService,
  type Environment,
  type ServiceProcess,
} from './service-process.ts';

const execute = promisify(execFile);

/** The programs of the newest installed PostgreSQL, which dumps from every older one. */
const [programs = ''] = globSync('/usr/lib/postgresql/*/bin/pg_dump')
  .toSorted((one, other) => Number(versionOf(other)) - Number(versionOf(one)))
  .map(dirname);

function versionOf(path: string): string {
  return /postgresql\/(\d+)/.exec(path)?.[1] ?? '0';
}

const onlyWithDump = programs === '' ? { skip: 'needs pg_dump in /usr/lib/postgresql' } : {};

/** Short, so that the pause after a loss is short: every call has ended after seven seconds. */
const provider = { PROVIDER_STUB: 'false', PROVIDER_TIMEOUT_MS: '1000' };
const longestCallMs = 7_000;

test('a restore', { ...onlyOnServer, ...onlyWithDump }, async (t) => {
  const database = await createTestDatabase({ isOwn: true });
  t.after(() => database.drop());
  const port = await freePort();
  const bank = await startSandbox(t, `http://127.0.0.1:${port}/api/v1/webhooks/provider`);
  const environment: Environment = {
    ...settingsFor(database),
    ...provider,
    PROVIDER_BASE_URL: bank,
    PORT: String(port),
  };
  const app = new App(t, environment);
  await app.start();

  await app.pay('before-1', 'before-2');
  const since = new Date().toISOString();
  const dump = join(database.dataDir, 'backup');
  await Promise.all([
    execute(join(programs, 'pg_dump'), ['-Fc', '-f', dump, database.ownerUrl ?? '']),
    app.pay(...Array.from({ length: 8 }, (_, nth) => `meanwhile-${nth}`)),
  ]);
  await app.pay('after-1', 'after-2', 'after-3');
  const paid = new Map(app.paid);
  assert.equal(paid.size, 13);

  await app.stop();
  const restore = ['--clean', '--if-exists', '-1', '-d', database.ownerUrl ?? '', dump];
  await execute(join(programs, 'pg_restore'), restore);
  const kept = await sendsIn(database);
  assert.ok(kept.length < paid.size, 'the restore forgets payments');
  await ponte(environment, 'pix', 'pause', '--since', since, '--reason', 'restore', '--yes');
  await app.start();

  await t.test('while sends are paused, nothing is sent', async () => {
    const { status, headers } = await app.send('after-1');
    assert.deepEqual([status, headers.get('pix-outcome')], [503, 'not_sent']);
  });

  await pause(longestCallMs);
  await ponte(environment, 'pix', 'resume', '--reason', 'restored', '--yes');

  await t.test('the repeat of every payment finds the one that was made', async () => {
    await app.pay(...paid.keys());
    assert.deepEqual(Object.fromEntries(app.paid), Object.fromEntries(paid));
  });

  await t.test('a new payment is made', () => app.pay('new-1'));

  await t.test('the payments of the bank are the stored ones, each once', async () => {
    const ledger = await fetch(`${bank}/sandbox/ledger`).then((answer) => answer.json());
    const { payments, refused } = ledger as Ledger;
    const executed = payments.map(({ endToEnd }) => endToEnd).toSorted();
    assert.equal(executed.length, paid.size + 1);
    assert.deepEqual(refused, [], 'the bank had to refuse no second payment');
    const stored = await sendsIn(database);
    assert.deepEqual(stored.map(({ end_to_end: endToEnd }) => endToEnd).toSorted(), executed);
    assert.ok(stored.every(({ status }) => status === 'COMPLETED'));
    const { stdout } = await ponte(environment, 'pix', 'audit');
    assert.match(stdout, /every rule holds/);
  });
});

interface Ledger {
  readonly payments: readonly { readonly endToEnd: string }[];
  readonly refused: readonly unknown[];
}

/** The app of one customer, who pays with the keys that a test names. */
class App {
  /** The end-to-end id of the payment of each key. */
  readonly paid = new Map<string, string>();
  readonly #t: TestContext;
  readonly #environment: Environment;
  #service: ServiceProcess | null = null;
  #token = '';

  constructor(t: TestContext, environment: Environment) {
    this.#t = t;
    this.#environment = environment;
  }

  /** Starts the service, and logs in. */
  async start(): Promise<void> {
    this.#service = startService(this.#t, this.#environment);
    await this.#service.ready();
    this.#token = await this.#service.logIn();
  }

  /** Stops the service. */
  async stop(): Promise<void> {
    this.#running.signal('SIGTERM');
    await this.#running.ended;
  }

  get #running(): ServiceProcess {
    assert.ok(this.#service, 'the service was started');
    return this.#service;
  }

  send(key: string) {
    const body = { pix_key: 'bruno@example.com', amount: 10 };
    return this.#running.call('/pix/send', { token: this.#token, key, body });
  }

  /** Pays with each key, or repeats the payment, and waits until all are completed. */
  async pay(...keys: readonly string[]): Promise<void> {
    await Promise.all(keys.map((key) => this.#payWith(key)));
  }

  async #payWith(key: string): Promise<void> {
    const { status, body } = await this.send(key);
    assert.equal(status, 200, `${key}: ${JSON.stringify(body)}`);
    this.paid.set(key, String(body.end_to_end));
    for (let tries = 0; tries < 60; tries += 1) {
      const read = await this.#running.call(`/pix/${body.transaction_id}`, { token: this.#token });
      if (read.body.status === 'COMPLETED') return;
      await pause(500);
    }
    const shown = await ponte(this.#environment, 'pix', 'show', body.transaction_id);
    assert.fail(`${key} is not completed: ${shown.stdout}`);
  }
}

function sendsIn({ ownerUrl }: TestDatabase) {
  return onServer<{ end_to_end: string; status: string }>(
    ownerUrl ?? '',
    `select end_to_end, status from pix_transactions where operation = 'SEND'`,
  );
}

/** Runs the command line beside the service, or without one. */
function ponte(environment: Environment, ...argv: readonly string[]) {
  const command = [join(root, 'bin', 'ponte.ts'), ...argv];
  return execute(process.execPath, command, { env: { ...process.env, ...environment } });
}
