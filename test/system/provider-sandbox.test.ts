import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createPooledClient } from '../../src/provider/http/pool.ts';
import { createHttpProvider } from '../../src/provider/http/index.ts';
import { afterFile } from '../support/suite.ts';
import { logIn, orderFor } from '../unit/provider/sandbox/bank/open-bank.ts';
import { dialects } from '../support/dialects.ts';

const ponte = join(import.meta.dirname, '..', '..', 'bin', 'ponte.ts');

function run(args: readonly string[], environment: Record<string, string> = {}) {
  const command = [ponte, 'provider-sandbox', ...args];
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, command, { encoding: 'utf8', env, timeout: 60_000 });
}

/** Starts the command and reads its banner, up to the line with how to stop it. */
async function started(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ child: ChildProcess; banner: string[] }> {
  const env = { ...process.env, ...environment };
  const command = [ponte, 'provider-sandbox', '--port', '0', ...args];
  const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  afterFile(() => child.kill('SIGKILL'));
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
      const { child, banner } = await started(['--faults', 'payments:401@0.5', '--seed', '7']);
      const [, url = ''] = /PROVIDER_BASE_URL=(\S+)/.exec(banner.join('\n')) ?? [];
      assert.ok(banner.includes('  faults     payments:401@0.5 (seed 7)'));
      assert.ok(banner.some((line) => line.includes('timeout@ponte.test')));
      const response = await fetch(`${url}/sandbox/ledger`);
      const empty = { payments: [], refused: [], charges: [], received: [], persons: [] };
      assert.deepEqual(await response.json(), empty);
      assert.equal((await fetch(`${url}/core/v2/onboarding/cep/01310100`)).status, 200);
      child.kill(signal);
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    });
  }

  it('is a host without onboarding by an option', async () => {
    const { banner } = await started(['--no-onboarding']);
    const [, url = ''] = /PROVIDER_BASE_URL=(\S+)/.exec(banner.join('\n')) ?? [];
    assert.ok(banner.some((line) => line.startsWith('  onboarding 404')));
    assert.equal((await fetch(`${url}/core/v2/onboarding/cep/01310100`)).status, 404);
  });

  it('names every option and setting that is wrong, and exits 2', () => {
    const { status, stdout, stderr } = run(
      ['--port', '70000', '--settle-ms', '1s', '--webhook-url', 'ftp://x'],
      { WEBHOOK_SECRET: 'with space' },
    );
    assert.equal(status, 2);
    assert.equal(stdout, '');
    for (const name of ['--port', '--settle-ms', '--webhook-url', 'WEBHOOK_SECRET']) {
      assert.match(stderr, new RegExp(`^ {2}${name} must`, 'm'));
    }
    assert.doesNotMatch(stderr, /with space/);
  });

  it('takes no secret as an argument, which every user of the machine sees', () => {
    const { status, stderr } = run([
      '--webhook-url',
      'http://127.0.0.1:1',
      '--webhook-secret',
      'x',
    ]);
    assert.equal(status, 2);
    assert.match(stderr, /unknown option '--webhook-secret'/);
  });

  for (const setting of ['WEBHOOK_SECRET', 'WEBHOOK_SECRET_FILE']) {
    it(`posts with the secret of ${setting}`, async (t) => {
      const posted = Promise.withResolvers<IncomingHttpHeaders>();
      const receiver = createServer(({ headers }, response) => {
        posted.resolve(headers);
        response.end('{}');
      }).listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      t.after(() => receiver.close());
      const { port } = receiver.address() as AddressInfo;
      const folder = mkdtempSync(join(tmpdir(), 'ponte-sandbox-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'secret');
      writeFileSync(file, 'the-secret\n');
      const value = setting === 'WEBHOOK_SECRET' ? 'the-secret,an-older-one' : file;
      const options = ['--settle-ms', '1', '--webhook-url', `http://127.0.0.1:${port}`];
      const { banner } = await started(options, { [setting]: value });
      const [, baseUrl = ''] = /PROVIDER_BASE_URL=(\S+)/.exec(banner.join('\n')) ?? [];
      const client = createPooledClient({ baseUrl, timeoutMs: 10_000 });
      t.after(() => client.close());
      const provider = createHttpProvider({
        client,
        clock: systemClock,
        ispb: '11165756',
        dialects,
      });
      const session = await logIn(provider);
      await provider.pay({ session, order: await orderFor(provider, session) });
      assert.equal((await posted.promise)['x-webhook-secret'], 'the-secret');
    });
  }

  it('says in a sentence which fault it cannot read', () => {
    const { status, stderr } = run(['--port', '0', '--faults', 'payments:explode']);
    assert.equal(status, 2);
    assert.match(stderr, /^ {2}--faults: "explode" is none of /m);
  });

  it('shows an example in its help', () => {
    const { status, stdout } = run(['--help']);
    assert.equal(status, 0);
    assert.match(stdout, /Example:[^]*--faults 'payments:5xx-after@0\.1/);
  });
});
