/** `ponte doctor`, `config`, `contract` and `keys`: what looks and changes nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parse } from 'yaml';
import type { ConfigReport } from '../../../src/config/report.ts';
import { findFaults, rsaPems } from '../../support/config.ts';
import { settings } from '../../../src/config/report.ts';
import type { Finding } from '../../../src/operator/doctor.ts';
import { manualClock } from '../../support/clock.ts';
import { typePonte, type Ended } from '../../support/command-line.ts';
import { createTestDatabase } from '../../support/db.ts';

const database = await createTestDatabase();
const folder = mkdtempSync(join(tmpdir(), 'ponte-checks-'));
after(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

type Environment = Readonly<Record<string, string>>;

const healthy: Environment = {
  APP_ENV: 'test',
  DATA_DIR: database.dataDir,
  ...(database.databaseUrl !== undefined && { DATABASE_URL: database.databaseUrl }),
};

const type = (argv: readonly string[], environment: Environment = healthy): Promise<Ended> =>
  typePonte(argv, { environment });

describe('ponte doctor', () => {
  interface Report {
    readonly code: number;
    readonly ok: boolean;
    readonly findings: readonly Finding[];
  }

  async function readReport(changes: Environment = {}): Promise<Report> {
    const { code, stdout } = await type(['doctor', '--json'], { ...healthy, ...changes });
    return { code, ...(JSON.parse(stdout) as Omit<Report, 'code'>) };
  }

  const find = ({ findings }: Report, name: string): Finding => {
    const found = findings.find((one) => one.name === name);
    return found ?? assert.fail(`nothing is said of the ${name}`);
  };

  it('finds nothing to do where all is well: exit 0, a line each', async () => {
    const report = await readReport();
    assert.deepEqual([report.code, report.ok], [0, true]);
    assert.deepEqual(
      report.findings
        .filter(({ name }) => name !== 'service')
        .map(({ name, state, todo }) => [name, state, todo]),
      [
        'configuration',
        'data folder',
        'database',
        // Of the embedded database there is nothing to set.
        ...(database.databaseUrl === undefined ? [] : ['durability']),
        'migrations',
        "clock and the database's",
        'due jobs',
        'dead jobs',
        'failing jobs',
        'anomalies',
        'orphaned events',
        'parked events',
        'received events',
        'unknown payments',
        'unlisted codes',
        'corrected payments',
        'accepted payments',
        'payments left in PAYING',
        'differences',
        'sends',
        'sends after a loss',
        'unaccounted payments',
        'blocks that are not stored',
        'disputes',
        'last webhook',
        'refused webhooks',
        'unread events',
        'provider',
        'signing key',
        'encryption key',
        'webhook secret',
      ].map((name) => [name, 'ok', null]),
    );
    const { stdout } = await type(['doctor']);
    // No service runs here: what only its process knows is not checked.
    assert.equal(find(report, 'service').state, 'doubtful');
    assert.equal(stdout.match(/^ok {3}[\w ']+: .+$/gm)?.length, report.findings.length - 1);
  });

  it('says what is wrong with the configuration, and looks no further: exit 2', async () => {
    const { code, findings } = await readReport({ PORT: 'x', JOBS: 'maybe' });
    assert.equal(code, 2);
    assert.deepEqual(
      findings.map(({ name, state, says, kind }) => [name, state, says.split(' ')[0], kind]),
      [
        ['configuration', 'bad', 'PORT', 'usage'],
        ['configuration', 'bad', 'JOBS', 'usage'],
      ],
    );
  });

  it('says when the database cannot be reached, and still looks at the rest', async () => {
    const report = await readReport({ DATABASE_URL: 'postgres://x:hidden@127.0.0.1:1/accounts' });
    assert.equal(report.code, 1);
    assert.equal(
      find(report, 'database').says,
      'the database accounts at 127.0.0.1:1 cannot be reached (ECONNREFUSED): ' +
        'is DATABASE_URL right, is the server up?',
    );
    assert.equal(find(report, 'signing key').state, 'ok');
  });

  it('says when there is no database yet, which a start makes, and where it cannot', async () => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const dataDir = join(folder, 'new');
    const report = await readReport({ DATABASE_URL: '', DATA_DIR: dataDir });
    const { state, says } = find(report, 'database');
    assert.equal(state, 'doubtful');
    assert.ok(says.startsWith(`there is no database in ${dataDir}; DATA_DIR is relative to`), says);
    assert.match(find(report, 'data folder').says, /can be created$/);
    assert.match(find(report, 'signing key').says, /generated at the first start/);
    const inFile = await readReport({ DATABASE_URL: '', DATA_DIR: join(file, 'new') });
    assert.equal(find(inFile, 'data folder').state, 'bad');
  });

  it('says when a migration is missing', async () => {
    const { ownerUrl } = database;
    const environment = { ...healthy, ...(ownerUrl !== undefined && { DATABASE_URL: ownerUrl }) };
    await typePonte(['migrate', 'down', '--yes'], { environment });
    const report = await readReport();
    const inService = ownerUrl === undefined ? null : await type(['migrate', 'up']);
    await typePonte(['migrate', 'up'], { environment });
    // The role of the service may not change the schema.
    if (inService) assert.match(inService.stderr, /`ponte migrate up` as the migrator/);
    assert.equal(report.code, 1);
    assert.equal(find(report, 'migrations').says, '1 not applied');
    assert.match(find(report, 'migrations').todo ?? '', /ponte migrate up/);
    assert.ok(
      !report.findings.some(({ name }) => name === 'due jobs'),
      'the table may not be there',
    );
  });

  it('says when the generated key cannot be read', async () => {
    const dataDir = join(folder, 'broken');
    await typePonte(['keys', 'generate', '--out', dataDir, '--bits', '2048'], { environment: {} });
    writeFileSync(join(dataDir, 'jwt-private.pem'), 'no key');
    const report = await readReport({ DATABASE_URL: '', DATA_DIR: dataDir });
    assert.equal(find(report, 'signing key').state, 'bad');
  });

  it("compares the clock with the database's", async () => {
    // The clock of the test is in May.
    const { code, stdout } = await typePonte(['doctor', '--json'], {
      environment: healthy,
      clock: manualClock(),
    });
    assert.equal(code, 1);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    const clock = findings.find(({ name }) => name === "clock and the database's");
    assert.equal(clock?.state, 'bad');
    assert.match(clock?.says ?? '', /s apart: the database is (?:ahead|behind)$/);
  });

  describe('with a provider over HTTP', () => {
    async function provider(t: { after(work: () => void): void }, date: string | null) {
      const server = createServer((request, response) => {
        assert.equal(request.headers.authorization, undefined);
        if (date === null) response.sendDate = false;
        else if (date !== '') response.setHeader('date', date);
        response.writeHead(404).end('not here');
      }).listen(0, '127.0.0.1');
      t.after(() => server.close());
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const baseUrl = `http://127.0.0.1:${port}/bank`;
      return { PROVIDER_STUB: 'false', PROVIDER_BASE_URL: baseUrl };
    }

    it('takes any response for one, compares the clocks, and asks for a secret', async (t) => {
      const report = await readReport(await provider(t, ''));
      assert.match(find(report, 'provider').says, /\/bank answers in \d+ ms, with 404$/);
      assert.equal(find(report, "clock and the provider's").state, 'ok');
      assert.equal(find(report, 'webhook secret').state, 'doubtful');
      assert.equal(report.code, 0);
      const secret = await readReport({ ...(await provider(t, null)), WEBHOOK_SECRET: 'one,two' });
      assert.equal(find(secret, 'webhook secret').says, 'two are accepted');
      assert.ok(!secret.findings.some(({ name }) => name === "clock and the provider's"));
    });

    it("says when the provider's clock is another", async (t) => {
      const report = await readReport(await provider(t, 'Sat, 01 Jan 2000 00:00:00 GMT'));
      assert.match(find(report, "clock and the provider's").says, /the provider is behind$/);
      assert.equal(report.code, 1);
    });

    it('says when no server answers there', async () => {
      const baseUrl = 'http://127.0.0.1:1';
      const report = await readReport({ PROVIDER_STUB: 'false', PROVIDER_BASE_URL: baseUrl });
      assert.equal(find(report, 'provider').says, `${baseUrl} cannot be reached (ECONNREFUSED)`);
      assert.equal(report.code, 1);
    });
  });
});

it('a command that cannot reach the database says which one, and nothing of who asks', async () => {
  const place = '127.0.0.1:1';
  const environment = { ...healthy, DATABASE_URL: `postgres://someone:hidden@${place}/accounts` };
  const { code, stderr } = await type(['user', 'list'], environment);
  assert.equal(code, 3);
  assert.equal(
    stderr,
    `ponte: the database accounts at ${place} cannot be reached (ECONNREFUSED): ` +
      'is DATABASE_URL right, is the server up?\n',
  );
});

describe('ponte config check', () => {
  const secret = 'hidden-value';
  const { privatePem, publicPem } = rsaPems(2048);
  const environment: Environment = {
    APP_ENV: 'staging',
    DATABASE_URL: `postgres://ponte:${secret}@db.example/ponte?sslmode=require&password=${secret}`,
    PROVIDER_STUB: 'true',
    PROVIDER_PASSWORD: secret,
    WEBHOOK_SECRET: `${secret},${secret}2`,
    WEBHOOK_SIGNING_SECRET: `${secret}-of-more-than-32-characters`,
    APP_EVENTS_SECRET: `whsec_${Buffer.from(secret.repeat(3)).subarray(0, 33).toString('base64')}`,
    PROVIDER_API_KEY: secret,
    JWT_PRIVATE_KEY: privatePem,
    JWT_PUBLIC_KEYS: publicPem + publicPem,
    ENCRYPTION_KEY: Buffer.from(secret.padEnd(32)).toString('base64'),
  };

  it('shows every setting with its value or its default, and no secret', async () => {
    const { code, stdout } = await type(['config', 'check', '--json'], environment);
    assert.equal(code, 0);
    const report = JSON.parse(stdout) as ConfigReport;
    assert.deepEqual(
      report.settings.map(({ name }) => name),
      settings.map(({ name }) => name),
    );
    const shown = Object.fromEntries(
      report.settings.map(({ name, value, from }) => [name, `${value} ${from}`]),
    );
    assert.equal(
      shown['DATABASE_URL'],
      'postgres://ponte@db.example/ponte?sslmode=require environment',
    );
    assert.equal(shown['WEBHOOK_SECRET'], '(set) environment');
    assert.equal(shown['JWT_PUBLIC_KEYS'], '2 keys environment');
    assert.equal(shown['PORT'], '3000 default');
    assert.equal(shown['METRICS_PORT'], 'null unset');
    const table = await type(['config', 'check'], environment);
    assert.match(table.stdout, /^WEBHOOK_SECRET +\(set\) +environment$/m);
    const pem = privatePem.split('\n')[1] ?? '';
    for (const text of [secret, environment['ENCRYPTION_KEY'] ?? '', pem]) {
      assert.ok(!(stdout + table.stdout + table.stderr).includes(text), 'a secret was printed');
    }
  });

  it('hides every setting whose name says that it is secret', async () => {
    const { stdout } = await type(['config', 'check', '--json'], environment);
    const { settings: shown } = JSON.parse(stdout) as ConfigReport;
    const telling = shown.filter(
      ({ name }) =>
        /SECRET|PASSWORD|PRIVATE_KEY|API_KEY$|ENCRYPTION|TOKEN|CREDENTIAL/.test(name) &&
        // The name of a file is no secret.
        !name.endsWith('_FILE'),
    );
    assert.ok(telling.length >= 4);
    for (const { name, value } of telling) assert.equal(value, '(set)', name);
  });

  it('names every fault, without the value: exit 2', async () => {
    const faulty = { PORT: secret, PROVIDER_PASSWORD: 'short', WEBHOOK_SECRET: 'a,b,c' };
    const { code, stdout, stderr } = await type(['config', 'check'], faulty);
    assert.equal(code, 2);
    assert.match(stdout, /^PORT +invalid +environment$/m);
    const expected = Object.entries(findFaults(faulty)).map(([name, says]) => `  ${name} ${says}`);
    assert.deepEqual(stderr.trimEnd().split('\n').slice(1), expected);
    assert.equal(expected.length, 3);
    const json = await type(['config', 'check', '--json'], faulty);
    assert.equal(json.code, 2);
    assert.equal((JSON.parse(json.stdout) as ConfigReport).faults.length, 3);
    assert.ok(!(stdout + stderr + json.stdout).includes(secret));
  });

  it('is not needed to learn of faults: any command names them, exit 2', async () => {
    const { code, stderr } = await type(['user', 'list'], { PORT: 'x' });
    assert.equal(code, 2);
    assert.equal(
      stderr,
      'ponte cannot run, because its configuration is not valid:\n' +
        '  PORT must be an integer from 0 to 65535\n',
    );
  });
});

describe('ponte contract', () => {
  const yaml = readFileSync(new URL('../../../contract/openapi.yaml', import.meta.url), 'utf8');

  it('print gives the contract, as YAML and as JSON', async () => {
    assert.equal((await type(['contract', 'print'])).stdout, yaml);
    const { stdout } = await type(['contract', 'print', '--json']);
    assert.deepEqual(JSON.parse(stdout), parse(yaml));
  });

  it('check says that it and the operations agree', async () => {
    const { code, stdout } = await type(['contract', 'check', '--json']);
    assert.equal(code, 0);
    const operations = yaml.match(/^ {6}operationId: /gm)?.length;
    assert.deepEqual(JSON.parse(stdout), { valid: true, operations, problem: null });
    const words = await type(['contract', 'check']);
    assert.equal(words.stdout, `The contract matches its ${operations} operations.\n`);
  });
});

/** No one can make a folder there; the error names the missing parent. */
const needsProc = { skip: !existsSync('/proc/self') && 'needs /proc' };

describe('ponte keys', () => {
  const out = join(folder, 'keys');

  it('generate writes a pair that works, for its owner only, and overwrites nothing', async () => {
    const argv = ['keys', 'generate', '--bits', '2048', '--out', out];
    const { code, stdout } = await type([...argv, '--json'], {});
    assert.equal(code, 0);
    const pair = JSON.parse(stdout) as Record<'kid' | 'privateKeyFile' | 'publicKeyFile', string>;
    for (const file of [pair.privateKeyFile, pair.publicKeyFile]) {
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.ok(!stdout.includes(readFileSync(file, 'utf8').split('\n')[1] ?? ''));
    }
    const rotation = await type(['keys', 'rotate-help', '--json'], {
      JWT_PRIVATE_KEY_FILE: pair.privateKeyFile,
      JWT_PUBLIC_KEYS_FILE: pair.publicKeyFile,
    });
    assert.deepEqual(JSON.parse(rotation.stdout), {
      signs: { kid: pair.kid, bits: 2048 },
      generated: false,
      accepts: [],
      tokenSeconds: 3600,
    });
    const before = readFileSync(pair.privateKeyFile, 'utf8');
    const again = await type(argv, {});
    assert.equal(again.code, 2);
    assert.match(again.stderr, /jwt-private\.pem already exists/);
    rmSync(pair.privateKeyFile);
    const half = await type(argv, {});
    assert.match(half.stderr, /jwt-public\.pem already exists/);
    assert.throws(() => statSync(pair.privateKeyFile));
    assert.match(before, /PRIVATE KEY/);
  });

  it('generate makes the folders that are missing, for their owner only', async () => {
    const deep = join(folder, 'new', 'deep');
    const { code } = await type(['keys', 'generate', '--bits', '2048', '--out', deep], {});
    assert.equal(code, 0);
    for (const made of [deep, join(folder, 'new')])
      assert.equal(statSync(made).mode & 0o777, 0o700);
  });

  it('generate reports a folder that cannot be made: exit 2', needsProc, async () => {
    const { code, stderr } = await type(['keys', 'generate', '--out', '/proc/x/y'], {});
    assert.equal(code, 2);
    assert.equal(stderr, 'ponte: /proc/x/y cannot be written (ENOENT)\n');
  });

  it('generate refuses a short key: exit 2', async () => {
    const { code, stderr } = await type(['keys', 'generate', '--bits', '1024', '--out', folder]);
    assert.equal(code, 2);
    assert.match(stderr, /from 2048 to 8192/);
  });

  it('rotate-help names the keys in use and the steps', async () => {
    const { privatePem, publicPem } = rsaPems(2048);
    const other = rsaPems(2048).publicPem;
    const { stdout } = await type(['keys', 'rotate-help'], {
      JWT_PRIVATE_KEY: privatePem,
      JWT_PUBLIC_KEYS: publicPem + other,
      JWT_TTL_SECONDS: '900',
    });
    assert.match(stdout, /^signs +[\w-]{43} \(RSA, 2048 bits\), from JWT_PRIVATE_KEY\naccepts +/);
    assert.match(stdout, /1\. Run ponte keys generate.*4\. Wait 900 seconds.*5\. /s);
    const generated = await type(['keys', 'rotate-help']);
    assert.match(generated.stdout, /^signs +[\w-]{43} \(RSA, 3072 bits\), generated into DATA_DIR/);
    const none = await type(['keys', 'rotate-help'], { DATA_DIR: join(folder, 'none') });
    assert.match(none.stdout, /^signs +a key that the first start generates/);
  });
});
