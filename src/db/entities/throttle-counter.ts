import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';

/** Attempts in the current minute, shared by all instances. The subject is stored as a digest. */
export const ThrottleCounter = defineEntity({
  name: 'ThrottleCounter',
  tableName: 'throttle_counters',
  properties: {
    key: p.text().primary(),
    windowStartedAt: instant(),
    attempts: p.integer(),
  },
  indexes: [{ name: 'throttle_counters_window', properties: ['windowStartedAt'] }],
});
