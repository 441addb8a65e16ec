/** `ponte user` and `ponte session`: what an operator types, and what it does to people. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { givenCustomer, givenUser, password, readSessions } from '../../support/factories.ts';
import { runPonte, type Ended, type Typed } from './command-line.ts';

const app = await startTestApp();
const printed: string[] = [];

const environment = {
  PROVIDER_EMAIL: 'dev@ponte.test',
  PROVIDER_PASSWORD: 'ponte-dev-password',
};

async function type(argv: readonly string[], typed: Typed = {}): Promise<Ended> {
  const ended = await runPonte(app, argv, { environment, ...typed });
  printed.push(ended.stdout, ended.stderr);
  return ended;
}

async function runJson<Value>(...argv: string[]): Promise<Value> {
  const { code, stdout, stderr } = await type([...argv, '--json']);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return JSON.parse(stdout) as Value;
}

async function isIn(token: string): Promise<boolean> {
  const { status } = await app.call('/accounts/me', { token });
  assert.ok(status === 200 || status === 401);
  return status === 200;
}

async function canLogIn(email: string, typed = password): Promise<boolean> {
  const { status } = await app.call('/auth/login', { body: { email, password: typed } });
  return status === 200;
}

const maria = [
  '--name',
  ' Maria  da Silva ',
  '--email',
  'maria@example.com',
  '--document',
  '111.444.777-35',
  '--phone',
  '(11) 98765-4321',
];

describe('ponte user create', () => {
  it('makes a user who can log in, with the password from standard input', async () => {
    const typed = { stdin: `${password}\r\nnot read\n` };
    const { code, stdout } = await type(['user', 'create', ...maria, '--password-stdin'], typed);
    assert.equal(code, 0);
    assert.match(stdout, /^User \d+ \(maria@example\.com\) was created\.\n$/);
    assert.ok(await canLogIn('MARIA@example.com'));
    const [row] = await app.rows(
      `select name, document, person_type, phone, status from users where email = $1`,
      ['maria@example.com'],
    );
    assert.deepEqual(row, {
      name: 'Maria da Silva',
      document: '11144477735',
      person_type: 'PF',
      phone: '+5511987654321',
      status: 'ACTIVE',
    });
  });

  it('names a piped password beside the faulty options: exit 2', async () => {
    const argv = ['user', 'create', ...maria, '--phone', '1', '--password-stdin'];
    const { code, stderr } = await type(argv, { stdin: '12345678\n' });
    assert.equal(code, 2);
    assert.match(stderr, /the password: .* too easy to guess.*\n.*--phone: /);
  });

  it('names every faulty option before it asks for anything: exit 2', async () => {
    const faulty = ['--name', ' ', '--email', 'maria', '--document', '123', '--phone', '1'];
    const { code, stdout, stderr } = await type(['user', 'create', ...faulty]);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.deepEqual(
      stderr
        .trimEnd()
        .split('\n')
        .map((line) => /^ponte: (--\w+): .+\.$/.exec(line)?.[1]),
      ['--name', '--email', '--document', '--phone'],
    );
  });

  it('refuses a taken e-mail, and the document of an account: exit 1', async () => {
    const typed = { stdin: `${password}\n` };
    const [one = ''] = (await app.rows<{ id: string }>(`select id::text from users limit 1`)).map(
      ({ id }) => id,
    );
    const sameEmail = [...maria.slice(0, 4), '--document', '529.982.247-25', ...maria.slice(6)];
    const email = await type(['user', 'create', ...sameEmail, '--password-stdin'], typed);
    assert.equal(email.code, 1);
    assert.equal(email.stderr, `ponte: the e-mail already belongs to user ${one}\n`);
    await app.rows(
      `insert into accounts (user_id, provider, document, status, created_at, updated_at)
       select id, 'local', document, 'BLOCKED', now(), now() from users where id = $1
           on conflict (user_id) do update set document = excluded.document`,
      [one],
    );
    const sameDocument = [...maria.slice(0, 2), '--email', 'm@example.com', ...maria.slice(4)];
    const document = await type(['user', 'create', ...sameDocument, '--password-stdin'], typed);
    assert.equal(document.stderr, 'ponte: the document already belongs to an account\n');
  });

  for (const [what, stdin, says] of [
    ['is too short', 'short\n', /the password: .* at least 8 characters/],
    ['is easy to guess', '12345678\n', /the password: .* too easy to guess/],
    ['is not there', '\n', /the first line of standard input is empty/],
    ['is too long', 'x'.repeat(5_000), /the first line of standard input is too long/],
  ] as const) {
    it(`refuses a password that ${what}: exit 2`, async () => {
      const { code, stderr } = await type(['user', 'create', ...maria, '--password-stdin'], {
        stdin,
      });
      assert.equal(code, 2);
      assert.match(stderr, says);
    });
  }

  it('takes no password but by prompt or standard input: exit 2', async () => {
    const { code, stderr } = await type(['user', 'create', ...maria]);
    assert.equal(code, 2);
    assert.match(stderr, /use --password-stdin/);
    const argument = await type(['user', 'create', ...maria, '--password', password]);
    assert.match(argument.stderr, /unknown option '--password'/);
    printed.pop();
  });

  it('makes the development user, once', async () => {
    interface Made {
      readonly email: string;
      readonly created: boolean;
      readonly login: string;
    }
    const email = 'dev@ponte.test';
    const make = () => runJson<Made>('user', 'create-dev', '--reason', 'a new database');
    assert.deepEqual(await make(), { email, created: true, login: 'created' });
    assert.deepEqual(await make(), { email, created: false, login: 'ready' });
    const { stdout } = await type(['user', 'create-dev']);
    assert.match(stdout, /^The development user dev@ponte\.test exists already/);
    const recorded = await app.rows(
      `select count(*)::int as actions, min(reason) as reason from operator_actions
        where command = 'user create-dev'
          and target = (select 'user:' || id from users where email = $1)`,
      [email],
    );
    assert.deepEqual(recorded, [{ actions: 1, reason: 'a new database' }]);
  });

  it('says when the development user cannot log in with the credentials, and why', async () => {
    const createDev = async () => (await type(['user', 'create-dev'])).stdout;
    await app.rows(`update users set password_hash = 'none' where email = 'dev@ponte.test'`);
    assert.match(await createDev(), /with another password: run `ponte user reset-password dev@/);
    await app.rows(`update users set status = 'DISABLED' where email = 'dev@ponte.test'`);
    assert.match(await createDev(), /but is disabled: run `ponte user enable dev@/);
  });
});

describe('ponte user list', () => {
  it('shows users, newest first, page by page, and no hash', async () => {
    await givenUser(app, { email: 'ana@list.test' });
    const customer = await givenCustomer(app, { email: 'bia@list.test' });
    interface Listed {
      readonly users: readonly { readonly email: string; readonly loggedIn: boolean }[];
    }
    const { users } = await runJson<Listed>('user', 'list', '--email', '@LIST.test');
    assert.deepEqual(
      users.map(({ email, loggedIn }) => [email, loggedIn]),
      [
        ['bia@list.test', true],
        ['ana@list.test', false],
      ],
    );
    const cut = await runJson<{ mayHaveMore: boolean }>('user', 'list', '--limit', '1');
    assert.equal(cut.mayHaveMore, true);
    const [only] = (
      await runJson<Listed>('user', 'list', '--limit', '1', '--before', String(customer.id))
    ).users;
    assert.equal(only?.email, 'ana@list.test');
    const table = await type(['user', 'list', '--limit', '1', '--email', '@list.test']);
    assert.match(table.stdout, /^ID +NAME +E-MAIL[^\n]*\n *\d+ +Maria da Silva +bia@list\.test/);
    assert.equal(table.stderr, `There may be more: continue with --before ${customer.id}.\n`);
  });

  it('takes an e-mail and an id as they are pasted, with blanks around them', async () => {
    const { id, email } = await givenUser(app);
    for (const argv of [
      ['user', 'show', ` ${email.toUpperCase()} `],
      ['user', 'show', `\t${id}\n`],
      ['session', 'list', '--user', ` ${email}`],
      ['audit', 'events', '--user', `${email} `],
    ]) {
      assert.equal((await runPonte(app, argv)).code, 0, argv.join(' '));
    }
    const wrong = await type(['session', 'list', '--user', 'maria']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /must be the id or the e-mail of a user/);
  });

  it('says so when there is no user', async () => {
    const { code, stdout, stderr } = await type(['user', 'list', '--email', 'nobody']);
    assert.deepEqual([code, stdout, stderr], [0, '', 'There are no such users.\n']);
  });
});

describe('ponte user disable and enable', () => {
  it('end the sessions of a user at once, and allow a new login', async () => {
    const { id, email, token } = await givenCustomer(app);
    assert.ok(await isIn(token));
    const disabled = await runJson('user', 'disable', email, '--yes');
    assert.deepEqual(disabled, { id, email, status: 'DISABLED', endedSession: true });
    assert.equal(await isIn(token), false);
    assert.equal(await canLogIn(email), false);
    const [session] = await readSessions(app, id);
    assert.deepEqual([session?.status, session?.sealed_token], ['ENDED', null]);
    const enabled = await type(['user', 'enable', String(id), '--yes']);
    assert.equal(enabled.stdout, `User ${id} (${email}) is active and can log in.\n`);
    assert.equal(await isIn(token), false);
    assert.ok(await canLogIn(email));
  });

  it('end a session that a login opened meanwhile', async () => {
    const { id, token } = await givenCustomer(app);
    await app.rows(`update users set status = 'DISABLED' where id = $1`, [id]);
    await type(['user', 'enable', String(id), '--yes']);
    assert.equal(await isIn(token), false);
  });

  it('refuse what is so already, and who is not there: exit 1', async () => {
    const { id } = await givenUser(app);
    for (const [argv, says] of [
      [['enable', String(id)], `user ${id} is already active`],
      [['disable', '999999'], 'there is no user 999999'],
      [['disable', 'nobody@example.com'], 'there is no user nobody@example.com'],
    ] as const) {
      const { code, stdout, stderr } = await type(['user', ...argv, '--yes']);
      assert.deepEqual([code, stdout, stderr], [1, '', `ponte: ${says}\n`]);
    }
  });

  it('ask first, and do nothing without a yes', async () => {
    const { id, email } = await givenUser(app);
    const { stderr, code } = await type(['user', 'disable', String(id)]);
    assert.equal(code, 2);
    assert.equal(stderr, 'ponte: this command changes data: confirm it with --yes\n');
    const typing = [[/Disable user \d+ \(person\d+@example\.com\)\?/, '\r']] as const;
    const declined = await type(['user', 'disable', String(id)], { typing });
    assert.equal(declined.code, 1);
    assert.match(declined.stderr, /Nothing was changed\.\n$/);
    const interrupted = [[/Disable .*\?/, '\u0003']] as const;
    const result = await type(['user', 'disable', String(id)], { typing: interrupted });
    assert.equal(result.code, 130);
    assert.doesNotMatch(result.stderr, /Error|at /);
    assert.ok(await canLogIn(email));
    const accepted = await type(['user', 'disable', String(id)], {
      typing: [[/Disable .*\?/, 'y\r']],
    });
    assert.equal(accepted.code, 0);
    assert.equal(await canLogIn(email), false);
  });
});

describe('ponte user reset-password', () => {
  for (const weak of ['password', '12345678', 'aaaaaaaaaa', '½½½½½½½½']) {
    it(`refuses what a registration refuses: ${weak}`, async () => {
      const { id, email } = await givenUser(app);
      const before = await app.rows('select password_hash from users where id = $1', [id]);
      const argv = ['user', 'reset-password', email, '--password-stdin', '--yes'];
      const { code, stderr } = await type(argv, { stdin: `${weak}\n` });
      assert.equal(code, 2);
      assert.match(stderr, /too easy to guess/);
      assert.deepEqual(
        await app.rows('select password_hash from users where id = $1', [id]),
        before,
      );
    });
  }

  const newPassword = 'a new pass phrase';

  it('asks twice without an echo, refuses a short one, and ends the session', async () => {
    const { id, email, token } = await givenCustomer(app);
    const typing = [
      [/Set a new password for user/, 'y\r'],
      [/New password of/, 'short\r'],
      [/at least 8 characters/, `\u0015${newPassword}\r`],
      [/Again:/, 'another one\r'],
      [/The passwords differ/, `\u0015${newPassword}\r`],
    ] as const;
    const { code, stdout, stderr } = await type(['user', 'reset-password', email], { typing });
    assert.equal(code, 0, stderr);
    assert.equal(stdout, `User ${id} (${email}) has a new password. The session was ended.\n`);
    assert.doesNotMatch(stderr, /short|pass phrase|\*/);
    assert.equal(await isIn(token), false);
    assert.equal(await canLogIn(email), false);
    assert.ok(await canLogIn(email, newPassword));
  });

  it('reads it from standard input', async () => {
    const { email } = await givenUser(app);
    const argv = ['user', 'reset-password', email, '--password-stdin', '--yes'];
    const { code, stdout } = await type(argv, { stdin: newPassword });
    assert.equal(code, 0);
    assert.match(stdout, /No session was active\.\n$/);
    assert.ok(await canLogIn(email, newPassword));
  });

  it('refuses who is not there before it asks: exit 1', async () => {
    const { code, stderr } = await type(['user', 'reset-password', '999999']);
    assert.deepEqual([code, stderr], [1, 'ponte: there is no user 999999\n']);
  });
});

describe('ponte session', () => {
  interface Listed {
    readonly sessions: readonly { readonly id: string; readonly userId: number }[];
  }

  it('lists who is logged in, without a token', async () => {
    const { id, email } = await givenCustomer(app);
    const { sessions } = await runJson<Listed>('session', 'list', '--user', email);
    const [stored] = await readSessions(app, id);
    assert.deepEqual(sessions, [
      {
        id: stored?.id,
        userId: id,
        email,
        since: app.clock.now().toISOString(),
        renewedAt: app.clock.now().toISOString(),
        tokenExpiresAt: sessions[0] && (sessions[0] as { tokenExpiresAt?: string }).tokenExpiresAt,
        expired: false,
      },
    ]);
    const { stdout } = await type(['session', 'list']);
    assert.match(stdout, new RegExp(`^${stored?.id} +${id} +${email} `, 'm'));
  });

  for (const by of ['the session', 'the user', 'the e-mail'] as const) {
    it(`ends a session by ${by}`, async () => {
      const { id, email, token } = await givenCustomer(app);
      const [session] = await readSessions(app, id);
      const sessionId = session?.id ?? '';
      const reference = { 'the session': sessionId, 'the user': String(id), 'the e-mail': email };
      const revoked = await runJson('session', 'revoke', reference[by], '--yes');
      assert.deepEqual(revoked, { id: sessionId, userId: id });
      assert.equal(await isIn(token), false);
      // It looks before it asks: without --yes the response is the same.
      const again = await type(['session', 'revoke', reference[by]]);
      assert.equal(again.code, 1);
      assert.match(again.stderr, /^ponte: (?:there is no active session|user .+ is not logged in)/);
    });
  }
});

it('no command has printed a password or a hash', async () => {
  const hashes = await app.rows<{ password_hash: string }>(`select password_hash from users`);
  const secrets = [password, 'a new pass phrase', ...hashes.map((row) => row.password_hash)];
  const all = printed.join('\n');
  assert.ok(all.length > 1_000);
  for (const secret of secrets) assert.ok(!all.includes(secret), 'a secret was printed');
});
