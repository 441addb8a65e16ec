/** The columns of tables in statements. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf, type RowOf } from '../../../src/db/rows.ts';

const found = columnsOf(
  'pix_transactions',
  `id, status,
   endToEnd`,
);

test('a column has its name of the database in SQL, and its name in TypeScript in a row', () => {
  assert.equal(found.list(), 'id, status, end_to_end');
  assert.equal(found.list('t'), 't.id, t.status, t.end_to_end');
  assert.equal(found.select('t'), 't.id, t.status, t.end_to_end as "endToEnd"');
});

test('parameters and rows have the types of the columns', () => {
  assert.deepEqual(found.types, { id: 'uuid', status: 'text', endToEnd: 'text null' });
  const row: RowOf<typeof found> = { id: 'one', status: 'COMPLETED', endToEnd: null };
  // @ts-expect-error a status is one of the words of the domain
  const unknownWord: typeof row = { ...row, status: 'DONE' };
  assert.notEqual(unknownWord.status, row.status);
});

test('a column that the table does not have does not compile', () => {
  // @ts-expect-error thereIsNoColumn: "amountCents"
  const unknown = columnsOf('pix_transactions', 'id, amountCents');
  assert.equal(unknown.list(), 'id, amount_cents');
});
