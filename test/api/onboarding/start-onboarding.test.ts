/** The registration of an individual, by both of its endpoints. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPasswords } from '../../../src/process/passwords.ts';
import { startTestApp } from '../../support/app.ts';
import { givenUser, logIn, password } from '../../support/factories.ts';
import { addressBody, newPerson, register, shown, step, steps } from './applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off' }, hashesInFull: true });

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const taken = 'This e-mail cannot be used.';

async function counts() {
  const [row] = await app.rows<{ users: number; applications: number }>(
    `select (select count(*)::int from users) as users,
            (select count(*)::int from onboarding_applications) as applications`,
  );
  return row ?? assert.fail('nothing was counted');
}

describe('POST /onboarding/pf', () => {
  test('answers the whole application, and reads as the same', async () => {
    const person = newPerson({ phone: '(11) 98765-4321' });
    const response = await app.call('/onboarding/pf', { body: person });
    assert.equal(response.status, 201);
    const { id, user_id: userId, steps: _, ...rest } = response.body;
    assert.match(id, uuid);
    assert.ok(Number.isSafeInteger(userId));
    assert.deepEqual(rest, {
      person_type: 'PF',
      status: 'IN_PROGRESS',
      name: person.name,
      email: person.email,
      document: person.document,
      phone: '+5511987654321',
      provider: {
        pessoa_fisica_id: null,
        client_token: null,
        agency: null,
        account_number: null,
      },
      prova_vida: { session_id: null, url_iframe: null },
      kyc_status: null,
      conta_bancaria_criada: false,
    });
    assert.deepEqual(steps(response.body), [
      'registration done',
      'address pending',
      'documents pending',
      'proposal pending',
      'electronic_validation pending',
      'electronic_validation_confirm pending',
      'prova_vida pending',
      'kyc pending',
      'account pending',
    ]);
    assert.deepEqual(step(response.body, 'registration'), {
      name: 'registration',
      status: 'done',
      attempts: 1,
      updated_at: app.clock.now().toISOString(),
      error: null,
    });
    assert.deepEqual(step(response.body, 'address'), {
      name: 'address',
      status: 'pending',
      attempts: 0,
      updated_at: null,
      error: null,
    });
    assert.deepEqual(await shown(app, id), response.body);
  });

  test('the person may log in, has no account yet, and the password is not in the database', async () => {
    const person = newPerson({ email: 'Mixed.Case@Example.com' });
    const { id, user_id: userId } = await register(app, person);
    const token = await logIn(app, 'mixed.case@example.com');
    const me = await app.call('/accounts/me', { token });
    assert.deepEqual(me.body, {
      user: {
        id: userId,
        name: person.name,
        email: person.email,
        document: person.document,
        person_type: 'PF',
      },
      account: null,
    });
    const [user] = await app.rows('select * from users where id = $1', [userId]);
    const [application] = await app.rows('select * from onboarding_applications where id = $1', [
      id,
    ]);
    assert.doesNotMatch(JSON.stringify([user, application]), new RegExp(person.password));
    assert.match(String(user?.['password_hash']), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  test('stores a name, a document and a phone in their one form', async () => {
    const { document } = newPerson();
    const person = newPerson({
      name: "  Jose\u0301 d'Ávila \\ \\' ? $1 ?? \t Souza ",
      document: `${document.slice(0, 3)}.${document.slice(3, 6)}.${document.slice(6, 9)}-${document.slice(9)}`,
      phone: '011 98765-4321',
    });
    const { user_id: userId } = await register(app, person);
    const [user] = await app.rows(
      'select name, document, phone, person_type from users where id = $1',
      [userId],
    );
    assert.deepEqual(user, {
      name: "José d'Ávila \\ \\' ? $1 ?? Souza",
      document,
      phone: '+5511987654321',
      person_type: 'PF',
    });
  });

  test('a pasted e-mail and a decomposed repetition of the password are taken', async () => {
    const person = newPerson();
    const typed = 'Pão de açúcar';
    await register(app, {
      ...person,
      email: `\u200e ${person.email}${' '.repeat(250)}`,
      password: typed.normalize('NFC'),
      password_confirmation: typed.normalize('NFD'),
    });
    const { email } = person;
    const login = await app.call('/auth/login', { body: { email, password: typed } });
    assert.equal(login.status, 200);
  });

  test('the length of a password is the same in each form of its letters', async () => {
    const person = newPerson();
    const typed = 'ação'.repeat(32);
    const [composed, decomposed] = [typed.normalize('NFC'), typed.normalize('NFD')];
    await register(app, {
      ...person,
      password: composed,
      password_confirmation: decomposed,
    });
    const { email } = person;
    for (const form of [composed, decomposed]) {
      const login = await app.call('/auth/login', { body: { email, password: form } });
      assert.equal(login.status, 200);
    }
    const short = 'áéíó'.normalize('NFD');
    const body = { ...newPerson(), password: short, password_confirmation: short };
    const refused = await app.call('/onboarding/pf', { body });
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.body.errors, {
      password: ['The text must have at least 8 characters.'],
    });
  });

  test('a body cannot set fields outside the contract', async () => {
    const changes = {
      status: 'APPROVED',
      kyc_status: 'APPROVED',
      kycStatus: 'APPROVED',
      conta_bancaria_criada: true,
      contaBancariaCriada: true,
      id: '00000000-0000-4000-8000-000000000000',
      user_id: 1,
      person_type: 'PJ',
      personType: 'PJ',
      pessoa_fisica_id: 'mine',
      agency: '0001',
      steps: [],
      role: 'admin',
      address: addressBody,
    };
    const response = await app.call('/onboarding/pf', { body: { ...newPerson(), ...changes } });
    assert.equal(response.status, 201);
    const { body } = response;
    assert.notEqual(body.id, changes.id);
    assert.equal(body.status, 'IN_PROGRESS');
    assert.equal(body.kyc_status, null);
    assert.equal(body.person_type, 'PF');
    assert.equal(body.conta_bancaria_criada, false);
    assert.equal(body.provider.pessoa_fisica_id, null);
    assert.equal(step(body, 'address').status, 'pending');
  });

  const faults: [what: string, changes: Record<string, unknown>, fields: string[]][] = [
    ['a CPF with wrong check digits', { document: '11144477734' }, ['document']],
    ['a CPF that was never issued', { document: '11111111111' }, ['document']],
    ['a CNPJ', { document: '12.ABC.345/01DE-35' }, ['document']],
    [
      'passwords that differ',
      { password_confirmation: 'correct horse' },
      ['password_confirmation'],
    ],
    [
      'a short password',
      { password: 'short', password_confirmation: 'short' },
      ['password', 'password_confirmation'],
    ],
    ['an e-mail that is none', { email: 'ana' }, ['email']],
    ['a phone without an area code', { phone: '98765-4321' }, ['phone']],
    ['a name of blanks', { name: '   ' }, ['name']],
    ['a name with a NUL byte', { name: 'Ana\u0000' }, ['name']],
    [
      'everything at fault, all at once',
      {
        name: '',
        email: 'per%cent@example.com',
        password: 'x',
        password_confirmation: 'y',
        document: '1',
        phone: '1',
      },
      ['document', 'email', 'name', 'password', 'password_confirmation', 'phone'],
    ],
  ];
  for (const [what, changes, fields] of faults) {
    test(`422 for ${what}, and nothing is stored`, async () => {
      const before = await counts();
      for (const path of ['/onboarding/pf', '/accounts/pf']) {
        const response = await app.call(path, { body: { ...newPerson(), ...changes } });
        assert.equal(response.status, 422, JSON.stringify(response.body));
        assert.deepEqual(Object.keys(response.body.errors).sort(), fields);
      }
      assert.deepEqual(await counts(), before);
    });
  }

  test('422 names a weak password beside the other faulty fields', async () => {
    const body = { password: '12345678', password_confirmation: 'x', email: 'bad' };
    for (const path of ['/onboarding/pf', '/accounts/pf']) {
      const { errors } = (await app.call(path, { body })).body;
      assert.match(String(errors.password), /too easy to guess/);
      assert.deepEqual(Object.keys(errors).toSorted(), Object.keys(newPerson()).toSorted());
    }
    const email = 'maria.silva@example.com';
    const own = newPerson({ email, password: email, password_confirmation: 'x' });
    const { errors } = (await app.call('/onboarding/pf', { body: own })).body;
    assert.deepEqual(Object.keys(errors).toSorted(), ['password', 'password_confirmation']);
  });

  test('422 names every field that is missing', async () => {
    for (const body of [{}, undefined]) {
      const response = await app.call('/onboarding/pf', { method: 'POST', body });
      assert.equal(response.status, 422);
      assert.deepEqual(Object.keys(response.body.errors).sort(), [
        'document',
        'email',
        'name',
        'password',
        'password_confirmation',
        'phone',
      ]);
    }
  });

  test('422 for a known e-mail', async () => {
    const known = newPerson();
    await register(app, known);
    const { email: plain } = await givenUser(app);
    const before = await counts();
    const responses = await Promise.all(
      [{ email: known.email }, { email: known.email.toUpperCase() }, { email: plain }].map(
        (changes) => app.call('/onboarding/pf', { body: newPerson(changes) }),
      ),
    );
    for (const response of responses) {
      assert.equal(response.status, 422);
      assert.deepEqual(response.body.errors, { email: [taken] });
    }
    const portuguese = await app.call('/accounts/pf', {
      body: newPerson({ email: known.email }),
      headers: { 'accept-language': 'pt-BR' },
    });
    assert.deepEqual(portuguese.body.errors, { email: ['Não é possível usar este e-mail.'] });
    assert.deepEqual(await counts(), before);
  });

  test('a known document is not told: its registration is answered like any other', async () => {
    const known = newPerson();
    const [first, second] = [await register(app, known), newPerson({ document: known.document })];
    const { status, body } = await app.call('/onboarding/pf', { body: second });
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(body), Object.keys(first));
  });

  test('a known e-mail, a known document and a new person cost one password hash each', async (t) => {
    const known = newPerson();
    await register(app, known);
    const { mock } = t.mock.method(app.context.passwords, 'hash');
    for (const changes of [{ email: known.email }, { document: known.document }, {}]) {
      await app.call('/onboarding/pf', { body: newPerson(changes) });
    }
    assert.equal(mock.callCount(), 3);
  });

  test('registrations share a budget of hashes, and logins have another', async (t) => {
    const { email } = await givenUser(app);
    const { passwords } = app.context;
    const fewer = createPasswords({ hashQueueLimit: 4 });
    t.mock.method(passwords, 'hash', fewer.hash);
    t.mock.method(passwords, 'verify', fewer.verify);
    let isStorm = true;
    // As many as are hashed at once and may wait. The login takes one turn; the hash that then
    // finds no place ends its loop.
    const storm = Array.from({ length: 2 + 4 }, async (_, nth) => {
      try {
        while (isStorm) await passwords.hash('storm', `network ${nth}`);
      } catch {
        isStorm = false;
      }
    });
    const refused = await app.call('/onboarding/pf', { body: newPerson() });
    const login = await app.call('/auth/login', { body: { email, password } });
    isStorm = false;
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal(login.status, 200);
    await Promise.all(storm);
    assert.equal((await app.call('/onboarding/pf', { body: newPerson() })).status, 201);
  });

  test('of ten registrations at once, one makes the user and nine are refused', async () => {
    const before = await counts();
    const person = newPerson();
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        app.call(turn % 2 ? '/accounts/pf' : '/onboarding/pf', { body: person }),
      ),
    );
    const statuses = responses.map(({ status }) => status).sort((one, other) => one - other);
    assert.deepEqual(statuses, [201, ...Array<number>(9).fill(422)]);
    const after = await counts();
    assert.deepEqual(after, { users: before.users + 1, applications: before.applications + 1 });
  });

  test('the log holds nothing of the person, and no application id', async () => {
    const person = newPerson();
    const { id } = await register(app, person);
    await app.call('/onboarding/pf', { body: person });
    await app.call(`/onboarding/${id}/address`, { body: addressBody });
    await app.call(`/onboarding/${id}/kyc`);
    await app.call(`/onboarding/${id}/nothing`);
    const log = app.logLines.join('\n');
    for (const secret of [id, person.email, person.document, person.phone, person.password]) {
      assert.ok(!log.includes(secret), `the log has ${secret}`);
    }
    assert.ok(log.includes('/onboarding/{applicationId}/address'), 'requests are logged');
  });
});

describe('POST /accounts/pf', () => {
  test('registers, with an optional address', async () => {
    const person = newPerson();
    const { status, body } = await app.call('/accounts/pf', {
      body: { ...person, address: addressBody },
    });
    assert.equal(status, 201);
    const { onboarding, ...rest } = body;
    assert.deepEqual(rest, {
      user_id: onboarding.user_id,
      account_id: null,
      onboarding_id: onboarding.id,
      pessoa_fisica_id: null,
      message: 'The registration was received.',
    });
    assert.equal(step(onboarding, 'address').status, 'done');
    assert.deepEqual(await shown(app, onboarding.id), onboarding);
    const [stored] = await app.rows('select address from onboarding_applications where id = $1', [
      onboarding.id,
    ]);
    assert.deepEqual(stored?.['address'], {
      ...addressBody,
      cep: '01310100',
      complemento: null,
      estado: 'SP',
    });
    assert.equal(
      (await app.call('/accounts/me', { token: await logIn(app, person.email) })).status,
      200,
    );
  });

  test('registers without an address', async () => {
    const { status, body } = await app.call('/accounts/pf', { body: newPerson() });
    assert.equal(status, 201);
    assert.equal(step(body.onboarding, 'address').status, 'pending');
  });

  test('422 names the faults of the person and of the address at once', async () => {
    const body = {
      ...newPerson({ document: '11144477734' }),
      address: { ...addressBody, cep: '1', estado: 'XX', numero: ' ' },
    };
    const response = await app.call('/accounts/pf', { body });
    assert.equal(response.status, 422);
    assert.deepEqual(Object.keys(response.body.errors).sort(), [
      'address.cep',
      'address.estado',
      'address.numero',
      'document',
    ]);
  });
});
