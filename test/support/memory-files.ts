/** Keeps the files of an embedded database in memory: no statement needs a system call. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { EmscriptenBuiltinFilesystem } from '@electric-sql/pglite/basefs';

/** Where PostgreSQL in WebAssembly has its data. */
const dataFolder = '/pglite/data';

type FilesOfModule = PGlite['Module']['FS'];

type Init = EmscriptenBuiltinFilesystem['init'];

/** The file system in the memory of PostgreSQL's module, with a copy of a folder. */
export class MemoryFiles extends EmscriptenBuiltinFilesystem {
  readonly #folder: string;

  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  override async init(...[postgres, options]: Parameters<Init>): ReturnType<Init> {
    this.pg = postgres;
    const copy = ({ FS }: PGlite['Module']): void => copyInto(FS, this.#folder, dataFolder);
    return { emscriptenOpts: { ...options, preRun: [...(options.preRun ?? []), copy] } };
  }
}

function copyInto(files: FilesOfModule, from: string, to: string): void {
  files.mkdirTree(to, 0o700);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), `${to}/${entry.name}`];
    if (entry.isDirectory()) copyInto(files, source, target);
    else files.writeFile(target, readFileSync(source), { canOwn: true });
  }
}
