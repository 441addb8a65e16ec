/** Security events in the database. Rows are only added, and removed with age. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import type { SecurityEventKind } from '../domain/security-event.ts';

/** An event as it is stored: the e-mail and the address are digests. */
export interface SecurityEventRecord {
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
export async function insertSecurityEvent(
  { db }: Pick<LocalContext, 'db'>,
  { at, kind, userId, identity, address }: SecurityEventRecord,
): Promise<void> {
  await db.query(insert, [at, kind, userId, identity, address]);
}
