/** The walkthroughs succeed against a service, and again against the same one. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root, startOwnService, type OwnService } from './service-process.ts';

const folder = join(root, 'contract', 'walkthroughs');
const scripts = readdirSync(folder);

function run(script: string, url: string): { status: number | null; stdout: string } {
  const { PATH = '' } = process.env;
  return spawnSync('bash', [join(folder, script)], {
    encoding: 'utf8',
    env: { PATH, PONTE_URL: url },
    timeout: 60_000,
  });
}

describe('a walkthrough', () => {
  let service: OwnService;

  before(async () => {
    service = await startOwnService();
  });

  after(() => service.stop());

  it('passes twice on one service', () => {
    assert.ok(scripts.length >= 6);
    for (const script of [...scripts, ...scripts]) {
      const { status, stdout } = run(script, service.url);
      assert.equal(status, 0, `${script}\n${stdout}`);
      assert.ok(!stdout.includes('FAILED'), `${script}\n${stdout}`);
    }
  });

  it('stops at the first error', async (t) => {
    // This service does not have the user of the scripts.
    const refusing = await startOwnService({ PROVIDER_EMAIL: 'other@ponte.test' });
    t.after(refusing.stop);
    for (const script of scripts.filter((name) => name !== 'onboarding.sh')) {
      const { status, stdout } = run(script, refusing.url);
      assert.notEqual(status, 0, script);
      assert.ok(!stdout.includes('PROCESSING'), stdout);
    }
  });
});
