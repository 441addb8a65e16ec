import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, it } from 'node:test';

const ponte = join(import.meta.dirname, '..', '..', '..', 'bin', 'ponte.ts');

function run(...args: string[]) {
  const command = [ponte, 'provider-sandbox', ...args];
  return spawnSync(process.execPath, command, { encoding: 'utf8', timeout: 60_000 });
}

/** Starts the command and reads its banner up to the line that says how to stop it. */
async function started(...args: string[]): Promise<{ child: ChildProcess; banner: string[] }> {
  const command = [ponte, 'provider-sandbox', '--port', '0', ...args];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  after(() => child.kill('SIGKILL'));
  const banner: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    banner.push(line);
    if (line.startsWith('    ending in 3')) break;
  }
  return { child, banner };
}

describe('ponte provider-sandbox', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`says where it listens, serves, and stops at ${signal}`, async () => {
      const { child, banner } = await started('--faults', 'payments:401@0.5', '--seed', '7');
      const [, url = ''] = /PROVIDER_BASE_URL=(\S+)/.exec(banner.join('\n')) ?? [];
      assert.ok(banner.includes('  faults     payments:401@0.5 (seed 7)'));
      assert.ok(banner.some((line) => line.includes('timeout@ponte.test')));
      const answer = await fetch(`${url}/sandbox/ledger`);
      const empty = { payments: [], refused: [], charges: [], received: [], persons: [] };
      assert.deepEqual(await answer.json(), empty);
      assert.equal((await fetch(`${url}/core/v2/onboarding/cep/01310100`)).status, 200);
      child.kill(signal);
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    });
  }

  it('is a host without the onboarding when told so', async () => {
    const { banner } = await started('--no-onboarding');
    const [, url = ''] = /PROVIDER_BASE_URL=(\S+)/.exec(banner.join('\n')) ?? [];
    assert.ok(banner.some((line) => line.startsWith('  onboarding 404')));
    assert.equal((await fetch(`${url}/core/v2/onboarding/cep/01310100`)).status, 404);
  });

  it('names every option that is wrong, and exits 2', () => {
    const { status, stdout, stderr } = run(
      ...['--port', '70000', '--settle-ms', '1s', '--webhook-url', 'ftp://x'],
      ...['--webhook-secret', 'with space'],
    );
    assert.equal(status, 2);
    assert.equal(stdout, '');
    for (const option of ['--port', '--settle-ms', '--webhook-url', '--webhook-secret']) {
      assert.match(stderr, new RegExp(`^ {2}${option} must`, 'm'));
    }
  });

  it('wants to know where a secret goes', () => {
    const { status, stderr } = run('--webhook-secret', 'x');
    assert.equal(status, 2);
    assert.match(stderr, /--webhook-secret needs a --webhook-url/);
  });

  it('says in a sentence which fault it cannot read', () => {
    const { status, stderr } = run('--port', '0', '--faults', 'payments:explode');
    assert.equal(status, 2);
    assert.match(stderr, /^ {2}--faults: "explode" is none of /m);
  });

  it('shows an example in its help', () => {
    const { status, stdout } = run('--help');
    assert.equal(status, 0);
    assert.match(stdout, /Example:[^]*--faults 'payments:5xx-after@0\.1/);
  });
});
