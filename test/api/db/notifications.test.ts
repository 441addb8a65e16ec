/** Notifications: each listener gets one once, and a lost connection is restored. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openDatabase, type Database } from '../../../src/db/database.ts';
import { Notifications } from '../../../src/db/notifications.ts';
import { finalStatusChannel, notifyingFinalStatus } from '../../../src/ledger/move-repository.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyOnServer, openTestDatabase } from '../../support/open-database.ts';

const open = await openTestDatabase();
const { db, clock, database, rows } = open;

const notify = (channel: string, payload: string) =>
  rows('select pg_notify($1, $2)', [channel, payload]);

/** Listens. @returns the payloads, and a function that removes the listener. */
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
  await notify('in_order', 'first');
  await notify('in_order', 'second');
  await heardAll(heard, ['first', 'second']);
  await stop();
});

test('a listener hears its own channel only', async () => {
  const one = await hear('channel_one');
  const other = await hear('channel_two');
  await notify('channel_one', 'for one');
  await notify('channel_two', 'for the other');
  await heardAll(other.heard, ['for the other']);
  await heardAll(one.heard, ['for one']);
});

test('listeners that begin at once on a new channel all hear', async () => {
  const listeners = await Promise.all(Array.from({ length: 5 }, () => hear('at_once')));
  await notify('at_once', 'to all');
  for (const { heard } of listeners) await heardAll(heard, ['to all']);
});

test('a listener that was taken back hears nothing, and the others go on', async () => {
  const gone = await hear('taken_back');
  const staying = await hear('taken_back');
  await gone.stop();
  await notify('taken_back', 'one');
  await heardAll(staying.heard, ['one']);
  await staying.stop();
  await staying.stop();
  const again = await hear('taken_back');
  await notify('taken_back', 'two');
  await heardAll(again.heard, ['two']);
  assert.deepEqual([gone.heard, staying.heard], [[], ['one']]);
});

test('the final statuses of a batch are notified at once by their ids, and many without', async () => {
  const { heard, stop } = await hear(finalStatusChannel);
  const end = async (howMany: number) => {
    const sql = `with ended as (select gen_random_uuid() as id from generate_series(1, $1::int))
                 select ${notifyingFinalStatus('ended')}`;
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
  await notify('rolled_back', 'done');
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
  await notify('amid', 'heard');
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
    await notify('ended_one', 'lost');
    await comesBack(db);
    assert.deepEqual(
      [one.heard, other.heard],
      [
        ['', ''],
        ['', ''],
      ],
    );
    await notify('ended_two', 'heard');
    await heardAll(other.heard, ['', '', 'heard']);
    assert.deepEqual(one.heard, ['', '']);
  },
);

test('reconnecting continues until the server is available again', onlyOnServer, async (t) => {
  const { proxy, through, changes } = await throughProxy(t);
  const { heard } = await hear('patience', through);
  assert.equal(through.notificationsUp(), true);
  await proxy.cut();
  await eventually(() => !through.notificationsUp(), 'the loss');
  for (let tries = 0; tries < 3; tries += 1) await clock.advance(1_000);
  const late = await hear('patience_two', through);
  assert.deepEqual([heard, late.heard], [[''], []]);
  await proxy.mend();
  await comesBack(through);
  await notify('patience', 'heard');
  await notify('patience_two', 'heard too');
  await heardAll(heard, ['', '', 'heard']);
  await heardAll(late.heard, ['', 'heard too']);
  assert.deepEqual(changes, [false, true]);
  await through.close();
});

test(
  'a listener that begins while the server is away is called when it comes, and hears',
  onlyOnServer,
  async (t) => {
    const { proxy, through } = await throughProxy(t);
    assert.equal(through.notificationsUp(), true);
    await proxy.cut();
    const { heard } = await hear('early', through);
    assert.equal(through.notificationsUp(), false);
    await proxy.mend();
    await comesBack(through);
    await notify('early', 'heard');
    await heardAll(heard, ['', '', 'heard']);
  },
);

/** Short, because the network's time is real; a busy machine at worst connects a second time. */
const deadlineMs = 500;

/** Notifications alone, through a proxy. */
async function givenNotifications(t: TestContext, change?: (bytes: Buffer) => Buffer) {
  const proxy = await startDatabaseProxy(database.databaseUrl ?? '', change);
  const notifications = new Notifications({ url: proxy.url, clock, deadlineMs });
  t.after(async () => {
    await notifications.close();
    await proxy.cut();
  });
  const heard: string[] = [];
  await notifications.listen('silent', (payload) => void heard.push(payload));
  return { proxy, notifications, heard };
}

test('a connection that falls silent is found by its heartbeat', onlyOnServer, async (t) => {
  const { proxy, notifications, heard } = await givenNotifications(t);
  await clock.advance(3_000);
  proxy.hold();
  await eventually(async () => {
    await clock.advance(1_000);
    return !notifications.areUp;
  }, 'the missing heartbeat');
  assert.deepEqual(heard, ['']);
  await proxy.mend();
  await isUp(notifications);
  await notify('silent', 'heard');
  await eventually(() => heard.includes('heard'), 'the notification');
});

test(
  'a network that falls silent as the reconnection listens holds nothing up for good',
  onlyOnServer,
  async (t) => {
    const { proxy, notifications, heard } = await givenNotifications(t);
    await proxy.cut();
    await eventually(() => !notifications.areUp, 'the loss');
    await proxy.mend();
    proxy.hold({ from: 'listen ' });
    await eventually(async () => {
      await clock.advance(1_000);
      return proxy.isHolding();
    }, 'the LISTEN that is swallowed');
    await proxy.mend();
    await isUp(notifications);
    await notify('silent', 'heard');
    await eventually(() => heard.includes('heard'), 'the notification');
  },
);

test('a pooler that does not keep LISTEN is found by the heartbeat', onlyOnServer, async (t) => {
  const { notifications } = await givenNotifications(t, (bytes) =>
    Buffer.from(bytes.toString('latin1').replace('listen ponte_', 'select 1 --__'), 'latin1'),
  );
  assert.equal(notifications.areUp, true);
  await eventually(async () => {
    await clock.advance(1_000);
    return !notifications.areUp;
  }, 'the missing notification');
});

test('closing waits for no server, and closes every connection', onlyOnServer, async (t) => {
  const { proxy, notifications } = await givenNotifications(t);
  proxy.hold();
  await notifications.close();
  await eventually(() => proxy.clients() === 0, 'the end of the connection');
  await assert.rejects(
    notifications.listen('silent', () => undefined),
    /closed/,
  );
});

test(
  'a database that is closed while its connection is lost does not connect again',
  onlyOnServer,
  async (t) => {
    const { proxy, through } = await throughProxy(t);
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

async function throughProxy(t: TestContext) {
  const proxy = await startDatabaseProxy(database.databaseUrl ?? '');
  const changes: boolean[] = [];
  const onNotifications = (areUp: boolean) => void changes.push(areUp);
  const through = await openDatabase({
    databaseUrl: proxy.url,
    dataDir: '',
    clock,
    onNotifications,
  });
  t.after(async () => {
    await through.close();
    await proxy.cut();
  });
  return { proxy, through, changes };
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

/** Lets the time pass until notifications arrive again. */
async function comesBack(on: Database): Promise<void> {
  await eventually(() => !on.notificationsUp(), 'the loss');
  await eventually(async () => {
    await clock.advance(1_000);
    return on.notificationsUp();
  }, 'the reconnection');
}

async function isUp(notifications: Notifications): Promise<void> {
  await eventually(async () => {
    await clock.advance(1_000);
    return notifications.areUp;
  }, 'the reconnection');
}
