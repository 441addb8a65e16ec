/**
 * Everything that is stored about one person, and its removal. The statements are SQL: the export
 * is one snapshot of all tables, and the removal changes them in one commit.
 */
import { nextKeysVersion } from '../accounts/pix-key-repository.ts';
import type { LocalContext } from '../context/context.ts';
import { isOneOf, sql, statement } from '../db/statement.ts';
import { openDisputeStatuses } from '../domain/dispute.ts';
import {
  erasedToken,
  eraseTransactions,
  type TransactionErasure,
} from '../ledger/erasure-repository.ts';
import { joinSteps } from '../ledger/timeline.ts';
import { settledStatuses } from '../settlement/event-repository.ts';
import { targetsAbout } from './operator-action-repository.ts';

type Store = Pick<LocalContext, 'db'>;

/**
 * What is exported of each table: rows of a user. Secrets are left out: password hash,
 * tokens, sealed values, digests, and the id of an application, which is the applicant's password.
 * The caller opens the details of disputes.
 */
const exported = (userId: string) =>
  ({
    accounts: `
    select id, provider, agency, account_number, document, status, provider_company_id, pix_keys,
           balance::text, balance_read_at, created_at, updated_at
      from accounts where user_id = ${userId}`,
    limits: `
    select day::text, day_next::text, day_next_at, night::text, night_next::text, night_next_at,
           own_day::text, own_day_next::text, own_day_next_at, own_night::text,
           own_night_next::text, own_night_next_at, night_hour, night_hour_next,
           night_hour_next_at, own_by_payee, own_earlier
      from pix_limits where user_id = ${userId}`,
    sessions: `
    select id, status, token_expires_at, created_at, renewed_at, ended_at
      from banking_sessions where user_id = ${userId} order by created_at, id`,
    logins: `
    select last_login_at from login_addresses
     where user_id = ${userId} order by last_login_at`,
    securityEvents: `select at, kind, times from security_events where user_id = ${userId} order by id`,
    transactions: `
    select id, operation, idempotency_key, status, phase, outcome, failure_code, amount::text,
           pix_key, payee, payee_class, description, end_to_end, transaction_identification,
           provider_txid, qr_code, copy_paste, created_at, updated_at, settled_at, held_at
      from pix_transactions where user_id = ${userId} order by created_at, id`,
    timeline: `
    select t.id as transaction_id, step.phase, step.at, step.attempt, step.provider_status,
           step.event_id, step.provider_txid, step.note
      from pix_transactions t, ${joinSteps}
     where t.user_id = ${userId} order by t.created_at, t.id, step.id, step.place`,
    disputes: `
    select transaction_id, status, situation, encode(details, 'base64') as details, requested_at,
           opened_at, ended_at from pix_disputes where user_id = ${userId} order by requested_at`,
    events: `
    select id, status, received_at, processed_at, payload is not null as has_payload
      from webhook_events
     where id in (select l.event_id from pix_timeline l
                    join pix_transactions t on t.id = l.transaction_id where t.user_id = ${userId})
     order by received_at, id`,
    reconciliations: `
    select day::text, state, reason, tried_at, read_at from reconciliations
     where user_id = ${userId} order by day`,
    differences: `
    select day::text, kind, reason, transaction_id, end_to_end, amount::text, stored_amount::text,
           found_at, closed_at, closed_as, blocks
      from reconciliation_differences where user_id = ${userId} order by id`,
    appEvents: `
    select id, type, status, at, delivered_at from app_events
     where user_id = ${userId} order by at, id`,
    applications: `
    select person_type, status, kyc_status, steps, address, proposal, validation,
           validation_failures, validation_locked_until, pessoa_fisica_id, agency, account_number,
           conta_bancaria_criada, created_at, updated_at
      from onboarding_applications where user_id = ${userId}`,
    documents: `
    select d.status, d.tipo_documento, d.content_type, d.size_bytes, d.created_at, d.stored_at,
           d.forwarded_at
      from onboarding_documents d join onboarding_applications a on a.id = d.application_id
     where a.user_id = ${userId} order by d.created_at, d.id`,
    operatorActions: `
    select at, command, reason, outcome from operator_actions
     where target in (${targetsAbout(userId)}) order by id`,
  }) as const;

const exportAll = statement({
  name: 'ops-subject-export',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<ExportedSubject>`
    select to_jsonb(person) as person, ${Object.entries(exported(userId))
      .map(
        ([name, text]) =>
          `(select coalesce(jsonb_agg(to_jsonb(found)), '[]') from (${text}) found) as "${name}"`,
      )
      .join(',\n           ')}
      from (select id, name, email, document, person_type, phone, status, created_at, updated_at
              from users where id = ${userId}) person`,
});

/** A user and, by the name of the table, the rows about them. */
export type ExportedSubject = Readonly<
  Record<'person' | keyof ReturnType<typeof exported>, unknown>
>;

/** @returns all that is stored about a user, in one snapshot; null: there is no such user. */
export async function findSubject({ db }: Store, userId: number): Promise<ExportedSubject | null> {
  const [subject] = await db.query(exportAll, { userId });
  return subject ?? null;
}

const identify = statement({
  name: 'ops-subject-identify',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<SubjectIdentity>`
    select u.name, u.email, u.document, u.phone, a.document as "accountDocument",
           coalesce(a.pix_keys, '{}') as "pixKeys"
      from users u left join accounts a on a.user_id = u.id where u.id = ${userId}`,
});

/** The values by which stored payloads may name a person, as the service has normalised them. */
export interface SubjectIdentity {
  readonly name: string;
  readonly email: string;
  readonly document: string | null;
  readonly phone: string | null;
  readonly accountDocument: string | null;
  readonly pixKeys: readonly string[];
}

/** @returns null when there is no such user. */
export async function findIdentity({ db }: Store, userId: number): Promise<SubjectIdentity | null> {
  const [identity] = await db.query(identify, { userId });
  return identity ?? null;
}

/** Locks the user's row: a login, a registration and a new transaction of the user wait for it. */
const lock = statement({
  name: 'ops-subject-lock',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql`select id from users where id = ${userId} for update`,
});

/**
 * A charge that is paid later is attributed by its key, which an erasure would remove. A static
 * code waits for its payer for good.
 */
const openTransactions = statement({
  name: 'ops-subject-open',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<{ id: string; isStaticCode: boolean }>`
    select id, operation = 'CHARGE' and phase = 'ACCEPTED' and expires_at is null as "isStaticCode"
      from pix_transactions
     where user_id = ${userId} and status = 'PROCESSING'
     order by created_at, id`,
});

const openDisputes = statement({
  name: 'ops-subject-open-disputes',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<{ id: string }>`
    select transaction_id as id from pix_disputes
     where user_id = ${userId} and ${isOneOf('status', openDisputeStatuses)}
     order by requested_at, transaction_id`,
});

/** What of a user is open, by the ids of the transactions. */
export interface OpenOfSubject {
  readonly payments: readonly string[];
  /** Static codes that nobody has paid. */
  readonly staticCodes: readonly string[];
  readonly disputes: readonly string[];
}

/**
 * Locks a user until the end of the transaction.
 * @returns what is open.
 */
export async function lockSubject({ db }: Store, userId: number): Promise<OpenOfSubject> {
  await db.query(lock, { userId });
  const open = await db.query(openTransactions, { userId });
  const disputes = await db.query(openDisputes, { userId });
  return {
    payments: open.flatMap(({ id, isStaticCode }) => (isStaticCode ? [] : [id])),
    staticCodes: open.flatMap(({ id, isStaticCode }) => (isStaticCode ? [id] : [])),
    disputes: disputes.map(({ id }) => id),
  };
}

/** The e-mail of an erased user: no mail reaches this domain (RFC 2606). */
export function erasedEmail(userId: number): string {
  return `erased-${userId}@erased.invalid`;
}

/**
 * A condition on webhook events: the event has one of the ids, or a timeline of the user names it.
 * @param by the parameters of the statement.
 */
function isEventOf(by: Readonly<Record<'userId' | 'eventIds', string>>): string {
  return `(id = any(${by.eventIds})
            or id in (select l.event_id from pix_timeline l
                        join pix_transactions t on t.id = l.transaction_id
                       where t.user_id = ${by.userId}))`;
}

/** The steps of an erasure, in their order. */
const erasing = {
  person: statement({
    name: 'ops-subject-erase-person',
    parameters: { userId: 'int', email: 'text', now: 'timestamptz' },
    text: ({ userId, email, now }) => sql`
    update users
       set name = '${erasedToken}', email = ${email}, document = null, phone = null,
           password_hash = '${erasedToken}', status = 'DISABLED', updated_at = ${now}
     where id = ${userId}`,
  }),
  account: statement({
    name: 'ops-subject-erase-account',
    parameters: { userId: 'int', now: 'timestamptz' },
    text: ({ userId, now }) => sql`
    update accounts
       set status = 'BLOCKED', agency = null, account_number = null, document = null,
           pix_keys = null, pix_keys_version = ${nextKeysVersion},
           provider_company_id = null, provider_client_token = null,
           balance = null, balance_read_at = null, updated_at = ${now}
     where user_id = ${userId}`,
  }),
  addresses: statement({
    name: 'ops-subject-erase-addresses',
    parameters: { userId: 'int' },
    text: ({ userId }) => sql`delete from login_addresses where user_id = ${userId}`,
  }),
  events: statement({
    name: 'ops-subject-erase-events',
    parameters: { userId: 'int', eventIds: 'uuid[]' },
    text: ({ userId, eventIds }) => sql`
    update webhook_events set payload = null
     where ${isOneOf('status', settledStatuses)} and payload is not null
       and ${isEventOf({ userId, eventIds })}
    returning id`,
  }),
  /** The event and its time stay; the digests of the e-mail and of the address do not. */
  security: statement({
    name: 'ops-subject-erase-security',
    parameters: { userId: 'int', identities: 'text[]' },
    text: ({ userId, identities }) => sql`
    update security_events set identity = '${erasedToken}', address = null
     where user_id = ${userId} or identity = any(${identities})`,
  }),
  /** What has happened, by the payment; the person's own words do not stay. */
  disputes: statement({
    name: 'ops-subject-erase-disputes',
    parameters: { userId: 'int' },
    text: ({ userId }) => sql`update pix_disputes set details = null where user_id = ${userId}`,
  }),
  documents: statement({
    name: 'ops-subject-erase-documents',
    parameters: { userId: 'int' },
    text: ({ userId }) => sql`
    delete from onboarding_documents
     where application_id in (select id from onboarding_applications where user_id = ${userId})
    returning id`,
  }),
  applications: statement({
    name: 'ops-subject-erase-applications',
    parameters: { userId: 'int' },
    text: ({ userId }) => sql`delete from onboarding_applications where user_id = ${userId}`,
  }),
  kept: statement({
    name: 'ops-subject-erase-kept',
    parameters: { userId: 'int', eventIds: 'uuid[]' },
    text: ({ userId, eventIds }) => sql<{ id: string }>`
    select id from webhook_events
     where payload is not null
       and ${isEventOf({ userId, eventIds })}
     order by received_at, id`,
  }),
  count: statement({
    name: 'ops-subject-erase-count',
    parameters: { userId: 'int' },
    text: ({ userId }) =>
      sql<{
        transactions: number;
      }>`select count(*)::int as transactions from pix_transactions where user_id = ${userId}`,
  }),
} as const;

export interface Erasure extends TransactionErasure {
  /** The events whose payload names the person. */
  readonly eventIds: readonly string[];
  /** The keyed digests that events of the e-mail may have. */
  readonly identities: readonly string[];
}

/** What an erasure has removed and kept. */
export interface Erased {
  /** How many transactions stay, without personal values. */
  readonly transactions: number;
  readonly documents: number;
  /** How many events have lost their payload. */
  readonly events: number;
  /** Events that name the person and are not settled: they keep their payload until they are. */
  readonly keptEvents: readonly string[];
}

/**
 * Removes what identifies a person.
 * @param transaction the context of the transaction that has locked the user.
 */
export async function eraseSubject(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { userId, values, eventIds, paidByOthers, identities }: Erasure,
): Promise<Erased> {
  const now = clock.now();
  await db.query(erasing.person, { userId, email: erasedEmail(userId), now });
  await db.query(erasing.account, { userId, now });
  await db.query(erasing.addresses, { userId });
  await eraseTransactions({ db }, { userId, values, paidByOthers });
  const events = await db.query(erasing.events, { userId, eventIds });
  await db.query(erasing.security, { userId, identities });
  await db.query(erasing.disputes, { userId });
  const documents = await db.query(erasing.documents, { userId });
  await db.query(erasing.applications, { userId });
  const kept = await db.query(erasing.kept, { userId, eventIds });
  const [count] = await db.query(erasing.count, { userId });
  return {
    transactions: count?.transactions ?? 0,
    documents: documents.length,
    events: events.length,
    keptEvents: kept.map(({ id }) => id),
  };
}
