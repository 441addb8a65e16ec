/** Checks a dialect before it is active, and shows what the active ones read. Needs no database. */
import type { Config } from '../config/config.ts';
import { DialectError, dialectName, openDialects } from '../provider/dialect/load.ts';
import { readMessage } from '../provider/dialect/samples.ts';

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
  const chosen = beside(active, file);
  try {
    const { shapes } = openDialects(chosen);
    return { isUsable: true, beside: chosen.names, shapes: shapes.length };
  } catch (error) {
    if (!(error instanceof DialectError)) throw error;
    return { isUsable: false, faults: error.faults };
  }
}

/** The active dialects with a file, which replaces an active one of its name. */
function beside({ names, files }: ActiveDialects, file: string): ActiveDialects {
  const others = names.filter((name) => name !== dialectName(file));
  return { names: others, files: [...new Set([...files, file])] };
}

export interface MessageToRead {
  readonly bytes: Buffer;
  /** A dialect to read it by beside the active ones; it needs no samples yet. */
  readonly file?: string | undefined;
  readonly isStatement: boolean;
}

/**
 * @returns what is read in a message, as its sample would have it.
 * @throws DialectError when the dialects cannot be used.
 */
export function readByDialects(
  active: ActiveDialects,
  { bytes, file, isStatement }: MessageToRead,
): ReturnType<typeof readMessage> {
  const chosen = file === undefined ? active : beside(active, file);
  const dialects = openDialects(chosen, { runSamples: file === undefined });
  return readMessage(dialects, bytes, { isStatement });
}
