/** A command's op, on PostgreSQL, on the embedded database, and through a service that has it. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { before, describe, it } from 'node:test';
import { startWorker } from '../../../src/app/app.ts';
import { systemClock, type Clock } from '../../../src/clock.ts';
import { loadConfig, type Config } from '../../../src/config/config.ts';
import { openEmbedded } from '../../../src/db/embedded.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { OpError } from '../../../src/operator/op.ts';
import { socketAddress } from '../../../src/operator/socket/protocol.ts';
import { createOperatorClient, type OperatorClient } from '../../../src/operator/client.ts';
import { UnreachableError } from '../../../src/operator/failure-message.ts';
import { startTestApp, testConfig } from '../../support/app.ts';
import { manualClock } from '../../support/clock.ts';
import { createTestDatabase, serverUrl } from '../../support/db.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyEmbedded } from '../../support/open-database.ts';
import { afterFile } from '../../support/suite.ts';

const log = createLog({ level: 'silent', pretty: false });

const makeClient = (config: Config, clock: Clock = systemClock): OperatorClient =>
  createOperatorClient(config, { clock, log });

const none = (): void => undefined;

const caller = { operator: 'ana', progress: none };
const listing = { name: 'user list', input: { limit: 5 }, ...caller } as const;

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-reach-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What the same commands give, one after the other. */
async function story(reach: OperatorClient): Promise<unknown[]> {
  const results: unknown[] = [];
  const record = async (work: Promise<unknown>): Promise<void> => {
    results.push(await work.catch((error: unknown) => `${error as Error}`));
  };
  const { run } = reach;
  const person = {
    name: ' Maria  da Silva ',
    email: 'Maria@example.com',
    document: '111.444.777-35',
    phone: '(11) 98765-4321',
    password: 'correct horse battery',
  };
  await record(run({ name: 'user create', input: person, ...caller }));
  await record(run({ name: 'user create', input: { ...person, phone: '1' }, ...caller }));
  await record(run({ name: 'user disable', input: { user: 'maria@EXAMPLE.com' }, ...caller }));
  await record(run({ name: 'user disable', input: { user: '1' }, ...caller }));
  await record(run({ name: 'session revoke', input: { of: '7' }, ...caller }));
  const seen: number[] = [];
  await record(
    run({ name: 'pix audit', input: {}, ...caller, progress: (done) => void seen.push(done) }),
  );
  assert.ok(seen.length > 0, 'no progress came');
  await reach.release();
  await record(run({ name: 'user identify', input: { user: '1' }, ...caller }));
  return results;
}

describe('a command', () => {
  let results: unknown[];

  before(async () => {
    const database = await createTestDatabase();
    const reach = makeClient(testConfig(database));
    results = await story(reach);
    await reach.release();
    await database.drop();
  });

  it(
    serverUrl ? 'works on PostgreSQL' : 'works on the embedded database that no process has open',
    () => {
      assert.deepEqual(results.slice(0, 5), [
        { id: 1, email: 'Maria@example.com' },
        'OpError: phone: The phone must have an area code, as in +55 11 98765-4321.',
        { id: 1, email: 'Maria@example.com', status: 'DISABLED', endedSession: false },
        'OpError: user 1 is already disabled',
        'OpError: there is no user 7',
      ]);
      assert.equal((results[5] as { ok: boolean }).ok, true);
      assert.deepEqual(results[6], { id: 1, email: 'Maria@example.com', status: 'DISABLED' });
    },
  );

  it(
    'returns the same through a service that has the embedded database',
    onlyEmbedded,
    async () => {
      const app = await startTestApp();
      const reach = makeClient(testConfig(app.database));
      assert.deepEqual(await story(reach), results);
      assert.equal(existsSync(join(app.database.dataDir, 'control', 'socket')), true);
      const refused = { name: 'migrate down', input: {}, ...caller } as const;
      await assert.rejects(reach.run(refused), /^OpError: a service runs on this database/);
    },
  );
});

it('a worker on the embedded database is called like a service', onlyEmbedded, async () => {
  const database = await createTestDatabase();
  const config = testConfig(database);
  const worker = await startWorker(config, { clock: manualClock(), log });
  const reach = makeClient(config);
  assert.deepEqual(await reach.run(listing), { users: [] });
  await worker.stop();
  assert.deepEqual(await reach.run(listing), { users: [] });
  await reach.release();
  await database.drop();
});

describe('a database', () => {
  it('that is not there is not made by looking', async () => {
    const dataDir = join(emptyFolder(), 'none');
    const typed = relative('.', dataDir);
    const reach = makeClient(loadConfig({ APP_ENV: 'test', DATA_DIR: typed }));
    const missing = new OpError(
      'REFUSED',
      `there is no database in ${dataDir}; DATA_DIR is relative to the current folder: run this ` +
        'where the service was started, or create a database by `ponte migrate up`',
    );
    await assert.rejects(reach.run(listing), missing);
    await assert.rejects(reach.run({ ...listing, name: 'migrate status', input: {} }), missing);
    assert.equal(existsSync(dataDir), false);
  });

  it('that cannot be reached is named, without who would have logged in', async () => {
    const url = 'postgres://ponte:not-shown@127.0.0.1:1/ponte';
    const dataDir = emptyFolder();
    const config = loadConfig({ APP_ENV: 'test', DATA_DIR: dataDir, DATABASE_URL: url });
    const reach = makeClient(config);
    const expected = new UnreachableError(
      'the database ponte at 127.0.0.1:1 cannot be reached (ECONNREFUSED): ' +
        'is DATABASE_URL right, is the server up?',
    );
    await assert.rejects(reach.run(listing), expected);
    // Not remembered: the next one tries again.
    await assert.rejects(reach.run(listing), expected);
    await reach.release();
  });

  it('with an old schema is left as it is, and the sentence says what to run', async () => {
    const made = await createTestDatabase();
    const database = { ...made, databaseUrl: made.ownerUrl };
    afterFile(() => database.drop());
    const reach = makeClient(testConfig(database));
    const down = await reach.run({ name: 'migrate down', input: {}, ...caller });
    await reach.release();
    await assert.rejects(
      reach.run(listing),
      new OpError(
        'REFUSED',
        'a migration is not applied to the database yet: run `ponte migrate up`',
      ),
    );
    const up = await reach.run({ name: 'migrate up', input: {}, ...caller });
    assert.deepEqual(up, { applied: [down.reverted] });
    assert.deepEqual(await reach.run(listing), { users: [] });
    await reach.release();
  });

  it('that another process has is waited for', onlyEmbedded, async () => {
    const database = await createTestDatabase();
    afterFile(() => database.drop());
    const other = await openEmbedded(database.dataDir);
    const clock = manualClock();
    const reach = makeClient(testConfig(database), clock);
    let isOver = false;
    const listed = reach.run(listing).finally(() => (isOver = true));
    await clock.advance(500);
    assert.equal(isOver, false);
    await other.close();
    await eventually(async () => {
      await clock.advance(100);
      return isOver;
    }, 'the list');
    assert.deepEqual(await listed, { users: [] });
    await reach.release();
  });

  it('that another process holds without answering is an error', onlyEmbedded, async () => {
    const database = await createTestDatabase();
    const other = await openEmbedded(database.dataDir);
    afterFile(async () => {
      await other.close();
      await database.drop();
    });
    const clock = manualClock();
    const reach = makeClient(testConfig(database), clock);
    let failure: unknown;
    reach.run(listing).catch((error: unknown) => (failure = error));
    await eventually(async () => {
      await clock.advance(100);
      return failure;
    }, 'the failure');
    const folder = database.dataDir;
    assert.deepEqual(
      failure,
      new UnreachableError(
        `the embedded database in ${folder} is in use by another process, which does not accept commands`,
      ),
    );
  });

  it('that is served in a folder with open permissions is not called', onlyEmbedded, async () => {
    const app = await startTestApp();
    const config = testConfig(app.database);
    const { folder } = socketAddress(config.dataDir);
    chmodSync(folder, 0o755);
    await assert.rejects(
      makeClient(config).run(listing),
      new UnreachableError(
        `the embedded database in ${config.dataDir} is in use by another process; ` +
          `${folder} is accessible to other users`,
      ),
    );
  });
});
