import type { EntityManager } from '@mikro-orm/postgresql';
import type { Statement } from './database.ts';

/**
 * Runs a statement as a part of a unit of work, so that both are committed together or not at all.
 * MikroORM binds no parameters: it writes their values into the text, in the order of its question
 * marks. Points in time come back as text.
 * @param em what `transactional` has handed out.
 */
export function queryIn<Row extends object>(
  em: EntityManager,
  { text }: Statement,
  parameters: readonly unknown[],
): Promise<Row[]> {
  const values: unknown[] = [];
  const marked = text.replaceAll(/\$(\d+)/g, (_, place: string) => {
    values.push(parameters[Number(place) - 1]);
    return '?';
  });
  return em.execute<Row[]>(marked, values);
}
