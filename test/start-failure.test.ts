import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { startFailure } from '../src/start-failure.ts';

function failure(message: string, fields: object, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), fields);
}

describe('the sentence for a failed start', () => {
  it('names the address that another process listens on', async () => {
    const first = createServer();
    await new Promise<void>((resolve) => first.listen(0, '127.0.0.1', resolve));
    const { port } = first.address() as { port: number };
    const second = createServer();
    const error = await new Promise((resolve) => {
      second.once('error', resolve).listen(port, '127.0.0.1');
    });
    first.close();
    assert.equal(startFailure(error), `another process listens on 127.0.0.1:${port} already`);
  });

  it('names a port that may not be listened on', () => {
    const error = failure('no', { code: 'EACCES', syscall: 'listen', address: '::', port: 80 });
    assert.equal(startFailure(error), 'listening on :::80 is not possible (EACCES)');
  });

  it('says that the database cannot be reached, however deep the cause', () => {
    const refused = failure('connect', { code: 'ECONNREFUSED', syscall: 'connect' });
    const error = failure('outer', {}, new AggregateError([refused]));
    assert.equal(startFailure(error), 'the database cannot be reached (ECONNREFUSED)');
  });

  it('says what the database refused', () => {
    const error = failure('password authentication failed for "maria"', { code: '28P01' });
    assert.match(startFailure(error), /^the database refused the user or the password .*28P01/);
  });

  it('shows nothing of a statement', () => {
    const error = failure(`select 'secret'`, { code: '42P01' });
    assert.equal(startFailure(error), 'the database answered 42P01');
  });

  it('is the first line of any other message', () => {
    assert.equal(startFailure(new Error('the folder is in use\nsecond')), 'the folder is in use');
    assert.equal(startFailure(new Error('')), 'the start failed');
    assert.equal(startFailure('text'), 'text');
  });
});
