/**
 * Security events: logins, refusals, log-outs and what operators do to users. Rows are only added,
 * and deleted by age. E-mails and addresses are stored as keyed digests: the events of one person
 * can be related, but a list of e-mails cannot be tested against the table without the key.
 */
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { sql, statement } from '../db/statement.ts';
import { openUnit } from '../db/unit-of-work.ts';
import type { SecurityEventKind } from '../domain/security-event.ts';
import { clientSite } from './throttle.ts';

const stored = columnsOf('security_events', 'at, kind, userId, identity, address');

/** A stored event: the e-mail and the address are digests. */
type SecurityEventRecord = RowOf<typeof stored>;

/** SQL, because customers wait for it. The login of one is stored with their session. */
const insert = statement({
  name: 'security-event-insert',
  parameters: stored.types,
  text: ({ at, kind, userId, identity, address }) => sql`
    insert into security_events (${stored.list()})
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
  /** How often it has happened in the hour that begins with `at`; 1, but for refused logins. */
  readonly times: number;
}

/** SQL, because it adds to a row that other processes add to. */
const countRefusal = statement({
  name: 'login-refusal-count',
  parameters: {
    at: 'timestamptz',
    userId: 'int null',
    identity: 'text',
    network: 'text',
    hour: 'timestamptz',
  },
  text: ({ at, userId, identity, network, hour }) => sql`
    insert into security_events (at, kind, user_id, identity, address, hour)
    values (${at}, 'login_refused', ${userId}, ${identity}, ${network}, ${hour})
        on conflict (identity, address, hour) where hour is not null
        do update set times = security_events.times + 1`,
});

const hourMs = 60 * 60_000;

/**
 * Counts a refused login by e-mail, network and hour: anyone can send them, and a row for each
 * would fill the table. A failure is only logged.
 */
export async function countRefusedLogin(
  context: LocalContext,
  { userId, email, clientAddress }: Omit<NewSecurityEvent, 'kind'>,
): Promise<void> {
  const at = context.clock.now();
  const network = clientAddress === null ? '' : clientSite(clientAddress);
  try {
    await context.db.query(countRefusal, {
      at,
      userId,
      identity: digestText(context, email.trim().toLowerCase()),
      network: digestText(context, network),
      hour: new Date(Math.floor(at.getTime() / hourMs) * hourMs),
    });
  } catch (error) {
    context.log.error({ error, kind: 'login_refused' }, 'a security event was not recorded');
  }
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
    times: event.times,
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
    ...digestsOf(context, { email, clientAddress }),
  });
}

/** The digests of an event. */
export type EventDigests = Pick<SecurityEventRecord, 'identity' | 'address'>;

/** Digests whom an event is about, and where it comes from. */
export function digestsOf(
  context: Pick<LocalContext, 'sealer'>,
  { email, clientAddress }: Pick<NewSecurityEvent, 'email' | 'clientAddress'>,
): EventDigests {
  return {
    identity: digestText(context, email.trim().toLowerCase()),
    address: clientAddress === null ? null : digestText(context, clientAddress),
  };
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
