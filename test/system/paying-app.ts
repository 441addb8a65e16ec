/** An app that pays, through a loss of commits, and what holds afterwards. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { onServer } from '../support/db.ts';
import { root, startService, type Environment, type ServiceProcess } from './service-process.ts';

const execute = promisify(execFile);

interface Ledger {
  readonly payments: readonly { readonly endToEnd: string }[];
  readonly refused: readonly unknown[];
}

/** The app of one customer, who pays with the keys that a test names. */
export class PayingApp {
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

/** @returns the sends that a database has. */
export function sendsIn(url: string) {
  return onServer<{ end_to_end: string; status: string }>(
    url,
    `select end_to_end, status from pix_transactions where operation = 'SEND'`,
  );
}

interface Payments {
  /** The address of the sandbox. */
  readonly bank: string;
  readonly environment: Environment;
  /** The address of the database. */
  readonly url: string;
  readonly count: number;
}

/** Asserts that the payments of the bank are the stored ones, each made once and COMPLETED. */
export async function assertEachOnce(of: Payments): Promise<void> {
  const ledger = await fetch(`${of.bank}/sandbox/ledger`).then((response) => response.json());
  const { payments, refused } = ledger as Ledger;
  const executed = payments.map(({ endToEnd }) => endToEnd).toSorted();
  assert.equal(executed.length, of.count);
  assert.deepEqual(refused, [], 'the bank had to refuse no second payment');
  const stored = await sendsIn(of.url);
  assert.deepEqual(stored.map(({ end_to_end: endToEnd }) => endToEnd).toSorted(), executed);
  assert.ok(stored.every(({ status }) => status === 'COMPLETED'));
  const { stdout } = await ponte(of.environment, 'pix', 'audit');
  assert.match(stdout, /every rule holds/);
}

/** Runs the command line beside the service, or without one. */
export function ponte(environment: Environment, ...argv: readonly string[]) {
  const command = [join(root, 'bin', 'ponte.ts'), ...argv];
  return execute(process.execPath, command, { env: { ...process.env, ...environment } });
}
