/** The walkthroughs succeed against a service, and again against the same one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { root, startOwnService, type OwnService } from './service-process.ts';

const folder = join(root, 'contract', 'walkthroughs');
const scripts = readdirSync(folder);

/** Waits without blocking this process: it reads the log of the service, whose pipe fills up. */
async function run(script: string, url: string): Promise<{ code: unknown; stdout: string }> {
  const { PATH = '' } = process.env;
  const options = { env: { PATH, PONTE_URL: url }, timeout: 60_000 };
  try {
    const { stdout } = await promisify(execFile)('bash', [join(folder, script)], options);
    return { code: 0, stdout };
  } catch (error) {
    const { code, stdout } = error as { readonly code: unknown; readonly stdout: string };
    return { code, stdout };
  }
}

describe('a walkthrough', () => {
  let service: OwnService;

  before(async () => {
    service = await startOwnService();
  });

  after(() => service.stop());

  it('passes twice on one service', async () => {
    assert.ok(scripts.length >= 6);
    for (const script of [...scripts, ...scripts]) {
      const { code, stdout } = await run(script, service.url);
      assert.equal(code, 0, `${script}\n${stdout}`);
      assert.ok(!stdout.includes('FAILED'), `${script}\n${stdout}`);
    }
  });

  it('stops at the first error', async (t) => {
    // This service does not have the user of the scripts.
    const refusing = await startOwnService({ PROVIDER_EMAIL: 'other@ponte.test' });
    t.after(refusing.stop);
    for (const script of scripts.filter((name) => name !== 'onboarding.sh')) {
      const { code, stdout } = await run(script, refusing.url);
      assert.notEqual(code, 0, script);
      assert.ok(!stdout.includes('PROCESSING'), stdout);
    }
  });
});
