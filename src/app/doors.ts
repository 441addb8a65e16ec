/**
 * Doors: what a folder has done by one that stands above it, and that it does not import. They are
 * bound here to the context.
 */
import type { ProviderEvent } from '../../contract/types.ts';
import type { Context } from '../context/context.ts';
import { receiveProviderWebhook } from '../settlement/receive-provider-webhook.ts';
import { readStatementAfterLoss } from '../settlement/statement-after-loss.ts';

/** Binds the reading of a statement after a loss of commits, for orders and logins. */
export function reconcileDoor(context: () => Context): Context['reconcile'] {
  return (session, options) => readStatementAfterLoss(context(), session, options);
}

export interface WebhookDelivery {
  connect(context: Context): void;
  deliver(payload: Buffer): Promise<void>;
}

/**
 * Delivers the simulated bank's webhooks to the operation of the webhook route. The bank is created
 * before the context that the operation needs, so the delivery is connected afterwards; earlier
 * webhooks are refused, and the bank posts them again.
 */
export function webhookDelivery(): WebhookDelivery {
  let connected: Context | null = null;
  return {
    connect(context) {
      connected = context;
    },
    async deliver(payload) {
      if (!connected) throw new Error('the service does not accept webhooks yet');
      const body = JSON.parse(payload.toString('utf8')) as ProviderEvent;
      await receiveProviderWebhook.run(connected, {
        input: { path: {}, query: {}, headers: {}, body },
        request: {
          id: 'simulated-bank',
          locale: 'en',
          clientAddress: 'simulated-bank',
          bearer: null,
          callOptions: { requestId: 'simulated-bank' },
          rawBody: payload,
          signal: new AbortController().signal,
          log: connected.log,
        },
      });
    },
  };
}
