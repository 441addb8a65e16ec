/**
 * Runs test files in one process, one after the other. To start a process and to compile modules
 * and the embedded database takes longer than the tests of most files. Each file still has its own
 * service and an empty database, and runs alone too.
 */
import { AsyncResource, createHook, type AsyncHook } from 'node:async_hooks';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';

/** What ends with the file that runs now; null outside of a suite. */
let ends: (() => unknown)[] | null = null;

/** Whether the files of a suite run here, one after the other. */
export function isSuite(): boolean {
  return ends !== null;
}

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
  const tracking = trackingOfRunner();
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: parent }));
  for (const file of files.toSorted()) {
    const ended: (() => unknown)[] = [];
    ends = ended;
    // A suite that is awaited has run its tests.
    await new AsyncResource('file').runInAsyncScope(() => {
      tracking.resume();
      return describe(file, async () => {
        before(() => tracking.pause());
        await import(join(parent, file));
      });
    });
    for (const end of ended) await end();
  }
}

/**
 * Finds the hook by which node:test knows in which suite a test is declared. It follows every
 * promise, which takes a tenth of the time of the tests, in which none is declared. Without it, an
 * error that no test has caught fails the process, not the test.
 */
function trackingOfRunner(): { pause(): void; resume(): void } {
  let hook: AsyncHook | null = null;
  const prototype = Object.getPrototypeOf(createHook({})) as AsyncHook;
  const { enable } = prototype;
  prototype.enable = function first(this: AsyncHook) {
    prototype.enable = enable;
    hook = enable.call(this);
    return hook;
  };
  return {
    pause: () => void hook?.disable(),
    resume: () => void hook?.enable(),
  };
}
