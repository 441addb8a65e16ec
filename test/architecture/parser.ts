/**
 * Reads TypeScript files into syntax trees with the compiler that the project has anyway. They are
 * parsed only: nothing is resolved and nothing is checked, so it takes a fraction of a second.
 */
import { join } from 'node:path';
import type { SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

const options = {
  allowImportingTsExtensions: true,
  jsx: 'preserve',
  noEmit: true,
  noLib: true,
  noResolve: true,
  types: [],
};

/**
 * @param root an absolute folder.
 * @param texts paths below it and what is in them.
 * @param read is given each path with its tree, which lives only as long as the call.
 */
export function parseAll<T>(
  root: string,
  texts: ReadonlyMap<string, string>,
  read: (path: string, tree: SourceFile) => T,
): T[] {
  const configPath = join(root, 'tidy.tsconfig.json');
  const files = [...texts.keys()].map((path) => `./${path}`);
  const onDisk = new Map([
    ...[...texts].map(([path, text]) => [join(root, path), text] as const),
    [configPath, JSON.stringify({ compilerOptions: options, files })],
  ]);
  const api = new API({
    cwd: root,
    fs: {
      readFile: (path) => onDisk.get(path) ?? null,
      fileExists: (path) => onDisk.has(path),
      directoryExists: () => false,
      getAccessibleEntries: () => ({ files: [], directories: [] }),
      realpath: (path) => path,
    },
  });
  try {
    const project = api.updateSnapshot({ openProjects: [configPath] }).getProject(configPath);
    return [...texts.keys()].map((path) => {
      const tree = project?.program.getSourceFile(join(root, path));
      if (!tree) throw new Error(`${path} was not parsed`);
      return read(path, tree);
    });
  } finally {
    api.close();
  }
}
