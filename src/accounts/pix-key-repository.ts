/**
 * The Pix keys that are stored of an account, to find the payee of a received Pix. The lists are
 * SQL because MikroORM writes arrays as text and quotes neither `NULL` nor white space.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';

/**
 * The version of a change of stored keys, as SQL. It exceeds every version that was read before the
 * change began, whatever the clocks of the processes say.
 */
export const nextKeysVersion = '(select coalesce(max(pix_keys_version), 0) + 1 from accounts)';

/**
 * The keys that one account lists, and the accounts that get or lose them, locked in their order.
 * The directory has one account for each key, so that another account loses a key that is listed.
 * The database may execute a statement long after its process has stopped to wait for it. Where an
 * account has changed since the request to the provider, the list is therefore uncertain:
 * - The account that lists has changed: the list adds no key, and takes none from another account
 *   that has changed.
 * - Only another account that has the key has changed: neither has it until the next list.
 */
function listedKeys({ accountId, keys, seen }: Record<'accountId' | 'keys' | 'seen', string>) {
  return `
    with locked as (
      select id, pix_keys, coalesce(pix_keys_version, 0) > ${seen} as has_changed from accounts
       where id = ${accountId} or pix_keys && ${keys} order by id for update
    ), holders as (
      select locked.* from locked
        join locked lister on lister.id = ${accountId}
       where locked.id = lister.id or not (locked.has_changed and lister.has_changed)
    ), certain as (
      select array(select key from unnest(${keys}) as key
                    where not exists (select from holders
                                       where has_changed and id <> ${accountId}
                                         and pix_keys @> array[key])) as keys
    )`;
}

const listing = { accountId: 'int', keys: 'text[]', seen: 'bigint' } as const;

/** @public For the tests of the simulation, which find it by its shape. */
export const keyStatements = {
  version: statement({
    name: 'account-keys-version',
    parameters: {},
    text: () => sql<{ version: string }>`
      select coalesce(max(pix_keys_version), 0) as version from accounts`,
  }),
  keep: statement({
    name: 'account-keys-keep',
    parameters: listing,
    text: ({ accountId, keys, seen }) => sql`${listedKeys({ accountId, keys, seen })}
    update accounts a
       set pix_keys = case when a.id <> ${accountId}
                           then array(select key from unnest(a.pix_keys) as key
                                       where key <> all(${keys}))
                           when holders.has_changed
                           then array(select key from unnest(a.pix_keys) as key
                                       where key = any(certain.keys))
                           else certain.keys end,
           pix_keys_version = ${nextKeysVersion}
      from holders, certain where a.id = holders.id`,
  }),
  add: statement({
    name: 'account-keys-add',
    parameters: listing,
    text: ({ accountId, keys, seen }) => sql`${listedKeys({ accountId, keys, seen })}
    update accounts a
       set pix_keys = case when a.id = ${accountId} and holders.has_changed then a.pix_keys
                           else array(select key from unnest(a.pix_keys) as key
                                       where key <> all(${keys}))
                                || case when a.id = ${accountId} then certain.keys else '{}' end
                           end,
           pix_keys_version = ${nextKeysVersion}
      from holders, certain where a.id = holders.id`,
  }),
  forget: statement({
    name: 'account-keys-forget',
    parameters: { accountId: 'int', key: 'text' },
    text: ({ accountId, key }) => sql<{ version: string | null }>`
      with stored as (
        select pix_keys @> array[${key}] as has_key from accounts where id = ${accountId} for update
      )
      update accounts
         set pix_keys = array_remove(pix_keys, ${key}), pix_keys_version = ${nextKeysVersion}
        from stored where id = ${accountId}
      returning case when stored.has_key then pix_keys_version end as version`,
  }),
  /** Another account may have got the key meanwhile, which leaves the list of this one as it is. */
  restore: statement({
    name: 'account-keys-restore',
    parameters: { accountId: 'int', key: 'text', version: 'bigint' },
    text: ({ accountId, key, version }) => sql`
      update accounts
         set pix_keys = pix_keys || array[${key}], pix_keys_version = ${nextKeysVersion}
       where id = ${accountId} and pix_keys_version = ${version}
         and not exists (select from accounts other where other.pix_keys @> array[${key}])`,
  }),
};

/** Pix keys that the provider has reported for an account. */
export interface ListedKeys {
  readonly accountId: number;
  readonly keys: readonly string[];
  /** The version of the stored keys before the provider was asked. */
  readonly seen: string;
}

/** @returns the version of the stored Pix keys of all accounts, which grows with each change. */
export async function findKeysVersion({ db }: Pick<LocalContext, 'db'>): Promise<string> {
  const [found] = await db.query(keyStatements.version, {});
  return found?.version ?? '0';
}

/** Replaces the stored Pix keys of an account; other accounts lose these keys. */
export async function keepPixKeys(
  { db }: Pick<LocalContext, 'db'>,
  { accountId, keys, seen }: ListedKeys,
): Promise<void> {
  await db.query(keyStatements.keep, { accountId, keys, seen });
}

/** Stores Pix keys that an account has got; other accounts lose these keys. */
export async function addPixKeys(
  { db }: Pick<LocalContext, 'db'>,
  { accountId, keys, seen }: ListedKeys,
): Promise<void> {
  await db.query(keyStatements.add, { accountId, keys, seen });
}

interface StoredKey {
  readonly accountId: number;
  readonly key: string;
}

/**
 * Forgets a Pix key that the account no longer has: another account may register it.
 * @returns the version of the list that has lost the key; null: the list did not have it.
 */
export async function forgetPixKey(
  { db }: Pick<LocalContext, 'db'>,
  stored: StoredKey,
): Promise<string | null> {
  const [list] = await db.query(keyStatements.forget, stored);
  return list?.version ?? null;
}

/**
 * Stores a Pix key again that was forgotten and that the account still has, unless the list has
 * changed since, or another account has got the key.
 * @param forgotten with the version that forgetting it has returned.
 */
export async function restorePixKey(
  { db }: Pick<LocalContext, 'db'>,
  forgotten: StoredKey & { readonly version: string },
): Promise<void> {
  await db.query(keyStatements.restore, forgotten);
}
