/** Opens the dialects of the configuration: this project's by name, and files of one's own. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DialectError, loadDialects, type DialectText } from './load.ts';
import type { Dialects } from './dialects.ts';

/** The folder of this project's dialects. */
const folder = join(import.meta.dirname, '../../../contract/provider/dialects');

const extension = '.yaml';

export interface DialectChoice {
  /** Names of this project's dialects, such as `bacen`. */
  readonly names: readonly string[];
  /** Paths of further files; the samples of `bank.yaml` are in `bank.samples.json`. */
  readonly files: readonly string[];
}

/**
 * Opens the chosen dialects.
 * @throws DialectError with all faults, also of a file that cannot be read.
 */
export function openDialects({ names, files }: DialectChoice): Dialects {
  const own = names.map((name) => join(folder, `${name}${extension}`));
  return loadDialects([...own, ...files].map((path) => readDialect(path)));
}

/** Reads the file of a dialect, and its samples if there are any. */
export function readDialect(path: string): DialectText {
  const name = basename(path, extension);
  const samples = join(dirname(path), `${name}.samples.json`);
  try {
    return {
      name,
      text: readFileSync(path, 'utf8'),
      samples: existsSync(samples) ? readFileSync(samples, 'utf8') : null,
    };
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'no text';
    throw new DialectError([`${path} cannot be read (${reason})`]);
  }
}
