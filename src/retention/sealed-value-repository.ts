/**
 * Finds and replaces stored values that are sealed with a key other than the first one of the ring.
 * The statements are SQL, because they compare prefixes of bytes, and a value may be part of a
 * column.
 */
import type { LocalContext } from '../context/context.ts';
import type { Statement } from '../db/database.ts';

/** A kind of sealed value: where it is stored, and for whom it is sealed. */
export interface SealedPlace {
  readonly name: string;
  readonly find: Statement;
  readonly replace: Statement;
}

interface Place {
  readonly name: string;
  /** The table, and what else the owner is read from. */
  readonly from: string;
  readonly table: string;
  /** SQL expressions over the table. */
  readonly key: string;
  readonly owner: string;
  readonly sealed: string;
  /** Stores the value of `$3`. */
  readonly set: string;
  readonly where?: string;
}

function sealedPlace({ name, from, table, key, owner, sealed, set, where }: Place): SealedPlace {
  return {
    name,
    find: {
      name: `seal-again-${name}-find`,
      text: `
        select ${key} as key, ${owner} as owner, ${sealed} as sealed from ${from}
         where ${where ?? `${sealed} is not null`} and ${key} > $2
           and substring(${sealed} from 1 for length($1::bytea)) <> $1::bytea
         order by ${key} limit $3`,
    },
    replace: {
      name: `seal-again-${name}-replace`,
      text: `update ${table} set ${set} where ${key} = $1 and ${sealed} = $2::bytea`,
    },
  };
}

/** Every place that holds sealed values. */
export const sealedPlaces: readonly SealedPlace[] = [
  sealedPlace({
    name: 'sessions',
    from: 'banking_sessions',
    table: 'banking_sessions',
    key: 'id::text',
    owner: `'user:' || user_id`,
    sealed: 'sealed_token',
    set: 'sealed_token = $3',
  }),
  sealedPlace({
    name: 'codes',
    from: 'onboarding_applications',
    table: 'onboarding_applications',
    key: 'id::text',
    owner: `'onboarding:' || id`,
    sealed: 'sealed_code',
    set: 'sealed_code = $3',
  }),
  sealedPlace({
    name: 'chunks',
    from: 'onboarding_document_chunks join onboarding_documents d on d.id = document_id',
    table: 'onboarding_document_chunks',
    key: `document_id || ':' || to_char(place, 'FM0000000000')`,
    owner: `'document:' || d.application_id || ':' || d.id || ':' || place`,
    sealed: 'onboarding_document_chunks.sealed_content',
    set: 'sealed_content = $3',
  }),
  sealedPlace({
    name: 'client-tokens',
    from: 'accounts',
    table: 'accounts',
    key: `to_char(user_id, 'FM0000000000')`,
    owner: `'client-token:' || user_id`,
    sealed: `decode(substr(provider_client_token, 8), 'base64')`,
    set: `provider_client_token = 'sealed:' || encode($3::bytea, 'base64')`,
    where: `provider_client_token like 'sealed:%'`,
  }),
];

export interface SealedValue {
  readonly key: string;
  readonly owner: string;
  readonly sealed: Buffer;
}

export interface SealedPage {
  /** The prefix of values that the first key has sealed. */
  readonly prefix: Buffer;
  /** The last key of the page before; empty for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** @returns a page of the values of a place that another key has sealed, in the order of keys. */
export function findSealedByOthers(
  { db }: Pick<LocalContext, 'db'>,
  { find }: SealedPlace,
  { prefix, after, limit }: SealedPage,
): Promise<SealedValue[]> {
  return db.query<SealedValue>(find, [prefix, after, limit]);
}

/** Replaces a sealed value, unless it is another one by now. */
export async function replaceSealed(
  { db }: Pick<LocalContext, 'db'>,
  { replace }: SealedPlace,
  { key, from, to }: { readonly key: string; readonly from: Buffer; readonly to: Buffer },
): Promise<void> {
  await db.query(replace, [key, from, to]);
}
