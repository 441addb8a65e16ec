/** Clients that common generators create from the contract compile under `strict`, and can pay. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root, startOwnService, type OwnService } from './service-process.ts';

const folder = join(root, 'test', 'clients');

function run(command: string, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 300_000,
  });
  assert.equal(status, 0, `${command} ${words.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

describe('clients that are generated from the contract', () => {
  let service: OwnService;

  before(async () => {
    run('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
    run('npm', 'run', 'generate');
    service = await startOwnService();
  });

  after(() => service.stop());

  it('compile under strict', () => {
    run('npm', 'run', 'typecheck');
  });

  const pays = (client: string) => (): void => {
    assert.equal(run(process.execPath, 'main.ts', client, service.url), 'COMPLETED\n');
  };
  it('log in, send and wait for the end with openapi-typescript', pays('openapi-typescript'));
  it('log in, send and wait for the end with hey-api', pays('hey-api'));
  it('log in, send and wait for the end with orval', pays('orval'));
  it('log in, send and wait for the end with openapi-zod-client', pays('openapi-zod-client'));
});
