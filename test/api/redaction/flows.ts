/** What an app and a provider do, well and badly, always with values that must not come out. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { scenarios } from '../../../src/provider/sandbox/bank/scenarios.ts';
import type { TestResponse } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenUser } from '../../support/factories.ts';
import { passUntil } from '../../support/passing-time.ts';
import { others, person, secrets } from './values.ts';
import type { World } from './world.ts';

export interface Flow {
  readonly name: string;
  run(world: World): Promise<unknown>;
}

const credentials = { email: person.email, password: person.password };

const everything = { ...person, ...others, ...secrets };

/** Fails unless the response has the status: a flow that goes wrong would prove nothing. */
export async function responds(
  status: number,
  response: Promise<TestResponse>,
): Promise<TestResponse> {
  const got = await response;
  assert.equal(got.status, status, JSON.stringify(got.body));
  return got;
}

let keys = 0;
const newKey = (): string => `${secrets.idempotencyKey}-${(keys += 1)}`;

function send(world: World, pixKey: string, amount = 1.5): Promise<TestResponse> {
  return world.call('/pix/send', {
    token: world.token,
    key: newKey(),
    body: { pix_key: pixKey, amount, description: secrets.description },
  });
}

const loginFlows: readonly Flow[] = [
  {
    name: 'a login',
    async run(world) {
      const { app, hidden } = world;
      const { id } = await givenUser(app, { ...person, personType: 'PF' });
      const { body } = await responds(200, world.call('/auth/login', { body: credentials }));
      world.token = body.access_token;
      hidden.add('access token', world.token);
      for (const part of world.token.split('.')) hidden.add('part of the access token', part);
      const [session] = await app.rows<{ sealed_token: Buffer }>(
        'select sealed_token from banking_sessions where user_id = $1',
        [id],
      );
      assert.ok(session);
      const token = app.context.sealer.open(session.sealed_token, `user:${id}`).toString('utf8');
      hidden.add('provider token', token);
      const [account] = await app.rows<{ account_number: string; provider_client_token: string }>(
        'select account_number, provider_client_token from accounts where user_id = $1',
        [id],
      );
      assert.ok(account);
      hidden.add('client token', account.provider_client_token);
    },
  },
  {
    name: 'a login with a wrong password, and of an unknown user',
    async run({ call }) {
      const wrong = { ...credentials, password: secrets.wrongPassword };
      await responds(422, call('/auth/login', { body: wrong }));
      await responds(422, call('/auth/login', { body: { ...wrong, email: others.payeeEmail } }));
    },
  },
  {
    name: 'logins that the provider refuses and does not answer',
    async run({ app, call }) {
      for (const [email, status] of [
        ['refused@ponte.test', 422],
        ['down@ponte.test', 502],
      ] as const) {
        const { id } = await givenUser(app, { ...person, document: null, email });
        assert.ok(id);
        await responds(status, call('/auth/login', { body: { ...credentials, email } }));
      }
    },
  },
];

const accountFlows: readonly Flow[] = [
  {
    name: 'who is it, the balance, the statement',
    async run({ call, token }) {
      const me = await responds(200, call('/accounts/me', { token }));
      assert.equal(me.body.user.email, person.email);
      await responds(200, call('/accounts/balance', { token }));
      await responds(200, call('/accounts/statement', { token }));
      const query = `start_date=${person.document}&end_date=${person.email}`;
      await responds(422, call(`/accounts/statement?${query}`, { token }));
    },
  },
  {
    name: 'a company that asks to be registered',
    async run({ call }) {
      const body = {
        ...credentials,
        name: person.name,
        company_name: others.company,
        password_confirmation: person.password,
        document: others.companyDocument,
        phone: person.phone,
      };
      await responds(501, call('/accounts/pj', { body }));
      await responds(501, call('/accounts/pj', { body: { ...body, document: person.name } }));
    },
  },
];

const pixFlows: readonly Flow[] = [
  {
    name: 'sends to every sort of key, and once more',
    async run(world) {
      const { payeeEmail, payeeDocument, payeePhone, payeeEvp } = others;
      for (const key of [payeeEmail, payeeDocument, payeePhone, payeeEvp]) {
        await responds(200, send(world, key));
      }
      const body = { pix_key: payeeEmail, amount: 2, description: secrets.description };
      const request = { token: world.token, key: newKey(), body };
      await responds(200, world.call('/pix/send', request));
      const { body: sent } = await responds(200, world.call('/pix/send', request));
      await responds(422, world.call('/pix/send', { ...request, body: { ...body, amount: 3 } }));
      await responds(200, world.call(`/pix/${sent.transaction_id}`, { token: world.token }));
      await responds(404, world.call(`/pix/${randomUUID()}`, { token: world.token }));
      const receipt = `/pix/${sent.transaction_id}/receipt`;
      await responds(200, world.call(receipt, { token: world.token }));
    },
  },
  {
    name: 'returns of what the customer has not received, for a reason that is none',
    async run({ call, token }) {
      const path = `/pix/${randomUUID()}/refund`;
      for (const reason of ['OTHER', secrets.description, person.name]) {
        const body = { amount: 1, reason };
        const { status } = await call(path, { token, key: newKey(), body });
        assert.ok([404, 422, 501].includes(status), String(status));
      }
    },
  },
  {
    name: 'a send and a return that are given up',
    async run({ call, token }) {
      for (const path of ['/pix/send/cancel', `/pix/${randomUUID()}/refund/cancel`]) {
        await responds(200, call(path, { method: 'POST', token, key: newKey() }));
      }
    },
  },
  {
    name: 'a list of transactions, page by page, and with what is no filter',
    async run({ call, token }) {
      const { body } = await responds(200, call('/pix?limit=1', { token }));
      await responds(200, call(`/pix?cursor=${body.next_cursor}`, { token }));
      const query = `cursor=${person.email}&type=${person.document}&start_date=${person.phone}`;
      await responds(422, call(`/pix?${query}`, { token }));
    },
  },
  ...scenarios
    .filter(({ input }) => input === 'Pix key')
    .map(({ value, effect }) => ({
      name: `a send to ${value}: ${effect}`,
      async run(world: World) {
        assert.ok([200, 502].includes((await send(world, value)).status));
      },
    })),
  {
    name: 'a send of more than there is',
    run: (world) => responds(502, send(world, others.payeeEmail, 9_999_999)),
  },
  {
    name: 'sends that are malformed with what the person has typed',
    async run({ call, token }) {
      const key = newKey();
      for (const body of [
        everything,
        { pix_key: others.payeeEmail, amount: person.document },
        { pix_key: [person.email], amount: 1, description: { text: person.name } },
        { pix_key: others.payeePhone, amount: 1, description: [person.document] },
        { pix_key: `${person.document}\u0000`, amount: 1 },
      ]) {
        await responds(422, call('/pix/send', { token, key, body }));
      }
      const good = { pix_key: others.payeeEmail, amount: 1 };
      const wrongKeys = [`${person.name} ${person.document}`, person.email.repeat(10)];
      for (const wrong of wrongKeys) {
        await responds(422, call('/pix/send', { token, key: wrong, body: good }));
      }
    },
  },
  {
    name: 'charges, and malformed ones',
    async run(world) {
      const { call, token, hidden } = world;
      const body = {
        amount: 12.5,
        key: others.payeeEmail,
        description: secrets.chargeNote,
        receiver_name: 'Zuleica Quatrini',
        city: 'Niteroi',
        zipcode: secrets.cep,
        payer_name: others.payerName,
        payer_cpf: others.payerDocument,
        additional_data: [{ name: secrets.additionalName, value: secrets.additionalValue }],
      };
      for (const type of ['dynamic', 'static']) {
        const request = { token, key: newKey(), body: { ...body, type } };
        const { body: charge } = await responds(200, call('/pix/charge', request));
        hidden.add('copy and paste', charge.copy_paste);
        await responds(200, call('/pix/lookup', { token, body: { pix_key: others.payeePhone } }));
        const code = { copy_paste: charge.copy_paste };
        await responds(200, call('/pix/decode', { token, body: code }));
        const isPaid = type === 'static' ? 200 : 422;
        await responds(isPaid, call('/pix/send', { token, key: newKey(), body: code }));
        await responds(200, call(`/pix/${charge.transaction_id}`, { token }));
      }
      const wrong = {
        ...body,
        type: person.name,
        zipcode: person.document,
        payer_cpf: person.name,
      };
      await responds(422, call('/pix/charge', { token, key: newKey(), body: wrong }));
    },
  },
  {
    name: "the customer's limits: read, set, and refused",
    async run({ call, token }) {
      const set = (body: object) =>
        call('/pix/limits', { method: 'PUT', token, body: { password: person.password, ...body } });
      await responds(200, call('/pix/limits', { token }));
      await responds(200, set({ day: 5_000, night: null }));
      await responds(422, set({ day: person.document, night: person.name }));
      await responds(422, set({ password: `${person.password} of ${person.name}`, day: 1 }));
    },
  },
  {
    name: 'a dispute: opened, shown, withdrawn, and refused',
    async run({ call, token }) {
      const id = randomUUID();
      const details = `${person.name}, ${person.document}: ${person.phone}`;
      const body = { situation: 'SCAM', details };
      const path = `/pix/${id}/dispute`;
      const statuses = [404, 501];
      for (const request of [{ body }, {}, { method: 'DELETE' }]) {
        const { status } = await call(path, { token, ...request });
        assert.ok(statuses.includes(status), String(status));
      }
      const wrong = { situation: person.name, details: person.document };
      await responds(422, call(path, { token, body: wrong }));
    },
  },
  {
    name: 'Pix keys: listed, made, removed, and malformed',
    async run({ call, token, hidden }) {
      await responds(200, call('/pix/keys', { token }));
      const types = ['CPF', 'CELULAR', 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO'];
      for (const type of types) {
        const { body } = await responds(
          201,
          call('/pix/keys', { token, body: { key_type: type } }),
        );
        if (type.startsWith('EVP')) hidden.add('random key', body.data.key);
      }
      const email = { key_type: 'E_MAIL', email: others.payeeEmail };
      await responds(201, call('/pix/keys', { token, body: email }));
      for (const body of [{ key_type: person.document }, { ...email, email: person.name }]) {
        await responds(422, call('/pix/keys', { token, body }));
      }
      const remove = (key: unknown) =>
        call('/pix/keys', { method: 'DELETE', token, body: { key } });
      await responds(200, remove(others.payeeEmail));
      await responds(502, remove(others.payeePhone));
      await responds(422, remove([person.document]));
    },
  },
];

/** A provider's events, in each of its shapes, with personal data. */
function notices(): unknown[] {
  const { payerName, payerDocument, payeeEmail, payeePhone } = others;
  const endToEnd = 'E11165756202605241530aB3dE5gH7jK';
  const people = {
    payer: { name: payerName, taxId: payerDocument, email: payeeEmail, phone: payeePhone },
    debitParty: { Name: payerName, TaxId: payerDocument, Account: '999' },
    creditParty: { name: person.name, taxId: person.document, key: person.email },
    description: secrets.description,
  };
  const error = { code: 'BE17', description: `recusado por ${payerName}, CPF ${payerDocument}` };
  const ids = { id: '7f3c', clientCode: secrets.idempotencyKey, endToEndId: endToEnd };
  return [
    {
      entity: 'pix-payment-out',
      status: 'CONFIRMED',
      body: { ...ids, ...people, amount: 10.5 },
    },
    {
      entity: 'pix-payment-out',
      status: 'ERROR',
      body: { ...ids, error, amount: 10.5, ...people },
    },
    {
      RequestBody: {
        ...people,
        TransactionType: 'RECEIVEPIX',
        EndToEndId: endToEnd,
        Amount: '10.50',
        StatusCode: { StatusId: 2, Description: payerName },
      },
    },
    {
      event: 'OPENPIX:TRANSACTION_RECEIVED',
      ...people,
      transaction: { endToEndId: 'E11165756202605241531aB3dE5gH7jK', value: 1050, ...people },
    },
    {
      pix: [
        { endToEndId: endToEnd, chave: person.email, valor: '10.50', infoPagador: payerName },
        { endToEndId: endToEnd, chave: payeePhone, valor: person.document, pagador: people },
        person.document,
      ],
    },
    { ...people, event: 'PIX_PAYMENT', endToEnd, status: 'CONFIRMED', amount: payerDocument },
    { event: 'CONTA_CRIADA', cliente: { ...person, ...people } },
    { event: person.name, status: payerDocument, endToEnd: payerName, reason: payerDocument },
    [people, payerName, { event: 'PIX_PAYMENT', status: payerName, ...ids }],
    everything,
    [person.email],
  ];
}

const webhookFlows: readonly Flow[] = [
  {
    name: 'webhooks of every shape',
    async run({ app, call }) {
      const headers = { 'x-webhook-secret': secrets.webhookSecret };
      for (const body of notices()) {
        await responds(200, call('/webhooks/provider', { headers, body }));
      }
      await eventually(async () => {
        const [open] = await app.rows<{ events: number }>(
          "select count(*)::int as events from webhook_events where status = 'received'",
        );
        return open?.events === 0;
      }, 'the jobs of the events');
    },
  },
  {
    name: 'webhooks that are refused',
    async run({ call }) {
      const body = notices()[0];
      for (const secret of [secrets.wrongSecret, `${secrets.webhookSecret}x`]) {
        const headers = { 'x-webhook-secret': secret };
        await responds(401, call('/webhooks/provider', { headers, body }));
      }
      const headers = { 'x-webhook-secret': secrets.webhookSecret };
      const broken = `{"document": "${person.document}", "name": ${person.name}`;
      await responds(400, call('/webhooks/provider', { headers, body: broken }));
      const long = JSON.stringify({ text: person.name.repeat(20_000) });
      await responds(413, call('/webhooks/provider', { headers, body: long }));
    },
  },
];

const wireFlows: readonly Flow[] = [
  {
    name: 'unknown routes and malformed paths that name a person',
    async run({ call, token }) {
      const { document, email, phone } = person;
      for (const [path, status] of [
        [`/customers/${document}`, 404],
        [`/${encodeURIComponent(email)}?cpf=${document}&phone=${phone}`, 404],
        [`/pix/${document}`, 404],
        [`/onboarding/${document}/kyc`, 404],
        [`/onboarding/${encodeURIComponent(email)}`, 404],
        [`/onboarding/cep/${document}`, 422],
        [`/accounts/me?email=${email}&document=${document}`, 200],
        [`/%E0%A4%A/${document}`, 400],
      ] as const) {
        await responds(status, call(path, { token }));
      }
      await responds(405, call(`/auth/login?email=${email}`, { method: 'DELETE' }));
    },
  },
  {
    name: 'bodies that are no JSON, or of another type',
    async run({ call }) {
      const text = `email=${person.email}&password=${person.password}`;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      await responds(415, call('/auth/login', { body: text, headers }));
      await responds(400, call('/auth/login', { body: `{"email": "${person.email}", ${text}` }));
      await responds(422, call('/auth/login', { body: { ...everything, password: person } }));
      await responds(422, call('/auth/login', { body: { email: [person.email], password: 1 } }));
    },
  },
  {
    name: 'headers that name a person',
    async run({ call, token }) {
      for (const [name, value] of [
        ['x-request-id', person.email],
        ['x-request-id', person.document],
        ['x-request-id', `app:${person.phone}`],
        ['x-request-id', Buffer.from(person.email).toString('base64')],
        ['traceparent', `00-${person.document}`],
        ['traceparent', `00-${person.document.padStart(32, '0')}-00f067aa0ba902b7-01`],
        ['tracestate', `a=${person.email}`],
        ['accept-language', person.name],
        ['if-none-match', `"${person.document}"`],
        ['prefer', `wait=${person.document}`],
        ['user-agent', person.email],
        ['x-customer', person.document],
      ] as const) {
        assert.ok((await call('/accounts/me', { token, headers: { [name]: value } })).status < 500);
      }
      for (const wrong of [secrets.wrongToken, `${token}x`, person.document]) {
        await responds(401, call('/accounts/me', { token: wrong }));
      }
    },
  },
];

const failureFlows: readonly Flow[] = [
  {
    name: 'a job that fails on what it is about',
    async run({ app }) {
      const before = app.logLines.length;
      await app.rows(
        `insert into jobs (kind, payload, status, run_at, created_at)
         values ('settle-webhook', jsonb_build_object('eventId', $1::text), 'queued', $2, $2)
         returning pg_notify('ponte_jobs', '')::text`,
        [`${person.document} is no id`, app.clock.now()],
      );
      await eventually(
        () => app.logLines.slice(before).some((line) => line.includes('a job failed')),
        'a job that fails',
      );
    },
  },
  {
    name: 'a database that refuses a statement with values in it',
    async run(world) {
      const { app, call, token } = world;
      await app.ownerRows('alter table pix_transactions rename to away');
      await responds(500, send(world, others.payeeEmail));
      await responds(500, call('/accounts/statement', { token }));
      await app.ownerRows('alter table away rename to pix_transactions');
      await responds(200, send(world, others.payeeEmail));
    },
  },
];

/** What an app and a provider do, in the order in which it has to be done. */
export const allFlows: readonly Flow[] = [
  ...loginFlows,
  ...accountFlows,
  ...pixFlows,
  ...webhookFlows,
  ...wireFlows,
  ...failureFlows,
];

/** What ends the session that the others need. */
export const lastFlows: readonly Flow[] = [
  {
    name: 'a provider that does not take its token any more',
    async run({ app, call, token }) {
      app.bank.expireCustomerTokens(person.email);
      await responds(401, passUntil(app.clock, call('/accounts/balance', { token })));
    },
  },
  {
    name: 'a logout, and the token afterwards',
    async run(world) {
      const { call } = world;
      const { body } = await responds(200, call('/auth/login', { body: credentials }));
      world.hidden.add('second access token', body.access_token);
      const token: string = body.access_token;
      await responds(200, call('/auth/logout', { method: 'POST', token }));
      await responds(401, call('/accounts/me', { token }));
    },
  },
];
