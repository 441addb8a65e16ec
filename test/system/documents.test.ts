/**
 * Compares the examples in the documents with the output and the responses of a running service.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { scenarios } from '../../src/provider/sandbox/bank/scenarios.ts';
import { codeIn } from '../documents/document.ts';
import { code, table, under } from '../documents/project-documents.ts';
import { shownScripts, walkthroughs } from '../documents/tables.ts';
import { createTestDatabase, serverUrl, type TestDatabase } from '../support/db.ts';
import { ServiceProcess, settingsFor, type ServiceResponse } from './service-process.ts';

describe('what the documents show of a running service', () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let url: string;

  before(async () => {
    database = await createTestDatabase({ isOwn: true });
    // 1 s each: longer than a response or an event in time takes, even on a busy machine.
    const patient = { PROVIDER_TIMEOUT_MS: '1000', STUB_SETTLE_MS: '1000' };
    service = new ServiceProcess({ ...settingsFor(database), ...patient });
    url = await service.ready();
  });

  after(async () => {
    await service.kill();
    await database.drop();
  });

  it('is what a start prints', () => {
    const [shown = ''] = codeIn(under('README.md', 'Start'), 'text');
    const printed = service.stdout
      .split('\n')
      .slice(0, shown.trimEnd().split('\n').length)
      .join('\n')
      .replaceAll(url, 'http://127.0.0.1:3000')
      .replace(database.dataDir, '…/ponte/.data');
    const onServer = (text: string): string => text.replace(/^( {2}database).*$/m, '$1');
    assert.equal(
      serverUrl ? onServer(printed) : printed,
      serverUrl ? onServer(shown.trimEnd()) : shown.trimEnd(),
    );
  });

  const walks = { skip: !hasCurl() && 'needs bash and curl' };

  it('is what the walk prints', walks, () =>
    assertWalk({ path: 'contract/README.md', heading: 'A walk with curl' }, url),
  );

  it('is what the opening of an account prints', walks, () =>
    assertWalk({ path: 'contract/README.md', heading: 'An account from nothing' }, url),
  );

  // Runs after the walk, which needs the balance of a new account.
  it('is what the first payment prints', walks, () => {
    const place = under('README.md', 'The first payment');
    const [script = ''] = codeIn(place, 'sh');
    const [shown = ''] = codeIn(place, 'text');
    const { PATH = '' } = process.env;
    const pasted = `{ ${script.replace('http://127.0.0.1:3000', url)} } 2>&1 | cat`;
    const options = { encoding: 'utf8', env: { PATH }, timeout: 60_000 } as const;
    const { stdout } = spawnSync('bash', ['-c', pasted], options);
    assert.deepEqual(parseResponses(stdout), parseResponses(shown));
    assert.ok(stdout.endsWith('}\n'), 'the prompt stands on a line of its own');
  });

  it('is what the routes outside the contract answer', async () => {
    const [, outside = ''] = under('contract/README.md', 'Endpoints').split('Outside the contract');
    const paths = [...outside.matchAll(/`GET (\S+)`/g)].map(([, path = '']) => path);
    assert.ok(paths.length >= 5);
    for (const path of paths) assert.equal((await fetch(`${url}${path}`)).status, 200, path);
  });

  it('is what the app gets for a send, whatever happens', async () => {
    const token = await service.logIn();
    let made = 0;
    const send = (pixKey: string, amount: number, given: string | undefined = token) =>
      service.call('/pix/send', {
        token: given,
        key: `rule-${(made += 1)}`,
        body: { pix_key: pixKey, amount },
      });
    const keys = scenarios.filter(({ input }) => input === 'Pix key').map(({ value }) => value);
    for (const key of [...keys, 'bruno@example.com']) assertInRule(await send(key, 1), key);
    assertInRule(await send('bruno@example.com', 1_000_000), 'more than the balance');
    assertInRule(await send('bruno@example.com', 0), 'no amount');
    assertInRule(await send('bruno@example.com', 1, 'no.token.this'), 'no token');
    const request = { token, key: 'refused', body: { pix_key: 'reject@ponte.test', amount: 1 } };
    await service.call('/pix/send', request);
    assertInRule(await service.call('/pix/send', request), 'a repeat of a refused payment');
  });
});

interface Place {
  readonly path: string;
  readonly heading: string;
}

/** Runs the script under a heading against a service, and compares its output with the text. */
function assertWalk({ path, heading }: Place, url: string): void {
  const [shown = ''] = codeIn(under(path, heading), 'text');
  const { script = '' } = shownScripts.find((one) => one.heading === heading) ?? {};
  const { PATH = '' } = process.env;
  const { stdout, stderr } = spawnSync('bash', [join(walkthroughs, script)], {
    encoding: 'utf8',
    env: { PATH, PONTE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  assert.equal(stderr, '');
  assert.deepEqual(parseSteps(stdout), parseSteps(shown));
}

function hasCurl(): boolean {
  return spawnSync('bash', ['-c', 'command -v curl']).status === 0;
}

/** The output of each step, without the parts that differ in each run. */
function parseSteps(output: string): string[] {
  return output
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/E\d{20}\w{11}/g, '<end-to-end id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/rent-[\d-]+/g, '<key>')
    .split('# ')
    .map((step) => step.trim())
    .filter((step) => step !== '');
}

/** The JSON of each line, without the parts that differ in each run. */
function parseResponses(output: string): string[] {
  const [steps = ''] = parseSteps(output);
  return steps.replace(/(?<="access_token":")[^"]+/, '<token>').split(' ');
}

/** Asserts that exactly one row of "What the app should do" covers this response. */
function assertInRule({ status, headers }: ServiceResponse, about: string): void {
  const next = code(headers.get('pix-next') ?? 'absent');
  const rows = table('README.md', 'What the app should do').filter(([name]) => name === next);
  assert.equal(rows.length, 1, `${about}: ${status}, ${next}`);
}
