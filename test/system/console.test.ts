/** The console as users start it: on a terminal, against a service in a separate process. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { settings } from '../../src/config/report.ts';
import { root, settingsFor, startService } from './service-process.ts';
import { typePonte } from '../support/command-line.ts';
import { createTestDatabase } from '../support/db.ts';
import { makeTerminal, PseudoTerminal } from '../api/console/pseudo-terminal.ts';

const ctrlS = '\u0013';
const escape = '\u001B';
const down = '\u001B[B';

const enterScreen = '\u001B[?1049h';
const leaveScreen = '\u001B[?1049l';
const showCursor = '\u001B[?25h';

/** Empty values count as unset, and keep a `.env` file of the project out of the test. */
const unset = Object.fromEntries(settings.map(({ name }) => [name, '']));

/** A server that breaks the contract: it accepts every login, and its statement has no items. */
async function brokenService(): Promise<{ readonly url: string; close(): void }> {
  const user = { id: 1, name: 'Ana', email: 'ana@example.com', document: null, person_type: null };
  const bodies = {
    login: { access_token: 'x', token_type: 'Bearer' },
    me: { user, account: null },
  };
  const server = createServer((request, response) => {
    const name = request.url?.split('/').at(-1) ?? '';
    response.end(JSON.stringify(Object.entries(bodies).find(([path]) => path === name)?.[1] ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { url: `http://127.0.0.1:${address.port}`, close: () => void server.close() };
}

describe('ponte console', () => {
  it(
    'pays, shows how it ends, and gives the terminal back',
    {
      skip: makeTerminal === null && 'needs script of util-linux, or python3',
    },
    async (t) => {
      assert.ok(makeTerminal);
      const database = await createTestDatabase();
      t.after(() => database.drop());
      const settled = settingsFor(database);
      const service = startService(t, settled);
      const url = await service.ready();
      const terminal = new PseudoTerminal(makeTerminal, 'sh bin/ponte console', {
        columns: 80,
        rows: 24,
        cwd: root,
        environment: {
          ...unset,
          ...settled,
          PORT: new URL(url).port,
          PATH: process.env['PATH'] ?? '',
        },
      });
      t.after(() => terminal.kill());
      await terminal.until('Log in');
      assert.ok(terminal.written.includes(enterScreen));
      terminal.type('l');
      await terminal.until('dev@ponte.test');
      terminal.type(ctrlS);
      await terminal.until('Operator: queue');
      terminal.type('p');
      await terminal.until('Idempotency-Key');
      terminal.type(`bruno@example.com${down}150,50`);
      await terminal.until('= R$ 150,50');
      terminal.type(ctrlS);
      await terminal.until('COMPLETED');
      terminal.type(escape);
      await terminal.until('Ponte › home');
      assert.ok(!terminal.written.includes(leaveScreen));
      terminal.type('q');
      assert.equal(await terminal.ended(), 0);
      assert.ok(
        terminal.written.lastIndexOf(leaveScreen) > terminal.written.lastIndexOf(enterScreen),
      );
      assert.ok(terminal.written.includes(showCursor));
      await service.kill();
    },
  );

  it(
    'gives the terminal back before it says that it has failed',
    {
      skip: makeTerminal === null && 'needs script of util-linux, or python3',
    },
    async (t) => {
      assert.ok(makeTerminal);
      const service = await brokenService();
      t.after(() => service.close());
      const terminal = new PseudoTerminal(
        makeTerminal,
        `sh bin/ponte console --url ${service.url}`,
        {
          columns: 80,
          rows: 24,
          cwd: root,
          environment: { ...unset, APP_ENV: 'local', PATH: process.env['PATH'] ?? '' },
        },
      );
      t.after(() => terminal.kill());
      await terminal.until('Log in');
      terminal.type('l');
      await terminal.until('dev@ponte.test');
      terminal.type(ctrlS);
      await terminal.until('Statement');
      assert.ok(!terminal.written.includes('Operator'), 'the command works on another service');
      terminal.type('s');
      assert.equal(await terminal.ended(), 1);
      const [, after = ''] = terminal.written.split(leaveScreen);
      assert.match(after, /The console has failed; this is a defect of it\.\r?\nTypeError/);
    },
  );

  const environment = { APP_ENV: 'test', PORT: '0' };
  const wrong: readonly (readonly [argv: string[], says: RegExp])[] = [
    [[], /the console needs a terminal: run it by hand/],
    [['--url', 'http://127.0.0.1:3000'], /the console needs a terminal/],
    [['--ulr', 'x'], /unknown option '--ulr'/],
  ];
  for (const [argv, says] of wrong) {
    it(`${argv.join(' ')} without a terminal: exit 2 and a sentence`, async () => {
      const { code, stderr } = await typePonte(['console', ...argv], { environment });
      assert.equal(code, 2);
      assert.match(stderr, says);
    });
  }

  for (const [argv, says] of [
    [[], /PORT is 0: give the address of the service with --url/],
    [['--url', 'ftp://127.0.0.1'], /--url must be an http:\/\/ or https:\/\/ address/],
  ] as const) {
    it(`${argv.join(' ')} without an address: exit 2 and a sentence`, async () => {
      const typed = { environment, typing: [], columns: 80 };
      const { code, stderr } = await typePonte(['console', ...argv], typed);
      assert.equal(code, 2);
      assert.match(stderr, says);
    });
  }
});
