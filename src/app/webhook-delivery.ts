/**
 * Delivers the simulated bank's webhooks to the operation of the webhook route. The bank is created
 * before the context that the operation needs, so the delivery is connected afterwards; earlier
 * webhooks are refused, and the bank posts them again.
 */
import type { ProviderEvent } from '../../contract/types.ts';
import type { Context } from '../context/context.ts';
import { receiveProviderWebhook } from '../settlement/receive-provider-webhook.ts';

export interface WebhookDelivery {
  connect(context: Context): void;
  deliver(payload: Buffer): Promise<void>;
}

/** Creates a delivery that is not connected yet. */
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
          callOptions: { requestId: 'simulated-bank' },
          rawBody: payload,
          signal: new AbortController().signal,
          log: connected.log,
        },
      });
    },
  };
}
