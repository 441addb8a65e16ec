import { defineEntity, p } from '@mikro-orm/core';
import { securityEventKinds, type SecurityEventKind } from '../../domain/security-event.ts';
import { instant, oneOf } from './columns.ts';

/** A change of who may act as a user. The e-mail and the address are keyed digests. */
export const SecurityEvent = defineEntity({
  name: 'SecurityEvent',
  tableName: 'security_events',
  properties: {
    id: p.bigint().primary().autoincrement(),
    at: instant(),
    kind: p.text().$type<SecurityEventKind>(),
    /** No foreign key: the event outlives the user. */
    userId: p.integer().nullable(),
    identity: p.text(),
    address: p.text().nullable(),
  },
  indexes: [
    { name: 'security_events_identity', properties: ['identity'] },
    { name: 'security_events_at', properties: ['at'] },
  ],
  checks: [{ name: 'security_events_kind_known', expression: oneOf('kind', securityEventKinds) }],
});
