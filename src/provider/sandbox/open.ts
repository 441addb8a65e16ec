/** The sandbox with its parts: the bank, its state file, the delivery of its webhooks. */
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { createPooledClient } from '../http/pool.ts';
import { type Bank, createBank } from './bank/bank.ts';
import { type Scenario, scenarios } from './bank/scenarios.ts';
import { openStateFile } from './bank/state-file.ts';
import type { Notify } from './bank/webhooks.ts';
import { type Sandbox, serveBank, type ServerOptions } from './server.ts';

export type { Sandbox } from './server.ts';

export interface OpenSandboxOptions extends Omit<ServerOptions, 'bank'> {
  /** The bank's identifier: its end-to-end ids begin with it. */
  readonly ispb: string;
  /** Milliseconds from a payment to its webhook; 0: never by itself. */
  readonly settleMs: number;
  /** Receives the webhooks; by default, none are sent. */
  readonly webhook?: WebhookTarget;
  /** Keeps the bank's state in this folder; without it, in memory only. */
  readonly dataDir?: string;
  readonly openingBalanceCents?: number;
}

/**
 * Opens a bank and serves it; closing the sandbox closes the bank too.
 *
 * @throws FaultSyntaxError for invalid fault rules, Error when it cannot listen or the folder holds
 *   an unreadable state; everything is closed then.
 */
export async function openSandbox(options: OpenSandboxOptions): Promise<Sandbox> {
  await using parts = new AsyncDisposableStack();
  const { clock, webhook } = options;
  const post = webhook === undefined ? noPost : createWebhookPost(webhook, clock);
  parts.defer(() => post.close());
  const bank = parts.adopt(openBank(options, post), (opened) => opened.close());
  const sandbox = parts.adopt(await serveBank({ ...options, bank }), (served) => served.close());
  const open = parts.move();
  return { ...sandbox, close: () => open.disposeAsync() };
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

/** Without a receiver, each webhook counts as received. */
const noPost: WebhookPost = { notify: async () => {}, close: async () => {} };

interface WebhookTarget {
  readonly url: string;
  /** Sent in `X-Webhook-Secret`. */
  readonly secret?: string | undefined;
}

interface WebhookPost {
  /** Rejects unless the response is 200: the bank then posts the webhook again. */
  readonly notify: Notify;
  close(): Promise<void>;
}

/** After this time, the webhook counts as not received. */
const openTimeoutMs = 10_000;

/** Creates the client of a receiver of webhooks. */
function createWebhookPost({ url, secret }: WebhookTarget, clock: Clock): WebhookPost {
  const { origin, pathname, search } = new URL(url);
  const client = createPooledClient({ baseUrl: origin, timeoutMs: openTimeoutMs });
  const closing = new AbortController();
  return {
    async notify(payload) {
      const late = new AbortController();
      const cancel = clock.after(openTimeoutMs, () => late.abort(new Error('no response in time')));
      try {
        const { status } = await client.send({
          method: 'POST',
          path: pathname + search,
          body: payload,
          signal: AbortSignal.any([late.signal, closing.signal]),
          ...(secret !== undefined && { headers: { 'x-webhook-secret': secret } }),
        });
        if (status !== 200) throw new Error(`the webhook was answered with ${status}`);
      } finally {
        cancel();
      }
    },
    async close() {
      closing.abort(new Error('the sandbox is closing'));
      await client.close();
    },
  };
}

/** The magic values, one a line, below the name of their input. */
export function scenarioHints(): string[] {
  const width = Math.max(...scenarios.map(({ value }) => value.length));
  const formatLine = ({ value, effect }: Scenario): string => `  ${value.padEnd(width)}  ${effect}`;
  const groups = Map.groupBy(scenarios, ({ input }) => input);
  return [...groups].flatMap(([input, rows]) => [`${input}:`].concat(rows.map(formatLine)));
}
