/** The embedded database: one process per folder, and no lost commits when that process dies. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, test, type TestContext } from 'node:test';
import { openDatabase, type Database } from '../../src/db/database.ts';
import { FolderInUseError } from '../../src/db/embedded.ts';
import { manualClock } from '../support/clock.ts';
import { typePonte } from '../support/command-line.ts';
import { createTestDatabase } from '../support/db.ts';
import { onlyEmbedded } from '../support/open-database.ts';

const parts = new AsyncDisposableStack();
after(() => parts.disposeAsync());

async function folder(): Promise<string> {
  const { dataDir, drop } = await createTestDatabase({ isOwn: true });
  parts.defer(drop);
  return dataDir;
}

const openFolder = (dataDir: string): Promise<Database> =>
  openDatabase({ databaseUrl: undefined, dataDir, clock: manualClock() });

interface Holder {
  readonly process: ChildProcess;
  /** @returns the next line of its output. */
  next(): Promise<string>;
  kill(): Promise<void>;
}

/** Starts `embedded-holder.ts` on the folder. */
function startHolder(t: TestContext, dataDir: string, task: 'hold' | 'write'): Holder {
  const program = new URL('./embedded-holder.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, dataDir, task], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  t.after(kill);
  return { process: child, kill, next: async () => (await lines.next()).value ?? 'silence' };
}

describe('the embedded database', onlyEmbedded, () => {
  test('a second process is refused the folder while the first one has it', async (t) => {
    const dataDir = await folder();
    const db = await openFolder(dataDir);
    assert.equal(await startHolder(t, dataDir, 'hold').next(), 'refused FolderInUseError');
    await db.close();
    assert.equal(await startHolder(t, dataDir, 'hold').next(), 'opened');
  });

  test('this process is refused the folder that another one has, until it is killed', async (t) => {
    const dataDir = await folder();
    const holder = startHolder(t, dataDir, 'hold');
    assert.equal(await holder.next(), 'opened');
    await assert.rejects(openFolder(dataDir), (error) => {
      assert(error instanceof FolderInUseError);
      return error.message.includes(dataDir);
    });
    await holder.kill();
    await (await openFolder(dataDir)).close();
  });

  test('one process is refused to open a folder twice', async () => {
    const dataDir = await folder();
    const db = await openFolder(dataDir);
    await assert.rejects(openFolder(dataDir), FolderInUseError);
    await db.close();
    await (await openFolder(dataDir)).close();
  });

  test('every row that was acknowledged survives kill -9 in the middle of writing', async (t) => {
    const dataDir = await folder();
    for (const enough of [5, 60]) {
      const holder = startHolder(t, dataDir, 'write');
      assert.equal(await holder.next(), 'opened');
      const committed: string[] = [];
      while (committed.length < enough) committed.push(await holder.next());
      await holder.kill();
      for (let line = await holder.next(); line !== 'silence'; line = await holder.next()) {
        committed.push(line);
      }
      const db = await openFolder(dataDir);
      const text = `delete from throttle_counters returning 'committed ' || key as line`;
      const stored = await db.query<{ line: string }>({ name: '', text }, []);
      const lost = new Set(committed).difference(new Set(stored.map(({ line }) => line)));
      assert.deepEqual([...lost], []);
      // The statement that the kill interrupted may have been committed without being acknowledged.
      assert.ok(stored.length - committed.length <= 1);
      await db.close();
    }
  });

  test('an opening that fails releases the folder', async () => {
    const dataDir = await folder();
    const version = join(dataDir, 'postgres', 'PG_VERSION');
    await writeFile(version, '1\n');
    await assert.rejects(openFolder(dataDir));
    await writeFile(version, '18\n');
    await (await openFolder(dataDir)).close();
  });

  test('timers and sockets get their turn while the database is busy', async (t) => {
    const db = await openFolder(await folder());
    t.after(() => db.close());
    let isBusy = true;
    let turns = 0;
    const turn = () => {
      turns += 1;
      if (isBusy) setImmediate(turn);
    };
    setImmediate(turn);
    for (let statement = 0; statement < 20; statement += 1) {
      await db.query({ name: 'busy', text: 'select 1' }, []);
    }
    isBusy = false;
    assert.ok(turns >= 20, `${turns} turns in 20 statements`);
  });

  test('vacuum returns the space of deleted rows', async (t) => {
    const db = await openFolder(await folder());
    t.after(() => db.close());
    const run = <Row>(text: string) => db.query<Row>({ name: '', text }, []);
    const size = async () =>
      (
        await run<{ bytes: number }>(`select pg_relation_size('throttle_counters')::int as bytes`)
      )[0]?.bytes ?? 0;
    await run(
      `insert into throttle_counters select i::text, now(), 1, now() from generate_series(1, 500) i`,
    );
    const full = await size();
    await run('delete from throttle_counters');
    await db.vacuum();
    assert.ok((await size()) < full);
  });

  test('ponte migrate up makes it where there is none, for its owner only', async (t) => {
    const parent = mkdtempSync(join(tmpdir(), 'ponte-new-'));
    t.after(() => rmSync(parent, { recursive: true, force: true }));
    const dataDir = join(parent, 'data');
    const environment = { APP_ENV: 'test', DATA_DIR: dataDir };
    const migrate = (...argv: string[]) => typePonte(['migrate', ...argv], { environment });
    const none = await migrate('status');
    assert.deepEqual([none.code, existsSync(join(dataDir, 'postgres'))], [1, false]);
    const { code, stdout } = await migrate('up', '--json');
    assert.equal(code, 0);
    const { applied } = JSON.parse(stdout) as { applied: string[] };
    assert.ok(applied.length >= 2);
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
    assert.equal((await migrate('status')).code, 0);
  });
});
