/** The sandbox with its parts: the bank, its state file, the delivery of its webhooks. */
import { join } from 'node:path';
import { type Bank, createBank } from '../stub/bank.ts';
import { openStateFile } from '../stub/state-file.ts';
import { ledgerView } from './ledger.ts';
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
  const bank = parts.adopt(openBank(options, post), (opened) => opened.close());
  const sandbox = createSandbox({ ...options, bank, ledger: () => ledgerView(bank.state) });
  parts.defer(() => sandbox.close());
  await sandbox.listen();
  const open = parts.move();
  const { url, calls, queueFaults } = sandbox;
  return { url, calls, queueFaults, bank, close: () => open.disposeAsync() };
}

function openBank(options: OpenSandboxOptions, post: WebhookPost): Bank {
  const { clock, ispb, settleMs, dataDir, openingBalanceCents, onFault } = options;
  return createBank({
    clock,
    ispb,
    settleMs,
    notify: post.notify,
    ...(dataDir !== undefined && { file: openStateFile(join(dataDir, 'sandbox-bank.jsonl')) }),
    ...(openingBalanceCents !== undefined && { openingBalanceCents }),
    ...(onFault && { onFault }),
  });
}

/** Nobody is told, which counts as told. */
const deaf: WebhookPost = { notify: async () => {}, close: async () => {} };
