/** A new customer registers, is approved, logs in and pays, all over the sandbox. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { startSandbox } from './sandbox-process.ts';
import { root, startOwnService } from './service-process.ts';

/** The settings beside the sandbox, as the README of the provider has them. */
const documented = (): Record<string, string> => {
  const readme = readFileSync(join(root, 'src', 'provider', 'README.md'), 'utf8');
  const [, line = ''] =
    /^(APP_ENV=local [^`]*PROVIDER_BASE_URL=http:[^`]*) npm start$/m.exec(readme) ?? [];
  const pairs = line.split(/[\s\\]+/).map((pair) => pair.split('=') as [string, string]);
  assert.ok(pairs.length >= 3, 'the README has the settings');
  return Object.fromEntries(pairs);
};

for (const [what, settings, further] of [
  ['the settings of the README', {}, ['code.sh', 'dispute.sh']],
  ['onboarding that stays here, the default of a local service', { ONBOARDING_LOCAL_ONLY: '' }, []],
] as const) {
  test(`with ${what}, a person is approved, logs in, and pays`, async (t) => {
    const port = await freePort();
    const url = await startSandbox(t, `http://127.0.0.1:${port}/api/v1/webhooks/provider`);
    const service = await startOwnService({
      ...documented(),
      ...settings,
      PROVIDER_BASE_URL: url,
      PORT: String(port),
    });
    t.after(service.stop);
    const stdout = walk('onboarding.sh', service.url);
    assert.match(stdout, /\nAPPROVED\n[^]*\nCarla Dias\n[^]*\nCOMPLETED\n$/);
    for (const script of further) walk(script, service.url);
  });
}

/** @returns what a walkthrough prints. */
function walk(script: string, url: string): string {
  const { PATH = '' } = process.env;
  const options = { encoding: 'utf8', env: { PATH, PONTE_URL: url }, timeout: 120_000 } as const;
  const path = join(root, 'contract', 'walkthroughs', script);
  const { status, stdout, stderr } = spawnSync('bash', [path], options);
  assert.equal(status, 0, `${script}: ${stdout}\n${stderr}`);
  return stdout;
}
