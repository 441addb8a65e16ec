/** `audit events`: logins, refusals and what operators have done to users. */
import { findSecurityEvents, type StoredSecurityEvent } from '../auth/security-event-repository.ts';
import { identityOf } from '../auth/security-events.ts';
import type { LocalContext } from '../context.ts';
import type { Op } from './op.ts';

export interface AuditEventsInput {
  /** Only those of a user, by id, or of an e-mail, also one that no user has. */
  readonly user?: string;
  readonly limit: number;
}

/** One event; its time is an ISO 8601 text, e-mail and address are digests. */
export type SecurityEventView = Omit<StoredSecurityEvent, 'at'> & { readonly at: string };

/** Lists security events, newest first. */
export const listSecurityEvents: Op<
  AuditEventsInput,
  { readonly events: readonly SecurityEventView[] }
> = {
  async run(context, { user, limit }) {
    const events = await findSecurityEvents(context, { ...subject(context, user), limit });
    return { events: events.map(viewOf) };
  },
};

function viewOf({ at, ...event }: StoredSecurityEvent): SecurityEventView {
  return { at: at.toISOString(), ...event };
}

function subject(context: LocalContext, user: string | undefined) {
  if (user === undefined) return {};
  return user.includes('@') ? { identity: identityOf(context, user) } : { userId: Number(user) };
}
