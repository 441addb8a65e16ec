/**
 * Runs tests on a mutant. Node loads this file before the tests; it replaces a statement or a list
 * of phases of the service with the changed one.
 *
 *     MUTANT='pix-take-over: without settled_at is null' \
 *       NODE_OPTIONS="--import $PWD/test/simulation/strength/apply.ts" node --test FILE
 */
import { loadModule } from 'libpg-query';
import { changedMoves, changedStatements } from './mutants.ts';

const wanted = process.env['MUTANT'] ?? '';
await loadModule();
const statement = changedStatements().find(({ name }) => name === wanted);
const move = changedMoves().find(({ name }) => name === wanted);
if (statement) Object.assign(statement.original, { text: statement.text });
else if (move) (move.listed as string[]).splice(0, move.listed.length, ...move.phases);
else throw new Error(`no mutant of a statement or a move: ${wanted}`);
