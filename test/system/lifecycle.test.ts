import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { watchSignals, type SignalWatch } from '../../bin/lifecycle.ts';
import { manualClock, type ManualClock } from '../support/clock.ts';

const modules = [
  'bin/lifecycle.ts',
  'src/config/config.ts',
  'src/telemetry/log.ts',
  'src/clock.ts',
].map((path) => pathToFileURL(join(import.meta.dirname, '..', '..', path)).toString());

/** Runs a service made of this source in a process of its own. */
class Service {
  readonly #child;
  readonly #lines;
  readonly #closed: Promise<unknown[]>;
  #stderr = '';

  constructor(start: string, logLevel = 'info') {
    const source = `
      import { runUntilSignal } from '${modules[0]}';
      import { loadConfig } from '${modules[1]}';
      import { createLog } from '${modules[2]}';
      import { systemClock } from '${modules[3]}';
      const never = new Promise(() => setInterval(() => undefined, 1000));
      const say = (word) => process.stdout.write(word + '\\n');
      const reportDefect = (kind, error) => say(kind + ' ' + error.message);
      await runUntilSignal(loadConfig({ LOG_LEVEL: '${logLevel}' }), ${start});`;
    this.#child = spawn(process.execPath, ['--input-type=module', '--eval', source]);
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
    // From the start: it may have closed before anybody asks how it ended.
    this.#closed = once(this.#child, 'close');
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  async line(): Promise<string | undefined> {
    const { value } = (await this.#lines.next()) as { value: string | undefined };
    return value;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async end(): Promise<{ status: number | null; stderr: string }> {
    const [status] = (await this.#closed) as [number | null];
    return { status, stderr: this.#stderr };
  }
}

const stopsWell = `async () => {
  setInterval(() => undefined, 1000);
  return { banner: ['ready', 'on a port'], reportDefect, async stop() { say('stopping'); } };
}`;

const neverStops = `async () => ({
  banner: ['ready'], reportDefect, stop() { say('stopping'); return never; },
})`;

describe('a command that runs until a signal', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`prints its banner, stops once at ${signal} and exits 0`, async () => {
      const service = new Service(stopsWell);
      assert.equal(await service.line(), 'ready');
      assert.equal(await service.line(), 'on a port');
      service.signal(signal);
      assert.equal(await service.line(), 'stopping');
      assert.equal(await service.line(), 'stopped');
      assert.equal(await service.line(), undefined);
      assert.deepEqual(await service.end(), { status: 0, stderr: '' });
    });
  }

  it('says that it has stopped after the last lines of the log', async () => {
    const service = new Service(`async () => {
      setInterval(() => undefined, 1000);
      const log = createLog({ level: 'info', pretty: false, clock: systemClock });
      return { banner: ['ready'], reportDefect, async stop() { log.info('the last one'); } };
    }`);
    await service.line();
    service.signal('SIGTERM');
    assert.match((await service.line()) ?? '', /the last one/);
    assert.equal(await service.line(), 'stopped');
  });

  it('exits 1 at once at a second signal', async () => {
    const service = new Service(neverStops);
    await service.line();
    service.signal('SIGTERM');
    assert.equal(await service.line(), 'stopping');
    service.signal('SIGINT');
    assert.equal((await service.end()).status, 1);
  });

  it('stops after a signal that came during the start', async () => {
    const service = new Service(`async () => {
      say('starting');
      await new Promise((resolve) => { process.once('SIGTERM', resolve); void never; });
      return { banner: ['ready'], reportDefect, async stop() { say('stopped'); } };
    }`);
    assert.equal(await service.line(), 'starting');
    service.signal('SIGTERM');
    assert.equal(await service.line(), 'ready');
    assert.equal(await service.line(), 'stopped');
    assert.equal((await service.end()).status, 0);
  });

  it('says in one sentence why a start failed, and exits 1', async () => {
    const service = new Service(`async () => { throw new Error('the folder is in use\\nat x'); }`);
    assert.deepEqual(await service.end(), { status: 1, stderr: 'ponte: the folder is in use\n' });
  });

  it('shows the stack of a failed start at LOG_LEVEL=debug', async () => {
    const service = new Service(`async () => { throw new Error('broken'); }`, 'debug');
    assert.match((await service.end()).stderr, /^ponte: broken\nError: broken\n {4}at /);
  });

  it('exits 1 when stopping fails', async () => {
    const service = new Service(`async () => {
      void never;
      return { banner: ['ready'], reportDefect, async stop() { throw new Error('stuck'); } };
    }`);
    await service.line();
    service.signal('SIGTERM');
    assert.deepEqual(await service.end(), { status: 1, stderr: 'ponte: stuck\n' });
  });
});

describe('a command with a defect', () => {
  it('reports a rejection that nothing handles, and runs on', async () => {
    const service = new Service(`async () => {
      setTimeout(() => void Promise.reject(new Error('forgotten')), 1);
      return { banner: ['ready'], reportDefect, async stop() { say('stopped'); } };
    }`);
    assert.equal(await service.line(), 'ready');
    assert.equal(await service.line(), 'unhandled_rejection forgotten');
    service.signal('SIGTERM');
    assert.equal(await service.line(), 'stopped');
    assert.deepEqual(await service.end(), { status: 0, stderr: '' });
  });

  it('reports an exception that nothing catches, stops in order, and exits 1', async () => {
    const service = new Service(`async () => {
      setTimeout(() => { throw new Error('thrown'); }, 1);
      return { banner: ['ready'], reportDefect, async stop() { say('stopped'); } };
    }`);
    assert.equal(await service.line(), 'ready');
    assert.equal(await service.line(), 'uncaught_exception thrown');
    assert.equal(await service.line(), 'stopped');
    assert.deepEqual(await service.end(), { status: 1, stderr: '' });
  });

  it('exits 1 when an exception is thrown during the start', async () => {
    const service = new Service(`() => {
      setTimeout(() => { throw new Error('thrown'); }, 1);
      return never;
    }`);
    const stderr = 'ponte: a defect (uncaught_exception): thrown\n';
    assert.deepEqual(await service.end(), { status: 1, stderr });
  });

  it('goes on with a start when a rejection is not handled', async () => {
    const service = new Service(`async () => {
      void Promise.reject(new Error('forgotten'));
      await new Promise((resolve) => setTimeout(resolve, 1));
      return { banner: ['ready'], reportDefect, async stop() {} };
    }`);
    assert.equal(await service.line(), 'ready');
    service.signal('SIGTERM');
    const stderr = 'ponte: a defect (unhandled_rejection): forgotten\n';
    assert.deepEqual(await service.end(), { status: 0, stderr });
  });

  it('runs on while nothing keeps its event loop busy', async () => {
    const service = new Service(`async () => {
      setTimeout(() => say('idle'), 1);
      return { banner: ['ready'], reportDefect, async stop() { say('stopped'); } };
    }`);
    assert.equal(await service.line(), 'ready');
    assert.equal(await service.line(), 'idle');
    service.signal('SIGTERM');
    assert.equal(await service.line(), 'stopped');
    assert.deepEqual(await service.end(), { status: 0, stderr: '' });
  });
});

describe('watching for signals', () => {
  function watch(): { clock: ManualClock; signals: SignalWatch; ends: () => number } {
    const clock = manualClock();
    let count = 0;
    return { clock, signals: watchSignals(clock, () => (count += 1)), ends: () => count };
  }

  it('resolves at the first one and ends at once at another one', async () => {
    const { signals, ends } = watch();
    signals.receive('SIGTERM');
    await signals.first;
    assert.equal(ends(), 0);
    signals.receive('SIGINT');
    assert.equal(ends(), 1);
  });

  it('takes one echo of the same signal, as npm passes it on, for no second one', () => {
    const { signals, ends } = watch();
    signals.receive('SIGINT');
    signals.receive('SIGINT');
    assert.equal(ends(), 0);
    signals.receive('SIGINT');
    assert.equal(ends(), 1);
  });

  it('takes the same signal for a second one once an echo is no longer due', async () => {
    const { clock, signals, ends } = watch();
    signals.receive('SIGINT');
    await clock.advance(100);
    signals.receive('SIGINT');
    assert.equal(ends(), 1);
  });
});
