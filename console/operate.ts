/** The operator's command beside the console: it prints JSON, and so the screen can show it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Operate } from './model/desk.ts';

const command = fileURLToPath(new URL('../bin/ponte', import.meta.url));

const longestMs = 30_000;
const mostBytes = 16 * 1024 * 1024;

/**
 * Runs `ponte` with these words and `--json`.
 * @returns what it printed, also when it ends with a code that is bad: then the finding is in it.
 * @throws Error with what the command says, in its own sentence.
 */
export const operate: Operate = (words, signal) =>
  new Promise((resolve, reject) => {
    const options = { timeout: longestMs, maxBuffer: mostBytes, signal };
    execFile('/bin/sh', [command, ...words, '--json'], options, (error, stdout, stderr) => {
      const printed = parsed(stdout);
      if (printed !== undefined) resolve(printed);
      else
        reject(new Error(stderr.trim() || 'The command ponte did not answer.', { cause: error }));
    });
  });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
