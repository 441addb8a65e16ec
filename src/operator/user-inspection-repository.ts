/** A user as operators see one. The statement is SQL: it reads five tables in one round trip. */
import { isActiveSession } from '../auth/session-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { columnsOf, type RowOf } from '../db/rows.ts';
import { sql, statement } from '../db/statement.ts';
import { isUnsettled } from '../ledger/pix-transaction-repository.ts';

const ofUser = columnsOf(
  'users',
  'id, name, email, document, phone, personType, status, createdAt',
);

export interface InspectedUser extends RowOf<typeof ofUser> {
  /** The account's fields are null without one. */
  readonly accountStatus: string | null;
  readonly accountProvider: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
  /** The status of the application; null for a user without one. */
  readonly onboarding: string | null;
  /** The last login of the active session; null: logged out. */
  readonly loggedInAt: Date | null;
  /** When the provider's token of that session expires; null: not known. */
  readonly tokenExpiresAt: Date | null;
  /** Payments that are open, without charges that wait for a payer. */
  readonly openPayments: number;
}

const inspect = statement({
  name: 'inspect-user',
  parameters: { id: 'int', now: 'timestamptz' },
  text: ({ id, now }) => sql<InspectedUser>`
    select ${ofUser.select('u')}, a.status as "accountStatus",
           a.provider as "accountProvider", a.agency, a.account_number as "accountNumber",
           o.status as onboarding, s.renewed_at as "loggedInAt",
           s.token_expires_at as "tokenExpiresAt",
           (select count(*)::int from pix_transactions t
             where t.user_id = u.id and ${isUnsettled('t')}) as "openPayments"
      from users u
      left join accounts a on a.user_id = u.id
      left join onboarding_applications o on o.user_id = u.id
      left join banking_sessions s on s.user_id = u.id and ${isActiveSession('s', now)}
     where u.id = ${id}`,
});

/** Finds a user. */
export async function findInspectedUser(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  id: number,
): Promise<InspectedUser | null> {
  const [user] = await db.query(inspect, { id, now: clock.now() });
  return user ?? null;
}
