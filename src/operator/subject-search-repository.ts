/**
 * Where a person is named outside of their own rows: in payloads of events, and in transactions of
 * others. The statements are SQL: each reads a whole table, a page at a time.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { nilUuid } from '../domain/text.ts';

const pageOfEvents = 2_000;

const readEvents = statement({
  name: 'ops-subject-events',
  parameters: { receivedAfter: 'timestamptz', idAfter: 'uuid', values: 'bytea[]' },
  text: ({ receivedAfter, idAfter, values }) => sql<{
    id: string;
    receivedAt: Date;
    isNamed: boolean;
  }>`
    with page as (
      select id, received_at, payload from webhook_events
       where payload is not null and (received_at, id) > (${receivedAfter}, ${idAfter})
       order by received_at, id limit ${pageOfEvents}
    )
    select id, received_at as "receivedAt",
           exists (select from unnest(${values}) as named where position(named in payload) > 0)
             as "isNamed"
      from page order by received_at, id`,
});

/**
 * Reads every stored payload, a page at a time.
 * @param values as a payload may contain them.
 * @returns the ids of the events whose payload has one of the values.
 */
export async function findEventsNaming(
  { db, stopping }: Pick<LocalContext, 'db' | 'stopping'>,
  values: readonly string[],
): Promise<string[]> {
  const named: string[] = [];
  const bytes = values.map((value) => Buffer.from(value));
  let after = { receivedAfter: new Date(0), idAfter: nilUuid };
  while (!stopping.aborted) {
    const rows = await db.query(readEvents, { ...after, values: bytes });
    named.push(...rows.filter((row) => row.isNamed).map(({ id }) => id));
    const last = rows.at(-1);
    if (!last || rows.length < pageOfEvents) break;
    after = { receivedAfter: last.receivedAt, idAfter: last.id };
  }
  return named;
}

const pageOfTransactions = 10_000;

/** A text as people may have typed it: without case and accents, and with single blanks. */
function folded(text: string): string {
  const apart = `normalize(lower(${text}), NFKD)`;
  const plain = String.raw`regexp_replace(${apart}, '[\u0300-\u036f]', '', 'g')`;
  return String.raw`regexp_replace(${plain}, '\s+', ' ', 'g')`;
}

const readTransactions = statement({
  name: 'ops-subject-paid-by-others',
  parameters: { after: 'uuid', values: 'text[]', words: 'text[]', userId: 'int' },
  text: ({ after, values, words, userId }) => sql<TransactionPage>`
    with page as (
      select id, user_id, pix_key, description from pix_transactions
       where id > ${after} order by id limit ${pageOfTransactions}
    )
    select max(id::text) as last, count(*)::int as rows,
           coalesce(array_agg(id::text) filter (where pix_key = any(${values})
             and user_id <> ${userId}),
                    '{}') as named,
           count(*) filter (where user_id <> ${userId} and exists (
             select from unnest(${words}) as word
              where position(${folded('word')} in ${folded('description')}) > 0))::int as described
      from page`,
});

/** How other users' transactions name a person. */
export interface NamedByOthers {
  /** The ids of those whose key is one of the person's values. */
  readonly byKey: readonly string[];
  /** How many have a word about the person in their description. */
  readonly inDescription: number;
}

/**
 * Reads the key and the description of every transaction, a page at a time.
 * @param person `values` are compared with keys, `words` are sought in descriptions.
 */
export async function findNamedByOthers(
  { db, stopping }: Pick<LocalContext, 'db' | 'stopping'>,
  person: { readonly userId: number } & Readonly<Record<'values' | 'words', readonly string[]>>,
): Promise<NamedByOthers> {
  const byKey: string[] = [];
  let inDescription = 0;
  let after = nilUuid;
  while (!stopping.aborted) {
    const [page] = await db.query(readTransactions, { after, ...person });
    byKey.push(...(page?.named ?? []));
    inDescription += page?.described ?? 0;
    if (!page?.last || page.rows < pageOfTransactions) break;
    after = page.last;
  }
  return { byKey, inDescription };
}

interface TransactionPage {
  readonly last: string | null;
  readonly rows: number;
  readonly named: readonly string[];
  readonly described: number;
}
