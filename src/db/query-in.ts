import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database, Statement } from './database.ts';

/**
 * Runs a statement as a part of a unit of work, so that both are committed together or not at all.
 * Points in time come back as text.
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
 * @returns a context whose statements and entities belong to a unit of work.
 * @param em the entity manager of `transactional`.
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
