/** MikroORM's unit of work: reads and writes of entities, and statements that belong to it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database, Statement } from './database.ts';
import type * as Entities from './entities/index.ts';

/** @returns all entities. They load MikroORM, so they are imported when a caller needs one. */
export function loadEntities(): Promise<typeof Entities> {
  return import('./entities/index.ts');
}

/** @returns a fresh entity manager, and the entities. */
export async function openUnit(db: Database) {
  const [em, entities] = await Promise.all([db.em(), loadEntities()]);
  return { em, ...entities };
}

/** @returns the pattern for `$ilike` of a text that contains `part`. */
export function containing(part: string): string {
  return `%${part.replace(/[\\%_]/g, String.raw`\$&`)}%`;
}

/**
 * Runs a statement as a part of a unit of work, in its commit. Dates of the rows are text.
 * @param em the entity manager of `transactional`.
 */
export function queryIn<Row extends object>(
  em: EntityManager,
  { text }: Statement,
  parameters: readonly unknown[],
): Promise<Row[]> {
  return em.execute<Row[]>(text, [...parameters]);
}

/**
 * @param em the entity manager of `transactional`.
 * @returns a context whose statements and entities belong to the unit of work.
 */
export function inUnit<Context extends { readonly db: Database }>(
  context: Context,
  em: EntityManager,
): Context {
  const query = (statement: Statement, parameters: readonly unknown[]) =>
    queryIn(em, statement, parameters);
  return {
    ...context,
    db: { ...context.db, query: query as Database['query'], em: () => Promise.resolve(em) },
  };
}
