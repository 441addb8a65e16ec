/** The compose file of `src/operator/deploy`, as its tests read it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const deployFolder = join(import.meta.dirname, '..', '..', 'src', 'operator', 'deploy');

export interface ComposeService {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly read_only?: boolean;
  readonly user?: string;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export function readComposeFile(): ComposeFile {
  const text = readFileSync(join(deployFolder, 'compose.yaml'), 'utf8');
  return parse(text, { merge: true }) as ComposeFile;
}
