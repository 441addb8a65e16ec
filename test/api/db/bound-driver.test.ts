/** Values of units of work are bound: no statement's text shows a name, a CPF or a hash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase } from '../../support/open-database.ts';

const opened = await openTestDatabase();

for (const text of [
  'select current_query() as query, ?::text as name',
  'select current_query() as query, $1::text as name',
]) {
  test(`the text of a statement has no values: ${text}`, async () => {
    const em = await opened.db.em();
    const name = "Maria d'Ávila?";
    const [row] = await em.execute<{ query: string; name: string }[]>(text, [name]);
    assert.deepEqual({ ...row }, { query: text.replace('?', '$1'), name });
  });
}
