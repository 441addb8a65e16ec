/** Checks a dialect before it is active, and shows what the active ones read. Needs no database. */
import { basename } from 'node:path';
import type { Config } from '../config/config.ts';
import { DialectError, openDialects } from '../provider/dialect/load.ts';

type ActiveDialects = Config['provider']['dialects'];

/** Whether a dialect can be used beside others. */
export type DialectCheck =
  | { readonly isUsable: true; readonly beside: readonly string[]; readonly shapes: number }
  | { readonly isUsable: false; readonly faults: readonly string[] };

/**
 * Checks the file of a dialect and its samples beside the active ones. A file that has the name of
 * an active dialect is checked in its place.
 */
export function checkDialect(active: ActiveDialects, file: string): DialectCheck {
  const names = active.names.filter((name) => name !== basename(file, '.yaml'));
  try {
    const { shapes } = openDialects({ names, files: [...new Set([...active.files, file])] });
    return { isUsable: true, beside: names, shapes: shapes.length };
  } catch (error) {
    if (!(error instanceof DialectError)) throw error;
    return { isUsable: false, faults: error.faults };
  }
}

/** @returns what the active dialects read in the bytes of an event. */
export function readByDialects(active: ActiveDialects, event: Buffer): readonly unknown[] {
  return [...openDialects(active).eachStoredEvent(event)];
}
