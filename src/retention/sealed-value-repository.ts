/**
 * Finds and replaces stored values that are sealed with a key other than the first one of the ring.
 * The statements are SQL, because they compare prefixes of bytes, and a value may be part of a
 * column.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';

/** A kind of sealed value: where it is stored, and for whom it is sealed. */
export type SealedPlace = ReturnType<typeof sealedPlace>;

interface Place {
  readonly name: string;
  /** The table, and what else the owner is read from. */
  readonly from: string;
  readonly table: string;
  /** SQL expressions over the table. */
  readonly key: string;
  readonly owner: string;
  readonly sealed: string;
  /** Stores a sealed value. */
  readonly set: (sealed: string) => string;
  readonly where?: string;
}

function sealedPlace({ name, from, table, key, owner, sealed, set, where }: Place) {
  return {
    name,
    find: statement({
      name: `seal-again-${name}-find`,
      parameters: { prefix: 'bytea', after: 'text', limit: 'int' },
      text: ({ prefix, after, limit }) => sql<SealedValue>`
        select ${key} as key, ${owner} as owner, ${sealed} as sealed from ${from}
         where ${where ?? `${sealed} is not null`} and ${key} > ${after}
           and substring(${sealed} from 1 for length(${prefix})) <> ${prefix}
         order by ${key} limit ${limit}`,
    }),
    replace: statement({
      name: `seal-again-${name}-replace`,
      parameters: { key: 'text', from: 'bytea', to: 'bytea' },
      text: (value) => sql`
        update ${table} set ${set(value.to)}
         where ${key} = ${value.key} and ${sealed} = ${value.from}`,
    }),
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
    set: (value) => `sealed_token = ${value}`,
  }),
  sealedPlace({
    name: 'codes',
    from: 'onboarding_applications',
    table: 'onboarding_applications',
    key: 'id::text',
    owner: `'onboarding:' || id`,
    sealed: 'sealed_code',
    set: (value) => `sealed_code = ${value}`,
  }),
  sealedPlace({
    name: 'chunks',
    from: 'onboarding_document_chunks join onboarding_documents d on d.id = document_id',
    table: 'onboarding_document_chunks',
    key: `document_id || ':' || to_char(place, 'FM0000000000')`,
    owner: `'document:' || d.application_id || ':' || d.id || ':' || place`,
    sealed: 'onboarding_document_chunks.sealed_content',
    set: (value) => `sealed_content = ${value}`,
  }),
  sealedPlace({
    name: 'disputes',
    from: 'pix_disputes',
    table: 'pix_disputes',
    key: 'transaction_id::text',
    owner: `'dispute:' || transaction_id`,
    sealed: 'details',
    set: (value) => `details = ${value}`,
  }),
  sealedPlace({
    name: 'client-tokens',
    from: 'accounts',
    table: 'accounts',
    key: `to_char(user_id, 'FM0000000000')`,
    owner: `'client-token:' || user_id`,
    sealed: `decode(substr(provider_client_token, 8), 'base64')`,
    set: (value) => `provider_client_token = 'sealed:' || encode(${value}, 'base64')`,
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
  return db.query(find, { prefix, after, limit });
}

/** Replaces a sealed value, unless it is another one by now. */
export async function replaceSealed(
  { db }: Pick<LocalContext, 'db'>,
  { replace }: SealedPlace,
  { key, from, to }: { readonly key: string; readonly from: Buffer; readonly to: Buffer },
): Promise<void> {
  await db.query(replace, { key, from, to });
}
