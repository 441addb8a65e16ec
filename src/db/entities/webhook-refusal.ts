import { defineEntity, p } from '@mikro-orm/core';
import { webhookRefusals, type WebhookRefusal } from '../../domain/webhook-refusal.ts';
import { instant, isOneOf } from './columns.ts';

/**
 * The webhooks of one minute that were refused for one reason. Nothing of such a webhook is stored:
 * anyone may have sent it.
 */
export const WebhookRefusalCount = defineEntity({
  name: 'WebhookRefusalCount',
  tableName: 'webhook_refusals',
  properties: {
    minute: instant().primary(),
    reason: p.text().$type<WebhookRefusal>().primary(),
    refusals: p.integer(),
    lastAt: instant(),
  },
  checks: [
    { name: 'webhook_refusals_reason_known', expression: isOneOf('reason', webhookRefusals) },
  ],
});
