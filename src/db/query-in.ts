import type { EntityManager } from '@mikro-orm/postgresql';
import type { Statement } from './database.ts';

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
