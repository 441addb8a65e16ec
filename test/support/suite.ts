/**
 * Runs test files in one process, one after the other. To start a process and to compile modules
 * and the embedded database takes longer than the tests of most files. Each file still has its own
 * service and database, and runs alone too.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe } from 'node:test';

/** What ends with the file that runs now; null outside of a suite. */
let ends: (() => unknown)[] | null = null;

/**
 * Runs work after the tests of the file that runs now, wherever in it this is called. An `after`
 * that is called within a test belongs to the process, which a suite does not end with each file.
 */
export function afterFile(work: () => unknown): void {
  if (ends) ends.push(work);
  else after(() => work());
}

/**
 * Runs the test files of folders and of the folders in them. A file is loaded after the tests and
 * hooks of the one before it, so that one service runs at a time.
 * @param parent the folder that the folders are in.
 */
export async function runSuite(parent: string, folders: readonly string[]): Promise<void> {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: parent }));
  for (const file of files.toSorted()) {
    const ended: (() => unknown)[] = [];
    ends = ended;
    // A suite that is awaited has run its tests.
    await describe(file, async () => {
      await import(join(parent, file));
    });
    for (const end of ended) await end();
  }
}
