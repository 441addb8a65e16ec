/** `npm run docs`: writes the tables of the documents whose rows the code owns. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../system/service-process.ts';
import { codeTables, withFreshTables } from './tables.ts';

for (const path of new Set(codeTables.map((table) => table.path))) {
  const file = join(root, path);
  writeFileSync(file, await withFreshTables(path, readFileSync(file, 'utf8')));
}
