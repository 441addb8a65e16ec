/**
 * Every declared SQL statement of the sources, as `npm run docs` writes it to
 * `src/db/statements.sql`: whole, as PostgreSQL gets it.
 */
import { globSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format } from 'sql-formatter';
import type { Statement } from '../../src/db/statement.ts';
import { root } from '../system/service-process.ts';

export const statementsFile = join(root, 'src', 'db', 'statements.sql');

export interface DeclaredStatement {
  /** Its path from the root. */
  readonly file: string;
  readonly statement: Statement;
  /** The calls that have declared it, innermost first: `path:line:column`. */
  readonly calls: readonly string[];
}

/** The files of the sources that declare statements, in order. */
export const declaringFiles: readonly string[] = globSync('{src,bin}/**/*.ts', { cwd: root })
  .filter((path) => readText(path).includes("/statement.ts'"))
  .toSorted();

const recorded: DeclaredStatement[] = [];

/** Called for each statement that the sources declare while they are loaded. */
export function recordStatement(file: string, statement: Statement): void {
  const { stack = '' } = new Error();
  const calls = [...stack.matchAll(/file:\/\/[^)\s]+/g)].flatMap(([place]) => {
    const [, url = '', at = ''] = /^(.+?)(?:\?[^:]*)?(:\d+:\d+)$/.exec(place) ?? [];
    const path = url && relative(root, fileURLToPath(url));
    return path.startsWith('test/') ? [] : [`${path}${at}`];
  });
  recorded.push({ file, statement, calls });
}

/** Loads the sources once more, under other addresses, and returns the statements they declare. */
export async function declaredStatements(): Promise<readonly DeclaredStatement[]> {
  if (recorded.length > 0) return recorded;
  const isSource = (url = ''): boolean =>
    new URL(url).pathname.endsWith('.ts') &&
    /^(?:src|bin)\//.test(relative(root, fileURLToPath(url)));
  const stands = import.meta.resolve('./declared-statement.ts');
  const original = pathToFileURL(join(root, 'src', 'db', 'statement.ts')).href;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const isInside = context.parentURL?.endsWith('?statements') && found.url.startsWith('file:');
      if (!isInside || !isSource(found.url)) return found;
      if (found.url !== original) return { ...found, url: `${found.url}?statements` };
      const file = relative(root, fileURLToPath(context.parentURL ?? ''));
      return { ...found, url: `${stands}?file=${encodeURIComponent(file)}` };
    },
  });
  try {
    for (const path of declaringFiles) {
      await import(`${pathToFileURL(join(root, path)).href}?statements`);
    }
  } finally {
    hooks.deregister();
  }
  return recorded;
}

const introduction = `
-- Every SQL statement that the sources declare, as PostgreSQL gets it; only the layout differs.
-- Written by \`npm run docs\`: change the file that a statement names, not this one.
--
-- "batched": each parameter is an array with an element for each concurrent call (batcher.ts).
-- "indexed": runs, as batched ones do, on connections whose planner uses indexes only (pool.ts).
--
-- Not here, because no file declares their text: begin, commit, rollback and savepoints, LISTEN and
-- NOTIFY, the lock of the migrations (pool.ts, rolled-back.ts, notifications.ts, database.ts,
-- migrate.ts), and what MikroORM writes at run time for the entities of`.trim();

/** The text of the file. */
export async function renderStatements(): Promise<string> {
  const declared = await declaredStatements();
  const parts = declared
    .map((one) => ({ one, key: `${one.file} ${one.statement.name}` }))
    .toSorted((left, right) => (left.key < right.key ? -1 : 1))
    .map(({ one }) => renderStatement(one));
  const entities = filesWithEntities().map((path) => `-- ${path}`);
  return `${[[introduction, ...entities].join('\n'), ...parts].join('\n\n')}\n`;
}

/** The files whose reads and writes go through MikroORM. */
function filesWithEntities(): string[] {
  return globSync('src/*/**/*.ts', { cwd: root })
    .filter((path) => /\b(?:await openUnit\(|em\.execute)/.test(readText(path)))
    .toSorted();
}

function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function renderStatement({ file, statement }: DeclaredStatement): string {
  const { name, names = [], batching, indexed } = statement;
  const marks = [batching && 'batched', indexed && 'indexed'].filter(Boolean);
  const head = `-- ${file}: ${name}${marks.length > 0 ? ` (${marks.join(', ')})` : ''}`;
  const parameters = names.map((parameter, place) => `$${place + 1} ${parameter}`).join(', ');
  return [head, ...(parameters ? wrap(parameters) : []), `${formatStatement(statement)};`].join(
    '\n',
  );
}

function wrap(words: string): string[] {
  return (words.match(/.{1,96}(?:,|$)/g) ?? []).map((line) => `-- ${line.trim()}`);
}

function formatStatement({ text }: Statement): string {
  return format(text, { language: 'postgresql', expressionWidth: 100 }).trim();
}
