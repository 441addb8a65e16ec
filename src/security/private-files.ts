/** The data folder is its owner's alone: keys, the embedded database and the simulated bank. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What the service and its commands make in the data folder. */
const ownEntries: ReadonlySet<string> = new Set([
  ...['postgres', 'lock', 'lock-journal', 'control', 'jwt-private.pem', 'jwt-public.pem'],
  ...['encryption.key', 'simulated-bank.jsonl', 'sandbox-bank.jsonl'],
]);

/**
 * Gives folders mode 0700 and files 0600. The data folder itself is changed only when nothing else
 * is in it, because it may be a folder that others use; links are not followed.
 * @returns the paths that are open to other users still: another user owns them.
 */
export function keepPrivate(dataDir: string): string[] {
  const names = namesIn(dataDir);
  const open: string[] = [];
  if (names.length > 0 && names.every(isOwn)) tighten(dataDir, open);
  for (const name of names) if (isOwn(name)) tightenAll(join(dataDir, name), open);
  return open;
}

/** A start that was killed leaves a key's draft, which has a UUID after its name. */
function isOwn(name: string): boolean {
  return ownEntries.has(name.replace(/\.[0-9a-f-]{36}$/, ''));
}

function tightenAll(path: string, open: string[]): void {
  if (!tighten(path, open)) return;
  for (const name of namesIn(path)) tightenAll(join(path, name), open);
}

/** @returns whether it is a folder. */
function tighten(path: string, open: string[]): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || found.isSymbolicLink()) return false;
  if ((found.mode & 0o077) !== 0) {
    try {
      chmodSync(path, found.isDirectory() ? 0o700 : 0o600);
    } catch {
      open.push(path);
    }
  }
  return found.isDirectory();
}

/** Nothing is in a folder that is missing, or cannot be read. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
