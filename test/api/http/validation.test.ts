import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, createThing, loggedIn, startWire, thingId, type Wire } from './wire.ts';

const required = ['The field is required.'];

function thing(fields: object): { body: string } {
  return { body: JSON.stringify({ email: 'ana@example.com', amount: 10, ...fields }) };
}

async function readErrors(wire: Wire, body: string): Promise<unknown> {
  const response = await createThing(wire, { body });
  assert.equal(response.status, 422, body);
  return response.json.errors;
}

test('every fault of headers, query and body is named at once', async (t) => {
  const wire = await startWire(t);
  const response = await call(wire, {
    method: 'POST',
    path: '/api/v1/things?limit=99&start_date=2026-02-30',
    headers: loggedIn,
    body: '{"amount":"ten","additional_data":[{"name":"too long"}]}',
  });
  assert.equal(response.status, 422);
  assert.deepEqual(response.json, {
    message: 'Some fields are missing or invalid.',
    errors: {
      'Idempotency-Key': required,
      limit: ['The value must be at most 50.'],
      start_date: ['The value must be a date such as 2026-05-24.'],
      email: required,
      amount: ['The value must be a number.'],
      'additional_data.0.value': required,
      'additional_data.0.name': ['The text must have at most 5 characters.'],
    },
  });
  assert.equal(wire.calls.length, 0);
});

test('faults are worded in Brazilian Portuguese for those who prefer it', async (t) => {
  const wire = await startWire(t);
  const response = await createThing(wire, {
    body: '{"amount":0.001,"kind":"x"}',
    headers: { 'Accept-Language': 'pt-BR' },
  });
  assert.deepEqual(response.json, {
    message: 'Há campos ausentes ou inválidos.',
    errors: {
      email: ['Este campo é obrigatório.'],
      amount: ['O valor deve ter no máximo duas casas decimais.'],
      kind: ['Escolha uma destas opções: dynamic, static.'],
    },
  });
});

test('the error of a field with a format names the format, and nothing else', async (t) => {
  const wire = await startWire(t);
  const cpf = 'The CPF is not valid. Check its eleven digits.';
  const cep = 'The CEP must have eight digits, without a hyphen.';
  const faults: [fields: object, errors: object][] = [
    [{ document: '' }, { document: [cpf] }],
    [{ document: '1'.repeat(19) }, { document: [cpf] }],
    [
      { document: '12.ABC.345/01DE-35' },
      { document: ['This is the CNPJ of a company. Enter a CPF.'] },
    ],
    [{ document: 7 }, { document: ['The value must be a text.'] }],
    [{ document: '1\0' }, { document: ['The text contains a character that is not allowed.'] }],
    [{ zipcode: '01310-100' }, { zipcode: [cep] }],
    [
      { zipcode: '1', document: '1' },
      { zipcode: [cep], document: [cpf] },
    ],
  ];
  for (const [fields, errors] of faults) {
    assert.deepEqual(await readErrors(wire, thing(fields).body), errors);
  }
});

test('a field with choices names them, and nothing else, for a value of any type', async (t) => {
  const wire = await startWire(t);
  for (const kind of [null, 7, '', ['dynamic'], { dynamic: true }]) {
    const errors = { kind: ['The value must be one of dynamic, static.'] };
    assert.deepEqual(await readErrors(wire, thing({ kind }).body), errors);
  }
});

test('the repeated password must be the same', async (t) => {
  const wire = await startWire(t);
  const differs = ['The passwords do not match.'];
  const short = ['The text must have at least 8 characters.'];
  const passwords: [password: unknown, again: unknown, errors: object][] = [
    ['password one', 'password two', { password_confirmation: differs }],
    ['password one', 'Password one', { password_confirmation: differs }],
    ['password one', 'short', { password_confirmation: differs }],
    ['short', 'short', { password: short, password_confirmation: short }],
    ['short', 'password', { password: short, password_confirmation: differs }],
    [7, 'password', { password: ['The value must be a text.'] }],
  ];
  for (const [password, again, errors] of passwords) {
    const { body } = thing({ password, password_confirmation: again });
    assert.deepEqual(await readErrors(wire, body), errors);
  }
  const { body } = thing({ password: 'password one', password_confirmation: 'password one' });
  assert.equal((await createThing(wire, { body })).status, 201);
  assert.equal(
    (await createThing(wire, thing({ password_confirmation: 'alone one' }))).status,
    201,
  );
});

test('several faults of one field are all listed', async (t) => {
  const wire = await startWire(t);
  const email = 'x'.repeat(31);
  assert.deepEqual(await readErrors(wire, thing({ email }).body), {
    email: ['The text must have at most 30 characters.', 'The value must be an e-mail address.'],
  });
});

test('a message never repeats the value', async (t) => {
  const wire = await startWire(t);
  const { body } = thing({ email: 'secret-value', kind: 'secret-value', nickname: 12 });
  const response = await createThing(wire, { body });
  assert.equal(response.status, 422);
  assert.doesNotMatch(response.text, /secret-value/);
});

test('a fault that two rules notice has one sentence, which is the message', async (t) => {
  const wire = await startWire(t);
  const decimals = 'The value must have at most two decimals.';
  const bad = 'The text contains a character that is not allowed.';
  const faults: [fields: object, sentence: string][] = [
    [{ amount: 0.001 }, decimals],
    [{ amount: 999_999_999.999 }, decimals],
    [{ email: 'a\0@b.cc' }, bad],
    [{ zipcode: '0131010\0' }, bad],
  ];
  for (const [fields, sentence] of faults) {
    const { json } = await createThing(wire, thing(fields));
    const errors = { [String(Object.keys(fields)[0])]: [sentence] };
    assert.deepEqual(json, { message: sentence, errors });
  }
  for (const query of ['start_date=%00', 'limit=1&limit=%00']) {
    const { json } = await createThing(wire, { path: `/api/v1/things?${query}` });
    assert.equal(
      json.message,
      Object.values(json.errors ?? {})
        .flat()
        .join(' '),
      query,
    );
  }
});

test('alternatives are not reported one by one', async (t) => {
  const wire = await startWire(t);
  assert.deepEqual(await readErrors(wire, thing({ nickname: 'ab' }).body), {
    nickname: ['The text must have at least 3 characters.'],
  });
  assert.equal((await createThing(wire, thing({ nickname: null }))).status, 201);
});

test('a body that is no object is a fault of the body', async (t) => {
  const wire = await startWire(t);
  for (const body of ['[]', '"text"', 'null', '1']) {
    assert.deepEqual(await readErrors(wire, body), { body: ['The value must be an object.'] });
  }
  const event = await call(wire, { method: 'POST', path: '/api/v1/events', body: '1' });
  assert.deepEqual(event.json.errors, { body: ['The value must be an object or a list.'] });
});

test('an amount is judged by its shortest decimal text', async (t) => {
  const wire = await startWire(t);
  for (const amount of ['10', '10.5', '1e1', '4.35', '0.07', '10.50', '0.1000']) {
    const body = `{"email":"a@b.cc","amount":${amount}}`;
    assert.equal((await createThing(wire, { body })).status, 201, amount);
  }
  for (const amount of ['10.505', '1.005', '0.011']) {
    assert.deepEqual(await readErrors(wire, `{"email":"a@b.cc","amount":${amount}}`), {
      amount: ['The value must have at most two decimals.'],
    });
  }
  assert.deepEqual(await readErrors(wire, '{"email":"a@b.cc","amount":1e999}'), {
    amount: ['The value must be a number.'],
  });
});

test('fields that the contract does not know are ignored', async (t) => {
  const wire = await startWire(t);
  assert.equal((await createThing(wire, thing({ unknown: 1 }))).status, 201);
});

test('text that cannot be stored is 422 by its path', async (t) => {
  const wire = await startWire(t);
  const bad = ['The text contains a character that is not allowed.'];
  const withText = (text: string): string =>
    `{"email":"a@b.cc","amount":1,"extra":{"a":["ok","${text}"]}}`;
  for (const text of ['\\u0000', 'a\\ud800', '\\udc00\\ud800']) {
    assert.deepEqual(await readErrors(wire, withText(text)), { 'extra.a.1': bad }, text);
  }
  assert.equal((await createThing(wire, { body: withText('\\ud83d\\ude00') })).status, 201);
  const badKey = '{"email":"a@b.cc","amount":1,"extra":{"\\u0000":1}}';
  assert.deepEqual(await readErrors(wire, badKey), { extra: bad });
  const query = await createThing(wire, { path: '/api/v1/things?note=a%00b' });
  assert.deepEqual(query.json.errors, { note: bad });
  const event = await call(wire, { method: 'POST', path: '/api/v1/events', body: '["\\u0000"]' });
  assert.deepEqual(event.json.errors, { '0': bad });
});

test('parameters arrive typed, by their declared names, without the absent ones', async (t) => {
  const wire = await startWire(t);
  await createThing(wire, {
    path: '/api/v1/things?limit=7&ratio=-0.5&draft=true&note=a+b%2Bc',
  });
  assert.deepEqual(wire.calls[0]?.input.query, {
    limit: 7,
    ratio: -0.5,
    draft: true,
    note: 'a b+c',
  });
  assert.deepEqual(wire.calls[0]?.input.headers, { 'Idempotency-Key': 'k-1' });
});

test('a query parameter that the operation does not have is refused by name', async (t) => {
  const wire = await startWire(t);
  const response = await createThing(wire, { path: '/api/v1/things?limit=7&other=1&__proto__=2' });
  assert.equal(response.status, 422);
  const unknown = ['There is no such parameter.'];
  assert.deepEqual(Object.entries(response.json.errors ?? {}), [
    ['other', unknown],
    ['__proto__', unknown],
  ]);
});

test('an operation that is not strict ignores the query parameters that it does not have', async (t) => {
  const wire = await startWire(t);
  for (const query of ['limit=x&other=1', 'x=100%', 'utm=%ff', '%zz=1', '%']) {
    const response = await createThing(wire, { path: `/api/v1/things/search?${query}` });
    assert.equal(response.status, 200, query);
  }
});

test('numbers and truth values are parsed strictly', async (t) => {
  const wire = await startWire(t);
  const refused = {
    limit: ['', '1.0', '0x1', '1e1', ' 1', '+1', 'NaN', '٣'],
    ratio: ['', '1e3', '.5', '1.', 'Infinity'],
    draft: ['', '1', 'TRUE', 'yes'],
  };
  for (const [name, values] of Object.entries(refused)) {
    for (const value of values) {
      const path = `/api/v1/things?${name}=${encodeURIComponent(value)}`;
      const response = await createThing(wire, { path });
      assert.deepEqual(Object.keys(response.json.errors ?? {}), [name], `${name}=${value}`);
    }
  }
});

test('a query parameter given twice is 422', async (t) => {
  const wire = await startWire(t);
  const response = await createThing(wire, { path: '/api/v1/things?limit=1&limit=1' });
  assert.equal(response.status, 422);
  assert.deepEqual(response.json.errors, { limit: ['The parameter must not be repeated.'] });
});

test('an Idempotency-Key that is empty, too long, invisible or doubled is 422', async (t) => {
  const wire = await startWire(t);
  for (const key of ['', 'k'.repeat(129), 'a b', 'chave-é', ['one', 'two']]) {
    const response = await createThing(wire, { headers: { 'Idempotency-Key': key } });
    assert.equal(response.status, 422, String(key));
    assert.deepEqual(Object.keys(response.json.errors ?? {}), ['Idempotency-Key']);
  }
});

test('a path that cannot exist is 404 where the contract has one', async (t) => {
  const wire = await startWire(t);
  for (const id of ['7', `urn:uuid:${thingId}`, '%00']) {
    const response = await call(wire, { path: `/api/v1/things/${id}`, headers: loggedIn });
    assert.equal(response.status, 404, id);
    assert.deepEqual(response.json, { message: 'Not found.' });
  }
  const found = await call(wire, { path: `/api/v1/things/${thingId}`, headers: loggedIn });
  assert.equal(found.status, 200);
});

test('a path fault is 422 where the contract has a 422 and no 404', async (t) => {
  const wire = await startWire(t);
  const response = await call(wire, { path: '/api/v1/codes/12x' });
  assert.equal(response.status, 422);
  assert.deepEqual(response.json.errors, {
    code: ['The value does not have the expected format.'],
  });
});

test('thousands of faults are answered with some of them', async (t) => {
  const wire = await startWire(t);
  const { body } = thing({ additional_data: Array(20_000).fill({}) });
  const response = await createThing(wire, { body });
  assert.equal(response.status, 422);
  assert.ok(Object.keys(response.json.errors ?? {}).length <= 100);
});
