/** `src/db/columns.ts` has the columns of the entities. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { columnsFile, renderColumns } from './columns.ts';

test('columns.ts is that of the entities; otherwise run: npm run docs', async () => {
  assert.equal(readFileSync(columnsFile, 'utf8'), await renderColumns());
});
