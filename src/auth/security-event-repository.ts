/**
 * Security events: logins, refusals, log-outs and what operators do to users. Rows are only added,
 * and deleted by age. E-mails and addresses are stored as keyed digests: the events of one person
 * can be related, but a list of e-mails cannot be tested against the table without the key.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { openUnit } from '../db/unit-of-work.ts';
import type { SecurityEventKind } from '../domain/security-event.ts';

/** A stored event: the e-mail and the address are digests. */
interface SecurityEventRecord {
  readonly at: Date;
  readonly kind: SecurityEventKind;
  readonly userId: number | null;
  readonly identity: string;
  readonly address: string | null;
}

/** SQL, because every login waits for it. */
const insert = statement({
  name: 'security-event-insert',
  parameters: {
    at: 'timestamptz',
    kind: 'text',
    userId: 'int null',
    identity: 'text',
    address: 'text null',
  },
  text: ({ at, kind, userId, identity, address }) => sql`
    insert into security_events (at, kind, user_id, identity, address)
    values (${at}, ${kind}, ${userId}, ${identity}, ${address})`,
});

async function insertSecurityEvent(
  { db }: Pick<LocalContext, 'db'>,
  { at, kind, userId, identity, address }: SecurityEventRecord,
): Promise<void> {
  await db.query(insert, { at, kind, userId, identity, address });
}

export interface StoredSecurityEvent extends SecurityEventRecord {
  readonly id: string;
}

/** Which events to list; an absent field matches every event. */
interface SecurityEventFilter {
  readonly userId?: number | undefined;
  /** Every digest of the identity. */
  readonly identities?: readonly string[] | undefined;
  readonly limit: number;
}

/** Lists events, newest first. */
export async function findSecurityEvents(
  { db }: Pick<LocalContext, 'db'>,
  { userId, identities, limit }: SecurityEventFilter,
): Promise<StoredSecurityEvent[]> {
  const { em, SecurityEvent } = await openUnit(db);
  const events = await em.find(
    SecurityEvent,
    {
      ...(userId !== undefined && { userId }),
      ...(identities && { identity: { $in: [...identities] } }),
    },
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
  /** Null for an action of an operator. */
  readonly clientAddress: string | null;
}

/** Records an event, in the transaction of the context if there is one. */
export async function recordSecurityEvent(
  context: LocalContext,
  { kind, userId, email, clientAddress }: NewSecurityEvent,
): Promise<void> {
  await insertSecurityEvent(context, {
    at: context.clock.now(),
    kind,
    userId,
    identity: digestText(context, email.trim().toLowerCase()),
    address: clientAddress === null ? null : digestText(context, clientAddress),
  });
}

/** Records an event of a request whose reply does not depend on it: a failure is only logged. */
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

/** The digests that the events of an e-mail may have, by each key of the ring. */
export function emailDigests(
  { sealer }: Pick<LocalContext, 'sealer'>,
  email: string,
): readonly string[] {
  return sealer
    .identities(email.trim().toLowerCase())
    .map((digest) => digest.toString('base64url'));
}

function digestText({ sealer }: Pick<LocalContext, 'sealer'>, text: string): string {
  return sealer.identify(text).toString('base64url');
}
