/** Runs test files with a mutant in place of the service's own statement (`apply.ts`). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { globalSetup, globalTeardown } from '../../support/global-setup.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const preload = pathToFileURL(join(import.meta.dirname, 'apply.ts')).href;

/** The databases that test files copy, made once for many runs. */
export async function withTests<Result>(work: () => Promise<Result>): Promise<Result> {
  await globalSetup();
  try {
    return await work();
  } finally {
    await globalTeardown();
  }
}

/**
 * Runs a test file with a mutant, at once in this process's template database.
 * @param file its path from the root of the project.
 * @returns the name of a test that fails; null when all pass.
 */
export async function failingTest(mutant: string, file: string): Promise<string | null> {
  const options = `${process.env['NODE_OPTIONS'] ?? ''} --import ${preload}`;
  const child = spawn(process.execPath, ['--test-timeout=120000', file], {
    cwd: root,
    env: { ...process.env, MUTANT: mutant, NODE_OPTIONS: options },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code === 0) return null;
  return /^✖ (.*?) \([\d.]+ms\)$/m.exec(output)?.[1] ?? `the file ends with ${String(code)}`;
}
