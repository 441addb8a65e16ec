/** `audit events`: logins, refusals and what operators have done to users. */
import type { Statement } from '../db/database.ts';
import type { SecurityEventKind } from '../domain/security-event.ts';
import { identityOf } from '../auth/security-events.ts';
import type { Op } from './op.ts';

export interface AuditEventsInput {
  /** Only those of a user, by id, or of an e-mail, also one that no user has. */
  readonly user?: string;
  readonly limit: number;
}

/** One event; its time is an ISO 8601 text, e-mail and address are digests. */
export interface SecurityEventView {
  readonly id: string;
  readonly at: string;
  readonly kind: SecurityEventKind;
  readonly userId: number | null;
  readonly identity: string;
  readonly address: string | null;
}

type EventRow = Omit<SecurityEventView, 'at'> & { readonly at: Date };

/** Parameters: user id or null, digest of an e-mail or null, limit. */
const statement: Statement = {
  name: 'ops-audit-events',
  text: `
    select id, at, kind, user_id as "userId", identity, address from security_events
     where ($1::int is null or user_id = $1) and ($2::text is null or identity = $2)
     order by id desc limit $3`,
};

/** Lists security events, newest first. */
export const listSecurityEvents: Op<
  AuditEventsInput,
  { readonly events: readonly SecurityEventView[] }
> = {
  async run(context, { user, limit }) {
    const isEmail = user?.includes('@') === true;
    const id = user === undefined || isEmail ? null : Number(user);
    const identity = isEmail ? identityOf(context, user) : null;
    const rows = await context.db.query<EventRow>(statement, [id, identity, limit]);
    return { events: rows.map(viewOf) };
  },
};

function viewOf({ at, ...row }: EventRow): SecurityEventView {
  return { at: at.toISOString(), ...row };
}
