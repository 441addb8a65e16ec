/** What the database's address says of TLS is done: nothing is sent in plain text against it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, test, type TestContext } from 'node:test';
import { createSecureContext, TLSSocket } from 'node:tls';
import { openDatabase } from '../../../src/db/database.ts';
import { manualClock } from '../../support/clock.ts';
import { onlyOnServer, openTestDatabase } from '../../support/open-database.ts';
import { serverUrl } from '../../support/db.ts';
import * as certificates from './certificates.ts';

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
    await db.listen('anything', () => undefined);
    assert.equal(db.notificationsUp(), false);
    await db.close();
  }
}

for (const mode of ['require', 'verify-ca', 'verify-full', 'no-verify']) {
  test(`sslmode=${mode} sends nothing to a server without TLS`, async (t) => {
    const { address, received } = await serverWithoutTls(t);
    await assert.rejects(use(`${address}?sslmode=${mode}`), /does not support SSL/);
    assert.ok(received.length > 0, 'TLS was requested');
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

/** A server that speaks TLS with this certificate, and notes what it is sent inside of it. */
async function serverWithTls(t: TestContext, certificate: string) {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const secureContext = createSecureContext({ key: certificates.serverKey, cert: certificate });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('S');
      const secured = new TLSSocket(socket, { isServer: true, secureContext });
      secured.on('error', () => undefined);
      secured.on('data', (bytes: Buffer) => {
        received.push(bytes.toString('latin1'));
        secured.destroy();
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, received };
}

describe('sslmode=verify-full', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-tls-'));
  after(() => rmSync(folder, { recursive: true }));
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, certificates.authority);

  const trusted = `sslmode=verify-full&sslrootcert=${authority}`;
  const { forLocalhost, forOther, forAddress, ofStranger } = certificates;

  interface Case {
    readonly what: string;
    readonly certificate: string;
    readonly host: string;
    readonly query?: string;
    /** How the driver refuses it; otherwise it goes on inside TLS. */
    readonly refused?: RegExp;
  }

  const cases: readonly Case[] = [
    { what: 'the name of the host', certificate: forLocalhost, host: 'localhost' },
    {
      what: 'another name',
      certificate: forOther,
      host: 'localhost',
      refused: /does not match certificate's altnames/,
    },
    {
      what: 'an authority that is not configured',
      certificate: ofStranger,
      host: 'localhost',
      refused: /unable to verify|self.signed/i,
    },
    {
      what: 'an authority that is not among those of the machine',
      certificate: forLocalhost,
      host: 'localhost',
      query: 'sslmode=verify-full',
      refused: /unable to verify|self.signed/i,
    },
    { what: 'the address of the host', certificate: forAddress, host: '127.0.0.1' },
    {
      what: 'the name localhost, where the host is an address',
      certificate: forLocalhost,
      host: '127.0.0.1',
      refused: /does not match certificate's altnames/,
    },
    {
      what: 'the name of the parameter host, which the driver connects to',
      certificate: forLocalhost,
      host: 'other.test',
      query: `${trusted}&host=localhost`,
    },
    {
      what: 'the name of the host, where an earlier sslmode would not look at it',
      certificate: forOther,
      host: 'localhost',
      query: `sslmode=no-verify&${trusted}`,
      refused: /does not match certificate's altnames/,
    },
  ];

  for (const { what, certificate, host, query = trusted, refused } of cases) {
    it(`${refused ? 'refuses' : 'accepts'} a certificate for ${what}`, async (t) => {
      const { port, received } = await serverWithTls(t, certificate);
      const failure = refused ?? /Connection terminated|ECONNRESET/;
      await assert.rejects(
        use(`postgres://postgres:secret@${host}:${port}/ponte?${query}`),
        failure,
      );
      // The statements' pool and the connection that listens.
      assert.equal(received.length, refused ? 0 : 2);
      for (const text of received) assert.match(text, /user\0postgres\0database\0ponte\0/);
    });
  }

  it('checks the certificate where NODE_TLS_REJECT_UNAUTHORIZED=0 says not to', async (t) => {
    const { port, received } = await serverWithTls(t, ofStranger);
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const url = `postgres://postgres:secret@localhost:${port}/ponte?${trusted}`;
      await assert.rejects(use(url), /unable to verify|self.signed/i);
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
    assert.deepEqual(received, []);
  });
});
