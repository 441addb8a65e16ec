/**
 * `npm run docs`: writes the generated parts of documents and contract, the collection, the columns
 * and the statements. The costs of operations are measured by their test, which also writes them.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../system/service-process.ts';
import { columnsFile, renderColumns } from './columns.ts';
import { collectionFile, postmanCollection } from './postman.ts';
import { renderStatements, statementsFile } from './statements.ts';
import { contractFile, documentsWithParts, withFreshParts, withPaySafely } from './tables.ts';

for (const path of documentsWithParts) {
  const file = join(root, path);
  writeFileSync(file, await withFreshParts(path, readFileSync(file, 'utf8')));
}

writeFileSync(contractFile, withPaySafely(readFileSync(contractFile, 'utf8')));
writeFileSync(collectionFile, await postmanCollection());
writeFileSync(columnsFile, await renderColumns());
writeFileSync(statementsFile, await renderStatements());

const measuring = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-reporter=dot',
    '--test-global-setup=test/support/global-setup.ts',
    'test/api/db/round-trips.test.ts',
  ],
  { cwd: root, env: { ...process.env, DATABASE_URL: '', WRITE_COSTS: '1' }, encoding: 'utf8' },
);
if (measuring.status !== 0) throw new Error(`the costs were not measured: ${measuring.stdout}`);
