/**
 * Takes the place of `src/db/statement.ts` while `statements.ts` loads the sources, once for each
 * file that declares statements: it records what the file declares.
 */
import * as real from '../../src/db/statement.ts';
import { recordStatement } from './statements.ts';

export { baseName, bind, isOneOf, sql, toSnakeCase } from '../../src/db/statement.ts';

const file = new URL(import.meta.url).searchParams.get('file') ?? '';

const recording =
  <Declaration, Declared extends real.Statement>(declare: (declaration: Declaration) => Declared) =>
  (declaration: Declaration): Declared => {
    const declared = declare(declaration);
    recordStatement(file, declared);
    return declared;
  };

export const statement = recording(real.statement);
export const batchedStatement = recording(real.batchedStatement);
