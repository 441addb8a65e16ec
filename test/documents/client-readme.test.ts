/** The code that an app's developer copies out of the client's README compiles under `strict`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { root } from '../system/service-process.ts';
import { codeIn } from './document.ts';

/** What the app has beside the client. */
const app = `
declare const email: string, password: string, code: string;
declare const transactionId: string, applicationId: string, file: File;
declare function showLogin(): Promise<{ email: string; password: string } | null>;
declare function show(payment: import('./contract/client/index.ts').PayResult): Promise<void>;
declare function showErrors(errors: Record<string, string[]>): void;
declare function showPayee(payee: object | undefined, amount: number | undefined): Promise<void>;
declare function showList(list: { items: object[] }): Promise<void>;
`;

it("compiles, all blocks of the client's README as one module", (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-client-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const readme = readFileSync(join(root, 'contract', 'client', 'README.md'), 'utf8');
  const blocks = codeIn(readme, 'ts');
  assert.ok(blocks.length >= 4);
  symlinkSync(join(root, 'contract'), join(folder, 'contract'));
  writeFileSync(join(folder, 'app.ts'), [...blocks, app].join('\n'));
  const config = {
    extends: join(root, 'contract', 'client', 'tsconfig.json'),
    include: ['app.ts'],
    exclude: [],
  };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const { status, stdout } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});
