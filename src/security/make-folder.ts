import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder with mode 0700, and its missing parents. Node's recursive `mkdir` never returns
 * where a folder exists but creating an entry in it fails with ENOENT, as in `/proc`.
 * @throws Error of the file system when it cannot be created.
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) await makeFolder(above);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!(await isFolder(folder))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() ?? false;
}
