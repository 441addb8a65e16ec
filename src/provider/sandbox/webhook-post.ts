/** The bank's notices on their way: posted over HTTP, as the provider posts its webhooks. */
import type { Clock } from '../../clock.ts';
import { createHttpClient } from '../http/client.ts';
import type { Notify } from '../stub/webhooks.ts';

export interface WebhookTarget {
  readonly url: string;
  /** Sent in `X-Webhook-Secret`. */
  readonly secret?: string | undefined;
}

export interface WebhookPost {
  /** Rejects unless the answer is 200: the bank then posts the notice again. */
  readonly notify: Notify;
  close(): Promise<void>;
}

/** A service that takes longer has not received it. */
const TIMEOUT_MS = 10_000;

/** Makes the way to a receiver of webhooks. */
export function createWebhookPost({ url, secret }: WebhookTarget, clock: Clock): WebhookPost {
  const { origin, pathname, search } = new URL(url);
  const client = createHttpClient({ baseUrl: origin, timeoutMs: TIMEOUT_MS });
  const closing = new AbortController();
  return {
    async notify(payload) {
      const late = new AbortController();
      const cancel = clock.after(TIMEOUT_MS, () => late.abort(new Error('no answer in time')));
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
