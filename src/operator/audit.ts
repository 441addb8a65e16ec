/**
 * `audit list`: what operators have changed. `audit events`: logins, refusals and what operators
 * have done to users. `request-id`: the digest that the log has in place of a client's id.
 */
import {
  findSecurityEvents,
  emailDigests,
  type StoredSecurityEvent,
} from '../auth/security-event-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { loggedDigest } from '../security/sealing.ts';
import type { Op } from './op.ts';
import {
  findActions,
  type ActionFilter,
  type RecordedAction,
} from './operator-action-repository.ts';
import { findUser } from './users.ts';

export interface AuditListInput {
  /** A part of the operator's name. */
  readonly operator?: string;
  /** The target of the action, such as `user:42`: what the user has, too; or `user:<e-mail>`. */
  readonly target?: string;
  readonly limit: number;
}

/** One action; its time is an ISO 8601 text. */
export type ActionView = Omit<RecordedAction, 'at'> & { readonly at: string };

/**
 * Lists the actions of operators, newest first.
 * @throws OpError when no user has the e-mail.
 */
export const listActions: Op<AuditListInput, { readonly actions: readonly ActionView[] }> = {
  async run(context, { target, ...filter }) {
    const about = await readTarget(context, target);
    const actions = await findActions(context, { ...filter, ...about });
    return { actions: actions.map(toActionView) };
  },
};

/** A user that is deleted since has no e-mail, and is found by the id. */
async function readTarget(
  context: LocalContext,
  target: string | undefined,
): Promise<Pick<ActionFilter, 'target' | 'userId'>> {
  if (!target?.startsWith('user:')) return { target };
  const user = target.slice('user:'.length);
  const userId = user.includes('@') ? (await findUser(context, user)).id : Number(user);
  return { userId };
}

function toActionView({ at, ...action }: RecordedAction): ActionView {
  return { at: at.toISOString(), ...action };
}

export interface AuditEventsInput {
  /** A user's id, or an e-mail, even if no user has it. */
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
    return { events: events.map(toSecurityEventView) };
  },
};

function toSecurityEventView({ at, ...event }: StoredSecurityEvent): SecurityEventView {
  return { at: at.toISOString(), ...event };
}

function subject(context: LocalContext, user: string | undefined) {
  if (user === undefined) return {};
  if (!user.includes('@')) return { userId: Number(user) };
  return { identities: emailDigests(context, user) };
}

/** Computes the digest of a request id or a trace id. */
export const digestRequestId: Op<{ readonly id: string }, { readonly digest: string }> = {
  needs: 'nothing',
  run: ({ sealer }, { id }) => Promise.resolve({ digest: loggedDigest(sealer, id) }),
};
