/** Statements with named, typed parameters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../../src/db/database.ts';
import { batchedStatement, bind, sql, statement } from '../../../src/db/statement.ts';

interface Row {
  readonly id: string;
}

const rename = statement({
  name: 'rename',
  parameters: { id: 'uuid', name: 'text null', tags: 'text[]' },
  text: ({ id, name, tags }) => sql<Row>`
    update things set name = ${name}, tags = ${tags} where id = ${id} and ${name} <> ''`,
});

const settle = batchedStatement({
  name: 'settle',
  parameters: { id: 'uuid', endToEnd: 'text null', isNight20: 'boolean' },
  batching: { conflictKey: 'id', lockOrder: ['endToEnd', 'id'] },
  text: (requested) => sql<Row>`select ordinal, id from ${requested}`,
});

test('a name becomes a place with its type, however often the text has it', () => {
  assert.equal(
    rename.text,
    `
    update things set name = $2::text, tags = $3::text[] where id = $1::uuid and $2::text <> ''`,
  );
});

test('the values are in the order of the declaration, not in that of the call', () => {
  const values = bind(rename, { tags: ['a'], name: null, id: 'one' });
  assert.deepEqual(values, ['one', null, ['a']]);
});

test('a batched statement reads a row for each call, with its columns in snake case', () => {
  assert.equal(
    settle.text,
    'select ordinal, id from unnest($1::uuid[], $2::text[], $3::boolean[]) ' +
      'with ordinality as requested (id, end_to_end, is_night_20, ordinal)',
  );
  assert.deepEqual(settle.batching, { conflictKey: 'id', lockOrder: ['endToEnd', 'id'] });
});

test('for one call it reads a row of constants', () => {
  assert.deepEqual(settle.alone, {
    name: 'settle-alone',
    text:
      'select ordinal, id from (select $1::uuid as id, $2::text as end_to_end, ' +
      '$3::boolean as is_night_20, 1::bigint as ordinal) as requested',
  });
  const call = { isNight20: true, id: 'one', endToEnd: null };
  assert.deepEqual(bind(settle, call), ['one', null, true]);
});

test('a statement without parameters takes none', () => {
  const count = statement({ name: 'count', parameters: {}, text: () => sql`select ${1} as one` });
  assert.deepEqual([count.text, bind(count, {})], ['select 1 as one', []]);
});

test('the values of an array are bound already', () => {
  assert.deepEqual(bind(rename, ['one', null, []]), ['one', null, []]);
});

/** Each line that must not compile compiles if the types miss its mistake. */
export const mistakes = {
  async ofCalls({ query }: Database) {
    const call = { id: 'one', name: null, tags: [] };
    // @ts-expect-error a missing name
    await query(rename, { id: 'one', name: null });
    // @ts-expect-error an unknown name
    await query(rename, { ...call, title: 'x' });
    // @ts-expect-error another type
    await query(rename, { ...call, id: 1 });
    // @ts-expect-error null where none is declared
    await query(rename, { ...call, id: null });
    // @ts-expect-error positions
    await query(rename, ['one', null, []]);
    const [row] = await query(rename, call);
    // @ts-expect-error a column that the statement does not return
    return row?.name;
  },
  inText: () =>
    statement({
      name: 'unknown-name',
      parameters: { id: 'uuid' },
      // @ts-expect-error a name that is not declared
      text: ({ id, name }) => sql`select ${id}, ${name}`,
    }),
  inBatching: () =>
    batchedStatement({
      name: 'unknown-key',
      parameters: { id: 'uuid' },
      // @ts-expect-error a key that is no parameter
      batching: { conflictKey: 'name' },
      text: (requested) => sql`select ordinal from ${requested}`,
    }),
  inOrder: () =>
    batchedStatement({
      name: 'unknown-order',
      parameters: { id: 'uuid' },
      // @ts-expect-error an order by no parameter
      batching: { lockOrder: ['name'] },
      text: (requested) => sql`select ordinal from ${requested}`,
    }),
  inTypes: () =>
    // @ts-expect-error no type of SQL
    statement({ name: 'unknown-type', parameters: { id: 'uid' }, text: ({ id }) => sql`${id}` }),
};
