/** The parts of the documents that files own: tables and scripts, and how they are written. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import { settings } from '../../src/config/report.ts';
import { failureCodes, failureReason } from '../../src/pix/failure-reason.ts';
import { scenarios } from '../../src/provider/sandbox/bank/scenarios.ts';
import { root } from '../system/service-process.ts';
import { splitSections } from './document.ts';
import { nextOfRow, orderAnswerRows } from './order-answers.ts';

export interface CodeTable {
  /** The document, from the project's root. */
  readonly path: string;
  /** The table is the first one below this heading. */
  readonly heading: string;
  readonly head: readonly string[];
  rows(): readonly (readonly string[])[];
}

const code = (text: string): string => `\`${text}\``;

/** Every table that `npm run docs` writes. */
export const codeTables: readonly CodeTable[] = [
  {
    path: 'src/operator/README.md',
    heading: 'Settings',
    head: ['name', 'default', 'meaning'],
    rows: () => settings.map((one) => [code(one.name), one.default, one.meaning]),
  },
  {
    path: 'contract/README.md',
    heading: 'Endpoints',
    head: ['endpoint', 'access', 'what it does'],
    rows: () => contractOperations().map(endpointRow),
  },
  {
    path: 'contract/README.md',
    heading: 'Scenarios',
    head: ['input', 'value', 'what happens'],
    rows: () =>
      scenarios.map(({ input, value, effect }) => [
        input,
        /[@]/.test(value) ? code(value) : value,
        effect,
      ]),
  },
  {
    path: 'contract/README.md',
    heading: 'What the app does next',
    head: ['answer', 'Pix-Outcome', 'what it means', 'Pix-Next'],
    rows: () =>
      orderAnswerRows.map((row) => [
        [row.statuses.join(', '), row.mark].filter(Boolean).join(' '),
        row.outcome,
        row.meaning,
        code(nextOfRow(row)),
      ]),
  },
  {
    path: 'contract/README.md',
    heading: 'Failures',
    head: ['code', 'message'],
    rows: () => failureCodes.map((name) => [code(name), failureReason(name).text.en]),
  },
  {
    path: 'bin/README.md',
    heading: 'Commands',
    head: ['command', 'what it does'],
    rows: commandRows,
  },
];

interface ShownScript {
  /** The document, from the project's root. */
  readonly path: string;
  /** The script is the first block of `sh` below this heading. */
  readonly heading: string;
  readonly script: string;
}

/** Every script that `npm run docs` writes into a document. */
export const shownScripts: readonly ShownScript[] = [
  { path: 'contract/README.md', heading: 'A walk with curl', script: 'account.sh' },
  { path: 'contract/README.md', heading: 'An account from nothing', script: 'onboarding.sh' },
  { path: 'contract/README.md', heading: 'Whom a payment goes to', script: 'payee.sh' },
];

/** The folder of the scripts. */
export const walkthroughs = join(root, 'contract', 'walkthroughs');

interface ContractOperation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly security: readonly object[] | undefined;
}

function contractOperations(): ContractOperation[] {
  const text = readFileSync(join(root, 'contract', 'openapi.yaml'), 'utf8');
  const { paths } = parse(text) as { paths: Record<string, Record<string, ContractOperation>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([name]) => ['get', 'post', 'put', 'patch', 'delete'].includes(name))
      .map(([name, { summary, security }]) => {
        const method = name.toUpperCase();
        return { method, path, summary, security };
      }),
  );
}

function endpointRow({ method, path, summary, security }: ContractOperation): string[] {
  const schemes = security?.flatMap((one) => Object.keys(one));
  const tokenless = schemes?.includes('webhookSecret') ? 'secret' : 'public';
  return [code(`${method} ${path}`), schemes === undefined ? 'token' : tokenless, summary];
}

/** The commands as `ponte --help` lists them. */
function commandRows(): string[][] {
  const { stdout } = spawnSync(join(root, 'bin', 'ponte'), ['--help'], { encoding: 'utf8' });
  const [, commands = ''] = stdout.split('Commands:\n');
  const listed = commands.replaceAll(/\n {9,}/g, ' ').matchAll(/^ {2}(\S.*?) {2,}(\S.*)$/gm);
  return [...listed].map(([, name = '', what = '']) => [code(`ponte ${name}`), what]);
}

/**
 * Writes the tables and the scripts of a document again.
 * @param path the document, from the project's root.
 * @returns the document as it should be.
 * @throws Error when a heading, its table or its script is missing.
 */
export async function withFreshParts(path: string, text: string): Promise<string> {
  let fresh = text;
  for (const table of codeTables.filter((one) => one.path === path)) {
    fresh = putTable(table, fresh);
  }
  for (const { heading, script } of shownScripts.filter((one) => one.path === path)) {
    const below = new RegExp(String.raw`(^#+ ${heading}\n[^]*?\n\`\`\`sh\n)[^]*?(?=^\`\`\`$)`, 'm');
    if (!below.test(fresh)) throw new Error(`${path} has no script below "${heading}"`);
    const source = readFileSync(join(walkthroughs, script), 'utf8');
    fresh = fresh.replace(below, (_, before: string) => before + source);
  }
  return formatted(path, fresh);
}

/**
 * Writes one table of a document again.
 * @throws Error when its heading or the table is missing.
 */
export function withTable(table: CodeTable, text: string): Promise<string> {
  return formatted(table.path, putTable(table, text));
}

function putTable(table: CodeTable, text: string): string {
  const { path, heading } = table;
  const below = new RegExp(String.raw`(^#+ ${heading}\n[^]*?)((?:^\|.*\n)+)`, 'm');
  if (!below.test(text)) throw new Error(`${path} has no table below "${heading}"`);
  return text.replace(below, (_, before: string) => before + tableText(table));
}

async function formatted(path: string, text: string): Promise<string> {
  const options = await resolveConfig(join(root, path));
  return format(text, { ...options, parser: 'markdown' });
}

function tableText({ head, rows }: CodeTable): string {
  const lines = [head, head.map(() => '---'), ...rows()];
  return lines.map((cells) => `| ${cells.map(escaped).join(' | ')} |\n`).join('');
}

function escaped(cell: string): string {
  return cell
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/(?<!`[^`]*)\*(?![^`]*`)/g, String.raw`\*`);
}

/** Every document that has a part of which a file is the owner. */
export const documentsWithParts: ReadonlySet<string> = new Set(
  [...codeTables, ...shownScripts].map(({ path }) => path),
);

/** The contract, whose introduction repeats what the README says of safe payments. */
export const contractFile = join(root, 'contract', 'openapi.yaml');

/**
 * Writes the section "Pay safely" of the contract again.
 * @returns the contract as it should be.
 * @throws Error when the contract or the README has no such section.
 */
export function withPaySafely(contract: string): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const section = splitSections(readme).find(({ heading }) => heading === 'What the app should do');
  const place = /(?<=^ {4}## Pay safely\n)[^]*?(?=^ {4}## )/m;
  if (!section || !place.test(contract)) throw new Error('there is no section on safe payments');
  const lines = section.text.trim().split('\n').map(compact);
  const text = ['', ...lines, ''].map((line) => (line === '' ? '\n' : `    ${line}\n`)).join('');
  return contract.replace(place, () => text);
}

/** A row of a table without the spaces that align it. */
function compact(line: string): string {
  return line.startsWith('|') ? line.replaceAll(/ {2,}/g, ' ').replaceAll(/-{4,}/g, '---') : line;
}
