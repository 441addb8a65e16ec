/**
 * Runs test files in one process, one after the other: starting a process and compiling the modules
 * and the embedded database takes longer than the tests of most files. Each file still has its own
 * service and an empty database, and can also be run alone.
 */
import { AsyncResource, createHook, type AsyncHook } from 'node:async_hooks';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';

/** The clean-up of the file that runs now; null outside of a suite. */
let ends: (() => unknown)[] | null = null;

/** Whether this process runs the files of a suite. */
export function isSuite(): boolean {
  return ends !== null;
}

/**
 * Runs work after all tests of the current file; it may also be called inside a test. `after` would
 * not do in a suite: called inside a test it belongs to the process, which runs further files.
 */
export function afterFile(work: () => unknown): void {
  if (ends) ends.push(work);
  else after(() => work());
}

/**
 * Runs the test files of folders and their subfolders. Each file is loaded after the tests and
 * hooks of the previous file, so that one service runs at a time.
 * @param parent the parent of the folders.
 */
export async function runSuite(parent: string, folders: readonly string[]): Promise<void> {
  const tracking = trackingOfRunner();
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: parent }));
  for (const file of files.toSorted()) {
    const ended: (() => unknown)[] = [];
    ends = ended;
    // `describe` resolves after the tests of the file have run.
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
 * Finds the async hook by which node:test knows the suite that declares a test. The hook follows
 * every promise, which costs a tenth of the tests' time, so it is paused while tests run: they
 * declare no tests. While it is paused, an uncaught error fails the process, not the test.
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
