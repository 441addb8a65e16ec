/**
 * Accounts in the database. The statements are SQL: whether a row is inserted, changed or left as
 * it is depends on what is stored, and each decides that in the one commit that other writers of
 * the row wait for.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import type { AccountStatus } from '../domain/account.ts';
import { decimalFromCents } from '../domain/money.ts';
import { nextKeysVersion } from './pix-key-repository.ts';

type Store = Pick<LocalContext, 'db' | 'clock'>;

/** An SQL condition: the account of another user that is in use has a CPF. */
function isCpfHeld(document: string, userId: string): string {
  return `exists (select from accounts other
                    where length(other.document) = 11 and other.document = ${document}
                      and other.status in ('ACTIVE', 'BLOCKED') and other.user_id <> ${userId})`;
}

/** An SQL expression: a number without punctuation and leading zeros, as banks write it or not. */
const bare = (number: string): string => `ltrim(regexp_replace(${number}, '\\W', '', 'g'), '0')`;
const differs = (part: string): string => `(${bare(`a.${part}`)} <> ${bare(`excluded.${part}`)})`;

/** An SQL condition: the provider reports the account `a` that is stored. */
const keepsNumber = `(a.provider = 'provider' and ${differs('agency')} is not true
                      and ${differs('account_number')} is not true)`;

/** Columns to set: what is stored of another account goes. One that is local has no statement. */
function ofSameNumber(now: string): string {
  return `(balance, balance_read_at, pix_keys, pix_keys_version, renumbered_at) = (
               select a.balance, a.balance_read_at, a.pix_keys, a.pix_keys_version, a.renumbered_at
                where ${keepsNumber}
                union all
               select null, null, null, ${nextKeysVersion},
                      case when a.provider = 'provider' then ${now} end where not ${keepsNumber})`;
}

/**
 * Missing parts keep their value. Nothing is stored for a user whose onboarding is not approved:
 * only an approved applicant has an account at the provider. An applicant's account keeps the
 * document of the registration.
 *
 * A local account has a number that this service generated, which no provider knows: money for it
 * would have no payee. The complete account of the provider replaces it; an incomplete one does
 * not, because the rest would remain generated.
 *
 * A CPF that another account has is left out: that account was first, and one without a document
 * cannot pay.
 */
const keepOfLogin = statement({
  name: 'provider-account-keep',
  parameters: {
    userId: 'int',
    agency: 'text null',
    accountNumber: 'text null',
    document: 'text null',
    companyId: 'text null',
    clientToken: 'text null',
    now: 'timestamptz',
  },
  text: ({
    userId,
    agency,
    accountNumber,
    document,
    companyId,
    clientToken,
    now,
  }) => sql<AccountOfApplication>`
    with applicant as (
      select o.id, o.status, o.conta_bancaria_criada, u.document
        from onboarding_applications o join users u on u.id = o.user_id where o.user_id = ${userId}
    ), before as (
      select provider = 'local' as is_local from accounts where user_id = ${userId}
    ), kept as (
      insert into accounts as a (user_id, provider, agency, account_number, document, status,
             provider_company_id, provider_client_token, created_at, updated_at)
      select ${userId}, 'provider', ${agency}, ${accountNumber},
             coalesce((select document from applicant),
                      case when not ${isCpfHeld(document, userId)} then ${document} end),
             'ACTIVE', ${companyId}, ${clientToken}, ${now}, ${now}
       where not exists (select from applicant where status <> 'APPROVED')
          on conflict (user_id) do update
         set provider = 'provider',
             ${ofSameNumber(now)},
             agency = coalesce(excluded.agency, a.agency),
             account_number = coalesce(excluded.account_number, a.account_number),
             document = coalesce(excluded.document, a.document),
             provider_company_id = coalesce(excluded.provider_company_id, a.provider_company_id),
             provider_client_token =
               coalesce(excluded.provider_client_token, a.provider_client_token),
             updated_at = ${now}
       where a.provider = 'provider'
          or (excluded.agency <> '' and excluded.account_number <> '')
      returning agency, account_number
    )
    select applicant.id as "applicationId", kept.agency, kept.account_number as "accountNumber",
           coalesce(before.is_local, false) as "replacesLocal"
      from applicant cross join kept left join before on true
     where (not applicant.conta_bancaria_criada or before.is_local)
       and kept.agency is not null and kept.account_number is not null`,
});

/** The account data in the response to a login at the provider. */
export interface AccountOfLogin {
  readonly userId: number;
  readonly agency: string | null;
  readonly accountNumber: string | null;
  readonly document: string | null;
  readonly companyId: string | null;
  /** Sealed. */
  readonly clientToken: string | null;
}

/** An application whose account is first reported by a login. */
export interface AccountOfApplication {
  readonly applicationId: string;
  readonly agency: string;
  readonly accountNumber: string;
  readonly replacesLocal: boolean;
}

/** @returns the application that must record the account, or null. */
export async function upsertAccountFromLogin(
  { db, clock }: Store,
  account: AccountOfLogin,
): Promise<AccountOfApplication | null> {
  const { userId, agency, accountNumber, document, companyId, clientToken } = account;
  const [application] = await db.query(keepOfLogin, {
    userId,
    agency,
    accountNumber,
    document,
    companyId,
    clientToken,
    now: clock.now(),
  });
  return application ?? null;
}

/** Decisions on one CPF wait for each other; the rows are locked in one order. */
const lockCpf = statement({
  name: 'account-lock-cpf',
  parameters: { document: 'text' },
  text: ({ document }) => sql`
    select id from users where document = ${document} order by id for update`,
});

/** An approved application may still wait for the number of its account. */
const findHeldCpf = statement({
  name: 'account-held-cpf',
  parameters: { document: 'text', userId: 'int' },
  text: ({ document, userId }) => sql<{ held: boolean }>`
    select ${isCpfHeld(document, userId)}
           or exists (select from onboarding_applications o join users u on u.id = o.user_id
                       where u.document = ${document} and o.user_id <> ${userId}
                         and o.status = 'APPROVED'
                         and not exists (select from accounts where user_id = o.user_id))
           as held`,
});

/**
 * Whether another person has, or will have, an account with a CPF. Until the end of the transaction
 * no other application with it is decided.
 * @param transaction the context of the transaction that decides.
 */
export async function isCpfTaken(
  { db }: Pick<LocalContext, 'db'>,
  { userId, document }: Pick<NewAccount, 'userId' | 'document'>,
): Promise<boolean> {
  await db.query(lockCpf, { document });
  const [found] = await db.query(findHeldCpf, { document, userId });
  return found?.held ?? false;
}

export interface NewAccount {
  readonly userId: number;
  readonly agency: string;
  readonly accountNumber: string;
  readonly document: string;
}

const insertLocal = statement({
  name: 'account-open-local',
  parameters: {
    userId: 'int',
    agency: 'text',
    accountNumber: 'text',
    document: 'text',
    now: 'timestamptz',
  },
  text: ({ userId, agency, accountNumber, document, now }) => sql`
    insert into accounts
           (user_id, provider, agency, account_number, document, status, created_at, updated_at)
    values (${userId}, 'local', ${agency}, ${accountNumber}, ${document}, 'ACTIVE', ${now}, ${now})
        on conflict (agency, account_number) where provider = 'local' do nothing
    returning id`,
});

/** Opens an account that exists only here. @returns false when its number is taken. */
export async function insertLocalAccount(
  { db, clock }: Store,
  { userId, agency, accountNumber, document }: NewAccount,
): Promise<boolean> {
  const rows = await db.query(insertLocal, {
    userId,
    agency,
    accountNumber,
    document,
    now: clock.now(),
  });
  return rows.length === 1;
}

/** A login may already have stored the account; the decision's data are newer. */
const storeAtProvider = statement({
  name: 'account-open-at-provider',
  parameters: {
    userId: 'int',
    agency: 'text',
    accountNumber: 'text',
    document: 'text',
    clientToken: 'text null',
    now: 'timestamptz',
  },
  text: ({ userId, agency, accountNumber, document, clientToken, now }) => sql`
    insert into accounts as a (user_id, provider, agency, account_number, document, status,
           provider_client_token, created_at, updated_at)
    values (${userId}, 'provider', ${agency}, ${accountNumber}, ${document}, 'ACTIVE',
      ${clientToken}, ${now}, ${now})
        on conflict (user_id) do update
       set agency = excluded.agency, account_number = excluded.account_number,
           ${ofSameNumber(now)},
           provider_client_token =
             coalesce(excluded.provider_client_token, a.provider_client_token),
           updated_at = excluded.updated_at
     where a.provider = 'provider'
    returning id`,
});

/**
 * Stores the account that the provider has opened.
 * @param account its client token is sealed.
 */
export async function storeProviderAccount(
  { db, clock }: Store,
  account: NewAccount & { readonly clientToken: string | null },
): Promise<void> {
  const { userId, agency, accountNumber, document, clientToken } = account;
  await db.query(storeAtProvider, {
    userId,
    agency,
    accountNumber,
    document,
    clientToken,
    now: clock.now(),
  });
}

const findRenumbering = statement({
  name: 'account-renumbered',
  parameters: { userId: 'int', since: 'timestamptz' },
  text: ({ userId, since }) => sql`
    select from accounts
     where user_id = ${userId} and renumbered_at > ${since} - interval '1 minute'`,
});

/** Whether a login has named another account since a time; clocks differ by a minute at most. */
export async function wasRenumbered(
  { db }: Pick<Store, 'db'>,
  user: { readonly userId: number; readonly since: Date },
): Promise<boolean> {
  return (await db.query(findRenumbering, user)).length > 0;
}

/** SQL, because an app reads the balance more often than anything else. */
const setBalance = statement({
  name: 'provider-balance-keep',
  parameters: { accountId: 'int', balance: 'numeric', now: 'timestamptz' },
  text: ({ accountId, balance, now }) => sql`
    update accounts set balance = ${balance}, balance_read_at = ${now} where id = ${accountId}`,
});

/** Stores a balance, in centavos, to be used when the provider does not respond. */
export async function saveBalance(
  { db, clock }: Store,
  { accountId, cents }: { readonly accountId: number; readonly cents: number },
): Promise<void> {
  await db.query(setBalance, { accountId, balance: decimalFromCents(cents), now: clock.now() });
}

const moveStatus = statement({
  name: 'ops-account-move-status',
  parameters: { userId: 'int', from: 'text', to: 'text', now: 'timestamptz' },
  text: ({ userId, from, to, now }) => sql<{ id: number }>`
    update accounts set status = ${to}, updated_at = ${now} where user_id = ${userId}
      and status = ${from}
    returning id`,
});

export interface StatusMove {
  readonly userId: number;
  readonly from: AccountStatus;
  readonly to: AccountStatus;
}

/** @returns the id of the changed account, or null when the user has none in `from`. */
export async function moveAccountStatus(
  { db, clock }: Store,
  { userId, from, to }: StatusMove,
): Promise<number | null> {
  const [moved] = await db.query(moveStatus, { userId, from, to, now: clock.now() });
  return moved?.id ?? null;
}

const findStatus = statement({
  name: 'ops-account-status',
  parameters: { userId: 'int' },
  text: ({ userId }) => sql<{ status: AccountStatus }>`
    select status from accounts where user_id = ${userId}`,
});

/** @returns the status of a user's account, or null when the user has none. */
export async function findAccountStatus(
  { db }: Pick<LocalContext, 'db'>,
  userId: number,
): Promise<AccountStatus | null> {
  const [account] = await db.query(findStatus, { userId });
  return account?.status ?? null;
}
