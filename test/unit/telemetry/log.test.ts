import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { AppError } from '../../../src/errors.ts';
import { createLog, errorFacts, logRequest, type Log } from '../../../src/telemetry/log.ts';
import { ProviderError } from '../../../src/provider/errors.ts';

const cpf = '52998224725';

interface Capture {
  readonly log: Log;
  text(): string;
  lines(): Record<string, unknown>[];
}

function capture(options: { level?: string; pretty?: boolean; columns?: number } = {}): Capture {
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  const { level = 'info', pretty = false, ...rest } = options;
  return {
    log: createLog({ level, pretty, destination, ...rest }),
    text: () => written.join(''),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

/** What PostgreSQL, and MikroORM on top of it, say of a broken constraint: values everywhere. */
function databaseError(): Error {
  const source = new pg.DatabaseError(`insert … values ('${cpf}') - duplicate key`, 1, 'error');
  Object.assign(source, {
    code: '23505',
    severity: 'ERROR',
    detail: `Key (document)=(${cpf}) already exists.`,
    constraint: 'users_document_unique',
  });
  return new UniqueConstraintViolationException(source);
}

describe('the log', () => {
  it('writes a line of JSON with level, time, fields and message', () => {
    const { log, lines } = capture();
    log.info({ route: '/pix/send', status: 200 }, 'answered');
    const [line] = lines();
    assert.match(String(line?.['time']), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual(
      { ...line, time: '' },
      { level: 'info', time: '', route: '/pix/send', status: 200, msg: 'answered' },
    );
  });

  it('writes the time of each line', (t) => {
    const { log, lines } = capture();
    t.mock.timers.enable({ apis: ['Date'], now: 0 });
    log.info('one');
    log.info('two');
    t.mock.timers.tick(1);
    log.info('three');
    const [first, second] = ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.001Z'];
    assert.deepEqual(
      lines().map(({ time }) => time),
      [first, first, second],
    );
  });

  it('writes nothing below its level', () => {
    const { log, text } = capture({ level: 'warn' });
    log.info('quiet');
    log.debug({ a: 1 }, 'quiet');
    assert.equal(text(), '');
  });

  for (const name of [
    'password',
    'password_confirmation',
    'token',
    'access_token',
    'accessToken',
    'authorization',
    'Authorization',
    'X-Webhook-Secret',
    'document',
    'cpf',
    'payer_cpf',
    'email',
    'phone',
    'key',
    'pix_key',
    'pixKey',
    'codigo',
    'application_id',
    'body',
    'qr_code',
  ]) {
    it(`masks ${name}, at the top, deep down, in lists and in a child's bindings`, () => {
      const { log, text, lines } = capture();
      log.info({ [name]: cpf });
      log.info({ a: { b: [{ [name]: cpf }] } });
      log
        .child({ [name]: cpf })
        .child({ nested: { [name]: { value: cpf } } })
        .info('x');
      assert.equal(lines().length, 3);
      assert.ok(!text().includes(cpf), text());
      assert.equal(lines()[0]?.[name], '[redacted]');
    });
  }

  it('leaves what is not sensitive as it is', () => {
    const { log, lines } = capture();
    const facts = { userId: 7, kind: 'settle', endToEnd: null, ok: true, list: [1, 'a'] };
    log.child({ requestId: 'r-1' }).warn(facts, 'x');
    const { time, ...line } = lines()[0] ?? {};
    assert.ok(time);
    assert.deepEqual(line, { level: 'warn', requestId: 'r-1', ...facts, msg: 'x' });
  });

  it('masks what looks personal in a reason, which the provider has written', () => {
    const { log, lines } = capture();
    const jwt = `eyJhbGciOiJIUzI1NiJ9.${'a'.repeat(40)}`;
    for (const reason of [cpf, '529.982.247-25', 'ana@example.com', '+55 11 98765-4321', jwt]) {
      log.warn({ method: 'pay', reason }, 'provider call failed');
      assert.equal(lines().at(-1)?.['reason'], '[redacted]');
    }
    log.warn({ reason: 'AC03' }, 'provider call failed');
    assert.equal(lines().at(-1)?.['reason'], 'AC03');
  });

  it('survives a circle and bytes', () => {
    const { log, text } = capture();
    const circle: Record<string, unknown> = { bytes: Buffer.from(cpf) };
    circle['self'] = circle;
    log.info(circle, 'round');
    assert.ok(text().includes('round') && !text().includes(cpf));
  });

  it('reduces an error to facts, however it is passed', () => {
    const { log, text, lines } = capture();
    const error = databaseError();
    log.error(error);
    log.error(error, 'failed');
    log.error({ error });
    log.error({ err: error }, 'failed');
    log.child({ error }).error('failed');
    log.error({ job: { cause: error } });
    assert.equal(lines().length, 6);
    assert.ok(!text().includes(cpf) && !text().includes('insert'), text());
    assert.equal(text().match(/"sqlstate":"23505"/g)?.length, 6);
  });
});

describe('the facts of an error', () => {
  it('of the database are its name, SQLSTATE, constraint and frames, never its words', () => {
    const { frames, ...facts } = errorFacts(databaseError());
    assert.deepEqual(facts, {
      name: 'UniqueConstraintViolationException',
      sqlstate: '23505',
      constraint: 'users_document_unique',
    });
    assert.ok(frames && frames.length > 0 && frames.every((frame) => frame.startsWith('at ')));
  });

  it('of a refusal of the catalogue have its code and its cause, without frames', () => {
    const facts = errorFacts(new AppError('DATABASE_UNAVAILABLE', { cause: databaseError() }));
    assert.deepEqual(facts, {
      name: 'AppError',
      code: 'DATABASE_UNAVAILABLE',
      status: 503,
      cause: {
        name: 'UniqueConstraintViolationException',
        sqlstate: '23505',
        constraint: 'users_document_unique',
      },
    });
  });

  it('of the provider have the outcome, the class of the response and the reason', () => {
    const error = new ProviderError({
      outcome: 'rejected',
      code: 'PROVIDER_REJECTED',
      statusClass: '4xx',
      reason: `AC03: ${cpf} de maria@example.com`,
    });
    assert.deepEqual(errorFacts(error), {
      name: 'ProviderError',
      code: 'PROVIDER_REJECTED',
      outcome: 'rejected',
      statusClass: '4xx',
      reason: 'AC03: [redacted] de [redacted]',
    });
  });

  it('of a defect have its message and its frames', () => {
    const facts = errorFacts(new TypeError("Cannot read properties of undefined (reading 'id')"));
    assert.equal(facts.message, "Cannot read properties of undefined (reading 'id')");
    assert.match(facts.frames?.[0] ?? '', /log\.test\.ts:\d+:\d+/);
  });

  it('of the system have its code and what it could not do', () => {
    const source = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    const facts = errorFacts(new AggregateError([source], 'all failed'));
    assert.equal(facts.errors?.[0]?.code, 'ECONNREFUSED');
    assert.equal(facts.errors?.[0]?.message, 'connect ECONNREFUSED 127.0.0.1:5432');
  });

  it('leave out what parsers and argument checks quote', () => {
    const quoting = [
      () => JSON.parse(`{"cpf": ${cpf}x}`) as unknown,
      () => Buffer.from(cpf, 'utf8').readUInt8(cpf as never),
      () => new URL(`not an address ${cpf}`),
    ];
    for (const work of quoting) {
      assert.throws(work, (error) => {
        assert.ok(!JSON.stringify(errorFacts(error)).includes(cpf));
        return true;
      });
    }
  });

  it('leave out what a validator attaches', () => {
    const error = Object.assign(new Error('validation failed'), {
      errors: [{ instancePath: '/cpf', data: cpf }],
      data: cpf,
    });
    assert.ok(!JSON.stringify(errorFacts(error)).includes(cpf));
  });

  it('mask what looks personal in a message', () => {
    const words = `no user ${cpf}, 529.982.247-25, +55 11 98765-4321 or ana@example.com: key abc`;
    const { message } = errorFacts(new Error(words));
    assert.doesNotMatch(message ?? '', /529|982|98765|example/);
    assert.match(message ?? '', /^no user .* key abc$/);
  });

  it('take no lines of a message for frames', () => {
    const error = new Error(`first\n    at secret (${cpf}:1:1)`);
    assert.ok(!JSON.stringify(errorFacts(error).frames).includes(cpf));
  });

  it('end, even where causes form a circle', () => {
    const error = new Error('round');
    error.cause = error;
    assert.ok(JSON.stringify(errorFacts(error)).length < 20_000);
  });

  it('of what is no error say only its type', () => {
    assert.deepEqual(errorFacts(cpf), { name: 'thrown string' });
  });
});

describe('the line of a request', () => {
  const facts = { requestId: 'r-1', operation: null, digest: undefined, status: 200, path: '/"' };

  it('is the same as any other line', () => {
    const [own, others] = [capture(), capture()];
    logRequest(own.log, 'info', facts);
    others.log.info(facts, 'request');
    const withoutTime = (line: string): string => line.replace(/"time":"[^"]+"/, '');
    assert.equal(withoutTime(own.text()), withoutTime(others.text()));
    assert.match(own.text(), /"time":"\d{4}-[^"]+Z"/);
  });

  it('is left out below the level of the log', () => {
    const { log, text } = capture();
    logRequest(log, 'debug', facts);
    assert.equal(text(), '');
  });
});

describe('the readable log', () => {
  it('writes time, level, message and fields on one line', () => {
    const { log, text } = capture({ pretty: true });
    log.warn({ route: '/pix/send', retry: { after: 2 } }, 'throttled');
    assert.match(
      text(),
      /^\d\d:\d\d:\d\d WARN {2}throttled route=\/pix\/send retry=\{"after":2\}\n$/,
    );
  });

  it('leaves out what only a collector of logs can use', () => {
    const { log, text } = capture({ pretty: true });
    log.info({ requestId: 'r-1', traceId: 't-1', spanId: 's-1', status: 200 }, 'request');
    assert.match(text(), /INFO {2}request requestId=r-1 status=200\n$/);
  });

  it('writes a request as people do, in one row of the terminal', () => {
    const { log, text } = capture({ pretty: true, columns: 80 });
    const requestId = '22f3a9fe-1b71-49b1-b130-1d7a7e80c890';
    const request = { requestId, operation: 'sendPix', method: 'POST', path: '/api/v1/pix/send' };
    log.info({ ...request, status: 200, durationMs: 12, userId: null }, 'request');
    assert.match(
      text(),
      /INFO {2}POST \/api\/v1\/pix\/send 200 12 ms requestId=22f3a9fe-[^ ]*…\n$/,
    );
    assert.equal(text().length, 81);
    log.warn({ ...request, path: 'x'.repeat(90) }, 'kept whole');
    assert.match(text(), new RegExp(`path=x{90}\n$`));
  });

  it('writes the frames of a defect on lines of their own', () => {
    const { log, text } = capture({ pretty: true });
    log.error({ error: new Error('broken') }, 'failed');
    assert.match(text(), /ERROR failed error=\{"name":"Error","message":"broken"\}\s+at /);
  });

  it('lets no value write control characters or lines of its own', () => {
    const { log, text } = capture({ pretty: true });
    log.info({ agent: 'a\u001b[31m\nb' }, 'one\n12:00:00 INFO  forged');
    assert.equal(text().split('\n').length, 2);
    assert.ok(!text().includes('\u001b'));
  });
});

describe('a log that cannot be written', () => {
  const full = '/dev/full';
  const skip = existsSync(full) ? false : `needs ${full}`;

  it('fails no work', { skip }, () => {
    const log = pathToFileURL(
      join(import.meta.dirname, '..', '..', '..', 'src', 'telemetry', 'log.ts'),
    ).href;
    const source = `
      import { createLog } from '${log}';
      const log = createLog({ level: 'info', pretty: false });
      log.info('one');
      setTimeout(() => { log.info('two'); process.stderr.write('worked on'); }, 1);`;
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', source],
      { encoding: 'utf8', stdio: ['ignore', openSync(full, 'w'), 'pipe'] },
    );
    assert.deepEqual({ status, stderr }, { status: 0, stderr: 'worked on' });
  });
});

describe('the log on standard output', () => {
  const folder = join(import.meta.dirname, '..', '..', '..', 'src');
  const [log, clock] = ['telemetry/log.ts', 'clock.ts'].map(
    (name) => pathToFileURL(join(folder, name)).href,
  );
  const printed = (source: string): string[] => {
    const start = `
      import { createLog } from '${log}';
      import { systemClock as clock } from '${clock}';
      const log = createLog({ level: 'info', pretty: false, clock });
      ${source}`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', start], {
      encoding: 'utf8',
    });
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  };

  it('has every line of a process that ends at once', () => {
    assert.deepEqual(printed(`log.info('one'); log.info('two'); process.exit(0);`), ['one', 'two']);
    assert.deepEqual(printed(`log.info('one'); log.info('two');`), ['one', 'two']);
  });

  it('has an error, with the lines before it, even if the process is killed', () => {
    const source = `
      log.info('before');
      log.error('broken');
      process.kill(process.pid, 'SIGKILL');`;
    assert.deepEqual(printed(source), ['before', 'broken']);
  });

  it('has the lines of a busy process but for the last few, even if it is killed', () => {
    const source = `
      for (let line = 1; line <= 1_000; line += 1) log.info(String(line));
      process.kill(process.pid, 'SIGKILL');`;
    const lines = printed(source);
    assert.deepEqual(
      lines,
      lines.map((_, place) => String(place + 1)),
    );
    assert.ok(lines.length > 900, `${lines.length} lines`);
  });
});
