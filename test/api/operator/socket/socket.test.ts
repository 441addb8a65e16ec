/** The socket of a running service: who may ask, what, and what a bad client can do. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { LocalContext } from '../../../../src/context/context.ts';
import { OpError, type Op } from '../../../../src/operator/op.ts';
import { socketAddress } from '../../../../src/operator/socket/protocol.ts';
import {
  callService,
  isListening,
  socketRefusal,
  UnansweredError,
} from '../../../../src/operator/socket/client.ts';
import {
  listenForOps,
  type ListenOptions,
  type OpListener,
} from '../../../../src/operator/socket/server.ts';
import { manualClock, type ManualClock } from '../../../support/clock.ts';
import { eventually } from '../../../support/eventually.ts';

interface World {
  readonly listener: OpListener;
  readonly path: string;
  readonly clock: ManualClock;
  /** What was logged at level error. */
  readonly logged: unknown[];
  readonly stop: AbortController;
  /** The signals that running ops were given. */
  readonly signals: AbortSignal[];
}

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-socket-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function listening(t: TestContext, dataDir = folderFor(t)): Promise<World> {
  const clock = manualClock();
  const stop = new AbortController();
  const logged: unknown[] = [];
  const signals: AbortSignal[] = [];
  const context = {
    clock,
    config: { dataDir },
    log: { error: (facts: unknown) => void logged.push(facts) },
    stopping: stop.signal,
  } as unknown as LocalContext;
  const listener = await listenForOps({
    context,
    ops: loadable(opsFor(signals)),
    describeFailure: (error) => ({
      message: 'it broke',
      unreachable: String(error).includes('away'),
    }),
  });
  t.after(() => {
    stop.abort();
    return listener.close();
  });
  return { listener, path: listener.path, clock, logged, stop, signals };
}

type Ops = Readonly<Record<string, Op<never, unknown>>>;

function loadable(ops: Ops): ListenOptions['ops'] {
  const loads = Object.entries(ops).map(([name, op]) => [name, () => Promise.resolve(op)] as const);
  return Object.fromEntries(loads);
}

function opsFor(signals: AbortSignal[]): Ops {
  return {
    echo: { run: async (_context, input: unknown) => input },
    count: {
      async run(_context, { to }: { to: number }, { progress }) {
        for (let at = 1; at <= to; at += 1) progress(at, to);
        return { counted: to };
      },
    },
    nothing: { run: async () => undefined },
    refuse: {
      run: () => Promise.reject(new OpError('NOT_FOUND', 'there is no such thing')),
    },
    break: { run: () => Promise.reject(new Error('secret value')) },
    lose: { run: () => Promise.reject(new Error('the database is away')) },
    alone: { refusedWhileServing: 'stop the service first', run: async () => 'done' },
    wait: {
      async run({ stopping }) {
        signals.push(stopping);
        if (!stopping.aborted) await once(stopping, 'abort');
        return 'stopped';
      },
    },
  };
}

const ask = (path: string, op: string, input: unknown = {}): Promise<unknown> =>
  callService(path, { op, input, operator: 'ana' }, () => undefined);

async function raw(path: string): Promise<Socket> {
  const socket = connect(path);
  await once(socket, 'connect');
  return socket.on('error', () => undefined);
}

describe('asking a service that runs', () => {
  it('gives the result as JSON, whatever is in it', async (t) => {
    const { path } = await listening(t);
    const input = { text: 'line\nline €', list: [1, null], long: 'x'.repeat(100_000) };
    assert.deepEqual(await ask(path, 'echo', input), input);
    assert.equal(await ask(path, 'nothing'), null);
  });

  it('streams the progress before the result, in order', async (t) => {
    const { path } = await listening(t);
    const seen: string[] = [];
    const request = { op: 'count', input: { to: 3 }, operator: 'ana' };
    const result = await callService(path, request, (done, total) => seen.push(`${done}/${total}`));
    assert.deepEqual(result, { counted: 3 });
    assert.deepEqual(seen, ['1/3', '2/3', '3/3']);
  });

  it('refuses as the op does', async (t) => {
    const { path } = await listening(t);
    await assert.rejects(ask(path, 'refuse'), new OpError('NOT_FOUND', 'there is no such thing'));
  });

  it('refuses what must not run beside a service', async (t) => {
    const { path } = await listening(t);
    await assert.rejects(ask(path, 'alone'), new OpError('REFUSED', 'stop the service first'));
  });

  it('runs known ops alone', async (t) => {
    const { path } = await listening(t);
    const unknown = /^OpError: the running service does not know this command/;
    for (const op of ['unknown', 'toString', '__proto__', '']) {
      await assert.rejects(ask(path, op), unknown);
    }
  });

  it('reports a failure without its values, and logs it', async (t) => {
    const { path, logged } = await listening(t);
    await assert.rejects(ask(path, 'break'), new Error('it broke'));
    await assert.rejects(ask(path, 'lose'), new UnansweredError('it broke'));
    assert.equal(logged.length, 2);
  });

  it('is not answered without a listener', async (t) => {
    const { path } = socketAddress(folderFor(t));
    assert.equal(await isListening(path), false);
    await assert.rejects(ask(path, 'echo'), UnansweredError);
  });
});

describe('the socket', () => {
  it('is for its owner alone: mode 0600 in a folder of mode 0700', async (t) => {
    const { path } = await listening(t);
    assert.equal(lstatSync(path).mode & 0o777, 0o600);
    assert.equal(lstatSync(dirname(path)).mode & 0o777, 0o700);
    assert.ok(lstatSync(path).isSocket());
  });

  it('restricts an open folder', async (t) => {
    const dataDir = folderFor(t);
    mkdirSync(join(dataDir, 'control'), { mode: 0o755 });
    const { path } = await listening(t, dataDir);
    assert.equal(lstatSync(dirname(path)).mode & 0o777, 0o700);
  });

  it('replaces the file that a killed process has left', async (t) => {
    const dataDir = folderFor(t);
    const { folder, path } = socketAddress(dataDir);
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(path, '');
    await listening(t, dataDir);
    assert.deepEqual(await ask(path, 'echo', [1]), [1]);
  });

  it('is gone when the service has stopped, and can be had again', async (t) => {
    const dataDir = folderFor(t);
    const first = await listening(t, dataDir);
    await first.listener.close();
    assert.equal(existsSync(first.path), false);
    await listening(t, dataDir);
    assert.deepEqual(await ask(first.path, 'echo', 'again'), 'again');
  });

  it('has a shorter name elsewhere where the folder has a long one, the same for all', async (t) => {
    const dataDir = join(folderFor(t), 'x'.repeat(100));
    mkdirSync(dataDir);
    const { path } = await listening(t, dataDir);
    t.after(() => rmSync(dirname(path), { recursive: true, force: true }));
    assert.ok(Buffer.byteLength(path) <= 103);
    assert.equal(path, socketAddress(dataDir).path);
    assert.notEqual(path, socketAddress(`${dataDir}y`).path);
    assert.equal(lstatSync(dirname(path)).mode & 0o777, 0o700);
    assert.deepEqual(await ask(path, 'echo', 'far'), 'far');
  });

  it('is never made open, not even for a moment', async (t) => {
    const modes: number[] = [];
    const { listen } = Server.prototype;
    t.mock.method(Server.prototype, 'listen', function (
      this: Server,
      path: string,
      up: () => void,
    ) {
      const server = listen.call(this, path as never, up as never);
      modes.push(lstatSync(path).mode & 0o777);
      return server;
    } as never);
    await listening(t);
    assert.deepEqual(modes, [0o600]);
  });

  it('is refused where its folder is no folder', async (t) => {
    const dataDir = folderFor(t);
    writeFileSync(join(dataDir, 'control'), '');
    await assert.rejects(listening(t, dataDir));
  });
});

describe('a socket that may belong to another user', () => {
  /** A server on a socket of another user's, which records what it receives. */
  async function impostor(t: TestContext, dataDir: string) {
    const { folder, path } = socketAddress(dataDir);
    let bytes = 0;
    let connections = 0;
    mkdirSync(folder, { mode: 0o700 });
    const server = createServer((socket) => {
      connections += 1;
      socket.on('data', ({ length }) => (bytes += length)).on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    chmodSync(path, 0o600);
    t.after(() => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });
    return { folder, path, seen: () => ({ connections, bytes }) };
  }

  function farFolder(t: TestContext): string {
    const dataDir = join(folderFor(t), 'x'.repeat(100));
    mkdirSync(dataDir);
    return dataDir;
  }

  async function isLeftAlone(path: string): Promise<boolean> {
    const pending = ask(path, 'echo', { password: 'correct horse' });
    await assert.rejects(pending, new UnansweredError('the service has stopped', false));
    return !(await isListening(path)) && socketRefusal(path) !== null;
  }

  it('gets no connection where others may enter its folder, or use it', async (t) => {
    for (const dataDir of [folderFor(t), farFolder(t)]) {
      const { folder, path, seen } = await impostor(t, dataDir);
      assert.equal(socketRefusal(path), null);
      for (const [place, mode] of [
        [folder, 0o755],
        [folder, 0o710],
        [path, 0o666],
      ] as const) {
        chmodSync(place, mode);
        assert.ok(await isLeftAlone(path));
        chmodSync(place, place === folder ? 0o700 : 0o600);
      }
      assert.deepEqual(seen(), { connections: 0, bytes: 0 });
    }
  });

  const onlyRoot = { skip: process.getuid?.() === 0 ? false : 'only root gives files away' };

  it('gets no connection where another user owns its folder or it', onlyRoot, async (t) => {
    const { folder, path, seen } = await impostor(t, farFolder(t));
    for (const place of [folder, path]) {
      chownSync(place, 4_711, 4_711);
      assert.ok(await isLeftAlone(path));
      chownSync(place, 0, 0);
    }
    assert.deepEqual(seen(), { connections: 0, bytes: 0 });
  });

  it("is root's to use where the data folder is of the same user", onlyRoot, async (t) => {
    const dataDir = folderFor(t);
    const { folder, path } = await impostor(t, dataDir);
    for (const place of [dataDir, folder, path]) chownSync(place, 4_711, 4_711);
    assert.equal(await isListening(path), true);
  });

  it('is none where a link leads to it', async (t) => {
    const { folder, seen } = await impostor(t, folderFor(t));
    const dataDir = folderFor(t);
    symlinkSync(folder, join(dataDir, 'control'));
    assert.ok(await isLeftAlone(socketAddress(dataDir).path));
    assert.deepEqual(seen(), { connections: 0, bytes: 0 });
  });
});

describe('a connection that cannot be taken', () => {
  it('is logged, and the next one is heard', async (t) => {
    const listen = t.mock.method(Server.prototype, 'listen');
    const { path, logged } = await listening(t);
    const server = listen.mock.calls[0]?.this as Server | undefined;
    const error = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
    for (let time = 0; time < 2; time += 1) server?.emit('error', error);
    assert.deepEqual(logged, [{ error }, { error }]);
    assert.deepEqual(await ask(path, 'echo', 'still here'), 'still here');
  });
});

describe('a bad client', () => {
  it('that sends no JSON, or asks for nothing, is refused', async (t) => {
    const { path } = await listening(t);
    for (const line of ['hello', '[]', 'null', '{"op": 7}', '{}', '{"op": "echo"']) {
      const socket = await raw(path);
      socket.write(`${line}\n`);
      const chunks = await socket.toArray();
      assert.match(Buffer.concat(chunks as Buffer[]).toString(), /^\{"refusal":.*"REFUSED"/);
    }
  });

  it('that sends too much is cut off', async (t) => {
    const { path } = await listening(t);
    const socket = await raw(path);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(Buffer.alloc(300 * 1024, 'x'));
    await closed;
  });

  it('that asks for nothing is cut off after ten seconds', async (t) => {
    const { path, clock } = await listening(t);
    const socket = await raw(path);
    socket.write('{"op": "ech');
    await ask(path, 'echo');
    await clock.advance(9_999);
    assert.equal(socket.destroyed, false);
    const closed = once(socket.resume(), 'close');
    await clock.advance(1);
    await closed;
  });

  it('that does not read keeps no progress in memory, and is cut off', async (t) => {
    const { path, clock } = await listening(t);
    const socket = await raw(path);
    socket.pause().write('{"op": "count", "input": {"to": 300000}}\n');
    await eventually(async () => {
      // Others are served meanwhile.
      await ask(path, 'echo');
      await clock.advance(10_000);
      return true;
    }, 'the cut');
    const response = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
    assert.ok(response.length < 4_000_000, 'all of the progress was kept');
  });

  it('that disconnects aborts its op', async (t) => {
    const { path, signals } = await listening(t);
    const socket = await raw(path);
    socket.write('{"op": "wait"}\n');
    await eventually(() => signals.length === 1, 'the op');
    assert.equal(signals[0]?.aborted, false);
    socket.destroy();
    await eventually(() => signals[0]?.aborted, 'the stop');
  });
});

describe('a stop', () => {
  it('aborts the ops in progress, and sends their responses first', async (t) => {
    const { path, stop, listener, signals } = await listening(t);
    const pending = ask(path, 'wait');
    await eventually(() => signals.length === 1, 'the op');
    stop.abort();
    await listener.close();
    assert.equal(await pending, 'stopped');
    await assert.rejects(ask(path, 'echo'), UnansweredError);
  });

  it('gives up an op that does not end', async (t) => {
    const { path, listener, clock, signals } = await listening(t);
    const pending = assert.rejects(ask(path, 'wait'), UnansweredError);
    await eventually(() => signals.length === 1, 'the op');
    const closed = listener.close();
    await clock.advance(5_000);
    await closed;
    await pending;
  });
});

it('a second response from a client that keeps talking is not given', async (t) => {
  const { path } = await listening(t);
  const socket = await raw(path);
  socket.write('{"op": "echo", "input": 1}\n{"op": "echo", "input": 2}\n');
  const response = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
  assert.equal(response, '{"result":1}\n');
});

it('whatever else listens there and talks nonsense gives no response', async (t) => {
  const { folder, path } = socketAddress(folderFor(t));
  mkdirSync(folder);
  const server = createServer((socket) => socket.end('hello\n')).listen(path);
  t.after(() => server.close());
  await once(server, 'listening');
  await assert.rejects(ask(path, 'echo'), UnansweredError);
});
