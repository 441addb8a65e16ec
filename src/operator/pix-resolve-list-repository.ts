/** Finds the sends that a list of the bank names. */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { isUuid } from '../domain/text.ts';
import type { PixStatus } from '../domain/pix.ts';

const findNamed = statement({
  name: 'pix-resolve-named',
  parameters: { ids: 'uuid[]', endToEnds: 'text[]' },
  text: ({ ids, endToEnds }) => sql<NamedPix>`
    select id, end_to_end as "endToEnd", status from pix_transactions
     where id = any(${ids})
    union
    select id, end_to_end, status from pix_transactions
     where end_to_end = any(${endToEnds}) and operation = 'SEND'`,
});

export interface NamedPix {
  readonly id: string;
  readonly endToEnd: string | null;
  readonly status: PixStatus;
}

/** @returns the transactions with one of the names: an id, or the end-to-end id of a send. */
export async function findNamedPix(
  { db }: Pick<LocalContext, 'db'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, NamedPix>> {
  const rows = await db.query(findNamed, { ids: names.filter(isUuid), endToEnds: names });
  return new Map([
    ...rows.map((row) => [row.endToEnd ?? '', row] as const),
    ...rows.map((row) => [row.id, row] as const),
  ]);
}

/** @public For the tests of plans. */
export const resolveListStatements = { findNamed };
