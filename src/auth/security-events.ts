/**
 * Security events: logins, refusals, log-outs and what operators do to users. E-mails and addresses
 * are stored as keyed digests: two events of one person are seen to belong together, and a list of
 * e-mails cannot be tried against the table without the key.
 */
import type { LocalContext } from '../context.ts';
import type { SecurityEventKind } from '../domain/security-event.ts';
import { insertSecurityEvent } from './security-event-repository.ts';

export interface NewSecurityEvent {
  readonly kind: SecurityEventKind;
  readonly userId: number | null;
  readonly email: string;
  /** Null where an operator has acted. */
  readonly clientAddress: string | null;
}

/** Records an event; in a transaction it is a part of it. */
export async function recordSecurityEvent(
  context: LocalContext,
  { kind, userId, email, clientAddress }: NewSecurityEvent,
): Promise<void> {
  await insertSecurityEvent(context, {
    ...{ at: context.clock.now(), kind, userId, identity: identityOf(context, email) },
    address: clientAddress === null ? null : digestOf(context, clientAddress),
  });
}

/** Records an event of a request, whose answer does not depend on it: a failure is logged. */
export async function noteSecurityEvent(
  context: LocalContext,
  event: NewSecurityEvent,
): Promise<void> {
  try {
    await recordSecurityEvent(context, event);
  } catch (error) {
    context.log.error({ error, kind: event.kind }, 'a security event was not recorded');
  }
}

/** The digest that the events of an e-mail have. */
export function identityOf(context: Pick<LocalContext, 'sealer'>, email: string): string {
  return digestOf(context, email.trim().toLowerCase());
}

function digestOf({ sealer }: Pick<LocalContext, 'sealer'>, text: string): string {
  return sealer.digest(text).toString('base64url');
}
