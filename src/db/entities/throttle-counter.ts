import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';

/** Attempts in the current window, shared by all instances. The subject is stored as a digest. */
export const ThrottleCounter = defineEntity({
  name: 'ThrottleCounter',
  tableName: 'throttle_counters',
  properties: {
    key: p.text().primary(),
    windowStartedAt: instant(),
    attempts: p.integer(),
    /** The end of the window. */
    expiresAt: instant(),
  },
  indexes: [{ name: 'throttle_counters_expiry', properties: ['expiresAt'] }],
});
