/**
 * The reference servers are the yardstick of 1.3.0, so their sources stay as they are until it is
 * closed. The report has the hash of these sources.
 */
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'reference');

/** @returns the SHA-256 of the names and the texts of all files of `reference`, as hex digits. */
export async function frozenHash(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of globSync('**/*.ts', { cwd: folder }).toSorted()) {
    hash.update(`${file.replaceAll('\\', '/')}\n${await readFile(join(folder, file), 'utf8')}`);
  }
  return hash.digest('hex');
}
