/** Notifications: told once to each listener, and not lost for good with the connection. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openDatabase, type Database } from '../../src/db/database.ts';
import { endsChannel, tellingEnds } from '../../src/db/queries/tell-ends.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { onlyOnServer, openTestDatabase } from '../support/open-database.ts';

const open = await openTestDatabase();
const { db, clock, database, rows } = open;

const tell = (channel: string, payload: string) =>
  rows('select pg_notify($1, $2)', [channel, payload]);

/** Listens, and gives what was heard and what takes the listener back. */
async function hear(channel: string, on: Database = db) {
  const heard: string[] = [];
  const stop = await on.listen(channel, (payload) => void heard.push(payload));
  return { heard, stop };
}

const heardAll = (heard: readonly string[], payloads: readonly string[]) =>
  eventually(() => heard.length >= payloads.length, payloads.join(', ')).then(() =>
    assert.deepEqual(heard, payloads),
  );

test('a listener is called with the payload of each notification, in order', async () => {
  const { heard, stop } = await hear('in_order');
  await tell('in_order', 'first');
  await tell('in_order', 'second');
  await heardAll(heard, ['first', 'second']);
  await stop();
});

test('a listener hears its own channel only', async () => {
  const one = await hear('channel_one');
  const other = await hear('channel_two');
  await tell('channel_one', 'for one');
  await tell('channel_two', 'for the other');
  await heardAll(other.heard, ['for the other']);
  await heardAll(one.heard, ['for one']);
});

test('listeners that begin at once on a new channel all hear', async () => {
  const listeners = await Promise.all(Array.from({ length: 5 }, () => hear('at_once')));
  await tell('at_once', 'to all');
  for (const { heard } of listeners) await heardAll(heard, ['to all']);
});

test('a listener that was taken back hears nothing, and the others go on', async () => {
  const gone = await hear('taken_back');
  const staying = await hear('taken_back');
  await gone.stop();
  await tell('taken_back', 'one');
  await heardAll(staying.heard, ['one']);
  await staying.stop();
  await staying.stop();
  const again = await hear('taken_back');
  await tell('taken_back', 'two');
  await heardAll(again.heard, ['two']);
  assert.deepEqual([gone.heard, staying.heard], [[], ['one']]);
});

test('the ends of a group are told at once by their ids, and many without', async () => {
  const { heard, stop } = await hear(endsChannel);
  const end = async (howMany: number) => {
    const sql = `with ended as (select gen_random_uuid() as id from generate_series(1, $1::int))
                 select ${tellingEnds('ended')}`;
    const before = heard.length;
    await rows(sql, [howMany]);
    if (howMany > 0) await eventually(() => heard.length > before, `${howMany} ends`);
  };
  for (const howMany of [1, 0, 200, 201]) await end(howMany);
  const ids = heard.map((payload) => payload.split(' ').filter((id) => id.length === 36).length);
  assert.deepEqual(ids, [1, 200, 0]);
  assert.equal(heard[2], '');
  await stop();
});

test('a notification of a transaction that is rolled back is not heard', async () => {
  const { heard } = await hear('rolled_back');
  const undone = (await db.em()).transactional(async (em) => {
    await em.execute(`select pg_notify('rolled_back', 'undone')`);
    throw new Error('undone');
  });
  await assert.rejects(undone, { message: 'undone' });
  await tell('rolled_back', 'done');
  await heardAll(heard, ['done']);
});

test('a listener that begins during a transaction that is rolled back hears all the same', async () => {
  const begun: ReturnType<typeof hear>[] = [];
  const undone = (await db.em()).transactional(async (em) => {
    await em.execute('select 1');
    begun.push(hear('amid'));
    await em.execute('select 1');
    throw new Error('undone');
  });
  await assert.rejects(undone, { message: 'undone' });
  const [listener] = await Promise.all(begun);
  await tell('amid', 'heard');
  await heardAll(listener?.heard ?? [], ['heard']);
});

test(
  'after the connection was ended, every listener is called and hears again',
  onlyOnServer,
  async () => {
    const one = await hear('ended_one');
    const other = await hear('ended_two');
    await endListening(database.databaseUrl);
    await eventually(async () => (await listening()) === 0, 'the end of the connection');
    await tell('ended_one', 'lost');
    await comesBack(one.heard);
    assert.deepEqual([one.heard, other.heard], [[''], ['']]);
    await tell('ended_two', 'heard');
    await heardAll(other.heard, ['', 'heard']);
    assert.deepEqual(one.heard, ['']);
  },
);

test('reconnecting goes on until the server is there again', onlyOnServer, async () => {
  const { url, proxy, through } = await throughProxy();
  const { heard } = await hear('patience', through);
  await proxy.cut();
  for (let tries = 0; tries < 3; tries += 1) await clock.advance(1_000);
  await assert.rejects(
    through.listen('patience_two', () => undefined),
    { code: 'ECONNREFUSED' },
  );
  assert.deepEqual(heard, []);
  await proxy.mend();
  await comesBack(heard);
  await tell('patience', 'heard');
  await heardAll(heard, ['', 'heard']);
  await through.close();
  assert.ok(url);
});

test('a channel that could not be listened to is not told later', onlyOnServer, async () => {
  const { proxy, through } = await throughProxy();
  await proxy.cut();
  const refused: string[] = [];
  const tried = through.listen('never', (payload) => void refused.push(payload));
  await assert.rejects(tried, { code: 'ECONNREFUSED' });
  await proxy.mend();
  const { heard } = await hear('never', through);
  await tell('never', 'heard');
  await heardAll(heard, ['heard']);
  assert.deepEqual(refused, []);
});

test(
  'a database that is closed while its connection is lost does not connect again',
  onlyOnServer,
  async () => {
    const { proxy, through } = await throughProxy();
    await hear('closed', through);
    const connected = await listening();
    await proxy.cut();
    await proxy.mend();
    // The server takes a moment to see that the connection has gone.
    await eventually(async () => (await listening()) < connected, 'the end of the connection');
    const before = await listening();
    await through.close();
    await clock.advance(5_000);
    assert.equal(await listening(), before);
    await assert.rejects(
      through.listen('closed', () => undefined),
      /closed/,
    );
  },
);

async function throughProxy() {
  const proxy = await startDatabaseProxy(database.databaseUrl ?? '');
  const { url } = proxy;
  const through = await openDatabase({ databaseUrl: url, dataDir: '', clock });
  after(async () => {
    await through.close();
    await proxy.cut();
  });
  return { url, proxy, through };
}

/** Ends the connections that listen, as an administrator or a restart would. */
async function endListening(url: string | undefined): Promise<void> {
  assert(url);
  await rows(`select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and application_name = 'ponte-listen'`);
}

async function listening(): Promise<number> {
  const [row] = await rows<{ count: number }>(`
    select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'ponte-listen'`);
  return row?.count ?? 0;
}

/** Lets the time pass until the listener is told that it may have missed something. */
function comesBack(heard: readonly string[]): Promise<unknown> {
  return eventually(async () => {
    await clock.advance(1_000);
    return heard.includes('');
  }, 'the reconnection');
}
