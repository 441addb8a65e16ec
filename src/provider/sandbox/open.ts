/** The sandbox with all that stands behind it: the bank, its journal, the way of its webhooks. */
import { join } from 'node:path';
import { type Bank, createBank } from '../stub/bank.ts';
import { openJournal } from '../stub/journal.ts';
import { RememberingJournal } from './ledger.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from './server.ts';
import { createWebhookPost, type WebhookPost, type WebhookTarget } from './webhook-post.ts';

export interface OpenSandboxOptions extends Omit<SandboxOptions, 'bank' | 'ledger'> {
  /** The bank's identifier: its end-to-end ids begin with it. */
  readonly ispb: string;
  /** How long after a payment its webhook is posted; 0: never by itself. */
  readonly settleMs: number;
  /** Who is told; nobody unless given. */
  readonly webhook?: WebhookTarget;
  /** Keeps the bank's state in this folder; without it, in memory only. */
  readonly dataDir?: string;
  readonly openingBalanceCents?: number;
}

/** A sandbox that listens; closing it closes the bank too. */
export interface OpenSandbox extends Omit<Sandbox, 'listen'> {
  readonly bank: Bank;
}

/**
 * Opens a bank and serves it.
 *
 * @throws FaultSyntaxError when it cannot read the faults, Error when it cannot listen or when the
 *   folder holds something else; nothing stays open then.
 */
export async function openSandbox(options: OpenSandboxOptions): Promise<OpenSandbox> {
  await using parts = new AsyncDisposableStack();
  const { clock, webhook } = options;
  const post = webhook === undefined ? deaf : createWebhookPost(webhook, clock);
  parts.defer(() => post.close());
  const journal = new RememberingJournal(await fileOf(options));
  const bank = parts.adopt(bankOf(options, journal, post), (opened) => opened.close());
  const sandbox = createSandbox({ ...options, bank, ledger: () => journal.view() });
  parts.defer(() => sandbox.close());
  await sandbox.listen();
  const open = parts.move();
  const { url, calls, queueFaults } = sandbox;
  return { url, calls, queueFaults, bank, close: () => open.disposeAsync() };
}

function bankOf(options: OpenSandboxOptions, journal: RememberingJournal, post: WebhookPost): Bank {
  const { clock, ispb, settleMs, openingBalanceCents, onFault } = options;
  return createBank({
    clock,
    ispb,
    settleMs,
    journal,
    notify: post.notify,
    ...(openingBalanceCents !== undefined && { openingBalanceCents }),
    ...(onFault && { onFault }),
  });
}

async function fileOf({ dataDir }: OpenSandboxOptions) {
  return dataDir === undefined ? null : openJournal(join(dataDir, 'sandbox-bank.jsonl'));
}

/** Nobody is told, which counts as told. */
const deaf: WebhookPost = { notify: async () => {}, close: async () => {} };
