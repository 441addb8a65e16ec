/** The table of costs in `src/db/README.md`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tablesIn, splitSections } from '../../../documents/document.ts';
import { withTable } from '../../../documents/tables.ts';
import { root } from '../../../system/service-process.ts';
import type { Cost } from './meter.ts';

const path = 'src/db/README.md';
const heading = 'Round trips';

export const costsFile = join(root, path);

export interface Budget {
  readonly roundTrips: number;
  readonly commits: number;
  readonly calls: number;
}

/** @returns the document with the table of these costs. */
export function withCosts(costs: ReadonlyMap<string, Cost>): Promise<string> {
  const head = ['operation or job', 'round trips', 'commits', 'calls', 'statements'];
  const rows = () => [...costs].map(([name, cost]) => toRow(name, cost));
  return withTable({ path, heading, head, rows }, readFileSync(costsFile, 'utf8'));
}

function toRow(name: string, { statements, commits, calls }: Cost): string[] {
  const [what = '', ...others] = name.split(',');
  return [
    [code(what), ...others].join(','),
    String(statements.length),
    String(commits),
    [calls.length, ...calls.map(code)].join(' '),
    [...new Set(statements)].map((one) => withCount(one, statements)).join(', '),
  ];
}

function withCount(one: string, statements: readonly string[]): string {
  const count = statements.filter((other) => other === one).length;
  return count === 1 ? code(one) : `${count} × ${code(one)}`;
}

function code(text: string): string {
  return `\`${text}\``;
}

/** @returns the budgets of the table, by the names of their cases. */
export function readBudgets(): ReadonlyMap<string, Budget> {
  const sections = splitSections(readFileSync(costsFile, 'utf8'));
  const [table = []] = tablesIn(sections.find((one) => one.heading === heading)?.text ?? '');
  return new Map(
    table.map(([name = '', ...cells]) => {
      const [roundTrips = 0, commits = 0, calls = 0] = cells.map((cell) =>
        Number(/\d+/.exec(cell)),
      );
      return [name.replaceAll('`', ''), { roundTrips, commits, calls }];
    }),
  );
}
