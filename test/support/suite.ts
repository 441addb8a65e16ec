/**
 * Runs test files in one process, one after the other. To start a process and to compile modules
 * and the embedded database takes longer than the tests of most files. Each file still has its own
 * service and database, and runs alone too.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';

/**
 * Runs the test files of folders and of the folders in them. A file is loaded after the tests and
 * hooks of the one before it, so that one service runs at a time.
 * @param parent the folder that the folders are in.
 */
export async function runSuite(parent: string, folders: readonly string[]): Promise<void> {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: parent }));
  for (const file of files.toSorted()) {
    // A suite that is awaited has run its tests.
    await describe(file, async () => {
      await import(join(parent, file));
    });
  }
}
