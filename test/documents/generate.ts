/**
 * `npm run docs`: writes the generated parts of documents and contract, the collection, the columns
 * and the statements.
 */
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
