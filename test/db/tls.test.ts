/** What the database's address says of TLS is done: nothing is sent in plain text against it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { openDatabase } from '../../src/db/database.ts';
import { manualClock } from '../support/clock.ts';
import { onlyOnServer, openTestDatabase } from '../support/open-database.ts';
import { serverUrl } from '../support/db.ts';

/** PostgreSQL protocol, SSLRequest: the length, and a code in the place of a version. */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** A server that does no TLS and notes what it is sent. */
async function serverWithoutTls(t: TestContext) {
  const received: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      received.push(bytes);
      if (bytes.equals(sslRequest)) socket.write('N');
      else socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { address: `postgres://postgres:secret@127.0.0.1:${port}/ponte`, received };
}

/** Opens the database, asks it something and listens. */
async function use(databaseUrl: string): Promise<void> {
  const clock = manualClock();
  const db = await openDatabase({ databaseUrl, dataDir: '', clock });
  try {
    await db.query({ name: '', text: 'select 1' }, []);
  } finally {
    await assert.rejects(db.listen('anything', () => undefined));
    await db.close();
  }
}

for (const mode of ['require', 'verify-ca', 'verify-full', 'no-verify']) {
  test(`sslmode=${mode} sends nothing to a server without TLS`, async (t) => {
    const { address, received } = await serverWithoutTls(t);
    await assert.rejects(use(`${address}?sslmode=${mode}`), /does not support SSL/);
    assert.ok(received.length > 0, 'TLS was asked for');
    assert.deepEqual(
      received,
      received.map(() => sslRequest),
    );
  });
}

test('ssl=true sends nothing to a server without TLS', async (t) => {
  const { address, received } = await serverWithoutTls(t);
  await assert.rejects(use(`${address}?ssl=true`), /does not support SSL/);
  assert.deepEqual(
    received,
    received.map(() => sslRequest),
  );
});

test('sslmode=disable and no word of TLS begin in plain text', async (t) => {
  for (const query of ['', '?sslmode=disable']) {
    const { address, received } = await serverWithoutTls(t);
    await assert.rejects(use(`${address}${query}`));
    assert.match(received[0]?.toString('latin1') ?? '', /user\0postgres\0database\0ponte\0/);
  }
});

test('sslmode=require uses TLS with this server, or fails', onlyOnServer, async () => {
  const { rows } = await openTestDatabase();
  const [setting] = await rows<{ ssl: string }>('show ssl');
  const required = new URL(serverUrl ?? '');
  required.searchParams.set('sslmode', 'require');
  const { href: databaseUrl } = required;
  const opened = openDatabase({ databaseUrl, dataDir: '', clock: manualClock() });
  const encrypted = opened.then(async (db) => {
    try {
      const text = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
      return await db.query({ name: '', text }, []);
    } finally {
      await db.close();
    }
  });
  if (setting?.ssl === 'on') assert.deepEqual(await encrypted, [{ ssl: true }]);
  else await assert.rejects(encrypted, /does not support SSL/);
});
