/** The documents of the project, as their tests read them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../system/service-process.ts';
import { splitSections, tablesIn, type Section } from './document.ts';

export interface Document {
  readonly path: string;
  readonly text: string;
  readonly sections: readonly Section[];
}

export const documents: readonly Document[] = [
  'README.md',
  'contract/README.md',
  'contract/provider.md',
  'bin/README.md',
  'src/README.md',
  'src/db/README.md',
  'test/README.md',
  'src/operator/README.md',
  'src/operator/deploy/README.md',
  'src/provider/README.md',
  'test/bench/README.md',
  'migrations/README.md',
  'contract/client/README.md',
  'contract/decisions/README.md',
].map((path) => {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, sections: splitSections(text) };
});

export function documentAt(path: string): Document {
  const found = documents.find((one) => one.path === path);
  assert.ok(found, path);
  return found;
}

/** @returns the text under a heading. */
export function under(path: string, heading: string): string {
  const section = documentAt(path).sections.find((one) => one.heading === heading);
  assert.ok(section, `${path} has no heading "${heading}"`);
  return section.text;
}

/** @returns the rows of the first table under a heading. */
export function table(path: string, heading: string): string[][] {
  const [found] = tablesIn(under(path, heading));
  assert.ok(found, `"${heading}" of ${path} has no table`);
  return found;
}

/** A text as Markdown code. */
export const code = (text: string): string => `\`${text}\``;
