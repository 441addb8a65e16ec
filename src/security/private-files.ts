/** Restricts the files of the data folder to their owner: keys, databases, the simulated bank. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The entries that the service and its commands create in the data folder. */
const ownEntries: ReadonlySet<string> = new Set([
  'postgres',
  'lock',
  'lock-journal',
  'control',
  'jwt-private.pem',
  'jwt-public.pem',
  'encryption.key',
  'simulated-bank.jsonl',
  'sandbox-bank.jsonl',
  'listening.json',
  'clock.json',
]);

/**
 * Sets mode 0700 for folders and 0600 for files. The data folder itself is changed only if it has
 * no other entries, because others may use it. Links are not followed.
 * @returns the paths that remain open to other users because another user owns them.
 */
export function keepPrivate(dataDir: string): string[] {
  const names = namesIn(dataDir);
  const open: string[] = [];
  if (names.length > 0 && names.every(isOwn)) tighten(dataDir, open);
  for (const name of names) if (isOwn(name)) tightenAll(join(dataDir, name), open);
  return open;
}

/** Includes the draft of a key, with a UUID after its name, which an interrupted start leaves. */
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

/** @returns no names for a folder that is missing or unreadable. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
