import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { startFailure } from '../../../src/operator/failure-message.ts';

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
    assert.equal(startFailure(error), `another process already listens on 127.0.0.1:${port}`);
  });

  it('names a port that may not be listened on', () => {
    const error = failure('no', { code: 'EACCES', syscall: 'listen', address: '::', port: 80 });
    assert.equal(startFailure(error), 'cannot listen on :::80 (EACCES)');
  });

  it('says that the database cannot be reached, however deep the cause', () => {
    const refused = failure('connect', { code: 'ECONNREFUSED', syscall: 'connect' });
    const error = failure('outer', {}, new AggregateError([refused]));
    assert.equal(startFailure(error), 'the database cannot be reached (ECONNREFUSED)');
  });

  describe('with the configured database', () => {
    const refused = failure('connect', { code: 'ECONNREFUSED', syscall: 'connect' });
    const hint = 'is DATABASE_URL right, is the server up?';
    const cases: readonly (readonly [url: string, which: string])[] = [
      ['postgres://me:hidden@db.example:6543/ponte?sslmode=require', ' ponte at db.example:6543'],
      ['postgresql://me@db.example/a%20b', ' a b at db.example:5432'],
      ['postgres://me@db.example', ' at db.example:5432'],
      ['postgres:///ponte?host=/run/sockets', ' ponte at /run/sockets:5432'],
      // A password that should have been encoded.
      ['postgres://me:12/hidden@db.example/ponte', ''],
    ];
    for (const [url, which] of cases) {
      it(`names${which || ' nothing'} for ${url}`, () => {
        const says = `the database${which} cannot be reached (ECONNREFUSED): ${hint}`;
        assert.equal(startFailure(refused, url), says);
      });
    }

    for (const [message, reason] of [
      ['timeout exceeded when trying to connect', 'no response'],
      ['Connection terminated unexpectedly', 'the connection ended'],
      [
        'The server does not support SSL connections',
        'it offers no TLS, which sslmode in DATABASE_URL demands',
      ],
    ] as const) {
      it(`says so of a driver's '${message}'`, () => {
        const says = `the database ponte at db:5432 cannot be reached (${reason}): ${hint}`;
        assert.equal(startFailure(new Error(message), 'postgres://db/ponte'), says);
      });
    }
  });

  it('says what the database refused', () => {
    const error = failure('password authentication failed for "maria"', { code: '28P01' });
    assert.match(startFailure(error), /^the database refused the user or the password .*28P01/);
  });

  for (const [code, says] of [
    ['25006', 'the database is read-only: is it a standby that was not promoted? (25006)'],
    [
      '26000',
      'DATABASE_URL leads to a pooler that shares sessions: see `ponte config check` (26000)',
    ],
    [
      '42P05',
      'DATABASE_URL leads to a pooler that shares sessions: see `ponte config check` (42P05)',
    ],
    [
      '55000',
      'the database does not accept connections, or is not ready for this: see its own log (55000)',
    ],
    ['53100', 'the disk of the database is full (53100)'],
  ] as const) {
    it(`says what ${code} means`, () => assert.equal(startFailure(failure('no', { code })), says));
  }

  for (const code of ['55P03', '57014', '57P01']) {
    it(`says of ${code} that the command can be run again`, () => {
      assert.match(
        startFailure(failure('no', { code })),
        new RegExp(`run it again.*\\(${code}\\)$`),
      );
    });
  }

  it('shows nothing of a statement', () => {
    const error = failure(`select 'secret'`, { code: '42P01' });
    assert.equal(startFailure(error), 'the database answered 42P01');
    const detail = 'Key (document)=(12345678909) is duplicated.';
    const twice = failure(detail, { code: '23505', constraint: 'accounts_cpf_unique' });
    assert.equal(startFailure(twice), 'the database answered 23505 (accounts_cpf_unique)');
  });

  it('is the first line of any other message', () => {
    assert.equal(startFailure(new Error('the folder is in use\nsecond')), 'the folder is in use');
    assert.equal(startFailure(new Error('')), 'the start failed');
    assert.equal(startFailure('text'), 'text');
  });
});
