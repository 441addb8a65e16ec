import { defineEntity, p } from '@mikro-orm/core';
import { securityEventKinds, type SecurityEventKind } from '../../domain/security-event.ts';
import { instant, isOneOf } from './columns.ts';

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
    /** Of refused logins, which are counted: the hour; the address is then that of the network. */
    hour: instant().nullable(),
    /** How often it has happened in the hour. */
    times: p.integer().default(1),
  },
  indexes: [
    {
      name: 'security_events_counted',
      expression:
        'create unique index "security_events_counted" on "security_events" ("identity", "address", "hour") where "hour" is not null',
    },
    { name: 'security_events_identity', properties: ['identity'] },
    { name: 'security_events_at', properties: ['at'] },
  ],
  triggers: [
    {
      // An erasure takes the digests out; retention takes what is a year old by the database's
      // clock.
      name: 'security_events_unchanged',
      timing: 'before',
      events: ['update'],
      when: `old.id <> new.id or old.at <> new.at or old.kind <> new.kind or old.hour is distinct from new.hour or new.times < old.times or old.user_id is distinct from new.user_id or (old.identity <> new.identity and new.identity <> 'erased') or (old.address is distinct from new.address and new.address is not null)`,
      body: "raise exception 'security events do not change' using errcode = 'check_violation';",
    },
    {
      name: 'security_events_kept',
      timing: 'before',
      events: ['delete'],
      body: "if old.at > clock_timestamp() - interval '364 days' then raise exception 'security events are kept for a year' using errcode = 'check_violation'; end if; return old;",
    },
  ],
  checks: [{ name: 'security_events_kind_known', expression: isOneOf('kind', securityEventKinds) }],
});
