/** Security events in the database. Rows are only added, and removed with age. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { openUnit } from '../db/unit-of-work.ts';
import type { SecurityEventKind } from '../domain/security-event.ts';

/** An event as it is stored: the e-mail and the address are digests. */
interface SecurityEventRecord {
  readonly at: Date;
  readonly kind: SecurityEventKind;
  readonly userId: number | null;
  readonly identity: string;
  readonly address: string | null;
}

/** SQL, because every login waits for it. */
const insert: Statement = {
  name: 'security-event-insert',
  text: `
    insert into security_events (at, kind, user_id, identity, address)
    values ($1, $2, $3, $4, $5)`,
};

/** Stores an event; in a transaction it is a part of it. */
async function insertSecurityEvent(
  { db }: Pick<LocalContext, 'db'>,
  { at, kind, userId, identity, address }: SecurityEventRecord,
): Promise<void> {
  await db.query(insert, [at, kind, userId, identity, address]);
}

export interface StoredSecurityEvent extends SecurityEventRecord {
  readonly id: string;
}

/** Which events to list; what is left out does not matter. */
interface SecurityEventFilter {
  readonly userId?: number | undefined;
  readonly identity?: string | undefined;
  readonly limit: number;
}

/** @returns events, the newest first. */
export async function findSecurityEvents(
  { db }: Pick<LocalContext, 'db'>,
  { userId, identity, limit }: SecurityEventFilter,
): Promise<StoredSecurityEvent[]> {
  const { em, SecurityEvent } = await openUnit(db);
  const events = await em.find(
    SecurityEvent,
    { ...(userId !== undefined && { userId }), ...(identity !== undefined && { identity }) },
    { orderBy: { id: 'desc' }, limit },
  );
  return events.map((event) => ({
    id: String(event.id),
    at: event.at,
    kind: event.kind,
    userId: event.userId ?? null,
    identity: event.identity,
    address: event.address ?? null,
  }));
}

interface NewSecurityEvent {
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
