/** The project's own files, and what the rules of tidiness look for in their text. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Comment, Source } from './source.ts';

const skipped = new Set([
  'node_modules',
  '.git',
  '.data',
  'coverage',
  '.env',
  'package-lock.json',
  // What generators make of the contract.
  'generated',
]);

const noText = /\.(?:log|png|jpe?g|gif|ico|pdf|wasm|woff2?|gz|tgz)$/;

/** Every text file of the project by its path from the root, with slashes. */
export function readTexts(root: string, folder = ''): Map<string, string> {
  const texts = new Map<string, string>();
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (skipped.has(entry.name)) continue;
    if (entry.isDirectory()) {
      for (const [inside, text] of readTexts(root, path)) texts.set(inside, text);
    }
    if (entry.isFile() && !noText.test(path)) {
      texts.set(path, readFileSync(join(root, path), 'utf8'));
    }
  }
  return texts;
}

/** The places of a pattern in a text, as `path:line what`. */
export function mentions(path: string, text: string, pattern: RegExp): string[] {
  return text.split('\n').flatMap((line, index) => {
    const found = pattern.exec(line);
    return found ? [`${path}:${index + 1} ${found[0]}`] : [];
  });
}

const verbs = String.raw`(?:insert\s+into|update|delete\s+from|truncate(?:\s+table)?)`;

/** The places where SQL in a text writes a table, as `path:line what`. */
export function writesOf(table: string, path: string, text: string): string[] {
  const pattern = new RegExp(String.raw`\b${verbs}\s+(?:only\s+)?"?${table}\b`, 'gi');
  return [...text.matchAll(pattern)].map(({ index, 0: what }) => {
    const line = text.slice(0, index).split('\n').length;
    return `${path}:${line} ${what.replaceAll(/\s+/g, ' ')}`;
  });
}

const keywords =
  'import|export|const|let|var|return|if|else|for|while|switch|case|await|throw|function|class|try';
const statement = new RegExp(String.raw`^(?:${keywords})\b.*[;{]$`);
const callOrAssignment = /^[\w$#.[\]]+(?:\(.*\)|\s=\s.*);$/;

/** Whether a comment holds a statement: code that was switched off and not taken out. */
export function isDeadCode({ text }: Comment): boolean {
  if (text.startsWith('/**')) return false;
  return text
    .replace(/^\/[/*]|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*?\s*/, '').trim())
    .some((line) => statement.test(line) || callOrAssignment.test(line));
}

/**
 * Lines that stay long: an address, a row of a table, a test's name, one long literal, an import of
 * one name, which prettier keeps on its line.
 */
const unbreakable = [
  /https?:\/\//,
  /^\s*\* \|/,
  /^\s*(?:it|test|describe)\(/,
  /^\s*(?:\w+: )?(['"`]).*\1[,;]?$/,
  /^import .* from '/,
];

/** Lines over 100 columns, as `path:line (columns)`. */
export function longLines({ path, lines }: Source): string[] {
  return lines.flatMap((line, index) =>
    line.length > 100 && !unbreakable.some((form) => form.test(line))
      ? [`${path}:${index + 1} (${line.length})`]
      : [],
  );
}

/** Says nothing of what is in the file. */
const emptyWords = /^(?:utils?|helpers?|common|managers?|data|infos?|misc|shared|stuff)$/;

export function hasEmptyName(path: string): boolean {
  return path
    .split('/')
    .flatMap((name) => name.replace(/\.[a-z]+$/, '').split(/[-_.]/))
    .some((word) => emptyWords.test(word));
}
