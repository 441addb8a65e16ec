/** The reference servers answer as the service does: otherwise their rates are not comparable. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import { serverUrl } from '../support/db.ts';
import { eventually } from '../support/eventually.ts';
import { onlyOnServer } from '../support/open-database.ts';
import { createBenchDatabase } from './databases.ts';
import { startBank } from './processes.ts';
import {
  listen,
  referenceNames,
  type ListeningReference,
  type ReferenceName,
} from './reference/listen.ts';
import { leastSchema, plainSchema } from './reference/schema.ts';
import { serverEnvironment, webhookSecret } from './settings.ts';
import { password, storeCustomers } from './target.ts';

for (const name of referenceNames) testReference(name);

function testReference(name: ReferenceName): void {
  describe(`the ${name} reference server`, onlyOnServer, () => {
    let app: ListeningReference;
    let client: pg.Client;
    let token = '';
    const parts = new AsyncDisposableStack();

    before(async () => {
      if (!serverUrl) return;
      const schema = name === 'least' ? leastSchema : plainSchema;
      const database = parts.adopt(
        await createBenchDatabase(serverUrl, `test_${randomBytes(4).toString('hex')}`, schema),
        (made) => made.drop(),
      );
      ({ client } = database);
      const bank = parts.adopt(await startBank('http'), (started) => started.stop());
      await storeCustomers(client);
      const env = serverEnvironment();
      app = await listen(name, {
        databaseUrl: database.url,
        providerUrl: bank.url,
        privateKeyPem: env['JWT_PRIVATE_KEY'] ?? '',
        publicKeyPem: env['JWT_PUBLIC_KEYS'] ?? '',
        encryptionKey: Buffer.from(env['ENCRYPTION_KEY'] ?? '', 'base64'),
        webhookSecret,
      });
      parts.defer(() => app.close());
      const { json } = await logIn(password);
      token = (json as { access_token: string }).access_token;
    });

    after(() => parts.disposeAsync());

    const logIn = (typed: string) =>
      call('POST', '/auth/login', { body: { email: 'customer1@example.com', password: typed } });

    interface Call {
      readonly body?: object;
      readonly headers?: Readonly<Record<string, string>>;
    }

    async function call(method: 'GET' | 'POST', path: string, { body, headers }: Call = {}) {
      const response = await fetch(`${app.url}/api/v1${path}`, {
        method,
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const json: unknown = text === '' ? null : JSON.parse(text);
      return { status: response.status, headers: Object.fromEntries(response.headers), json };
    }

    const pay = (key: string, amount = 0.01) =>
      call('POST', '/pix/send', {
        body: { pix_key: 'bruno@example.com', amount },
        headers: { 'idempotency-key': key },
      });

    it('logs in with the right password only', async () => {
      assert.ok(token);
      assert.equal((await logIn('something else')).status, 422);
    });

    it('refuses an invalid token', async () => {
      const headers = { authorization: 'Bearer invalid' };
      assert.equal((await call('GET', '/accounts/balance', { headers })).status, 401);
    });

    it('pays once for a key, and answers a repeat with the same payment', async () => {
      const first = await pay('once');
      const again = await pay('once');
      assert.deepEqual([first.status, again.status], [200, 200]);
      assert.deepEqual(again.json, first.json);
      assert.equal(first.headers['pix-outcome'], 'accepted');
      assert.equal(again.headers['idempotency-replayed'], 'true');
      assert.equal((await pay('once', 2)).status, 422);
      const { rows } = await client.query(
        `select phase, outcome from pix_transactions where idempotency_key = 'once'`,
      );
      assert.deepEqual(rows, [{ phase: 'ACCEPTED', outcome: 'accepted' }]);
      if (name === 'least') return;
      const timeline = await client.query<{ phase: string }>(
        'select phase from pix_timeline order by id',
      );
      assert.deepEqual(
        timeline.rows.map(({ phase }) => phase),
        ['PAYING', 'ACCEPTED'],
      );
    });

    it('reports the remaining balance', async () => {
      const { json } = await call('GET', '/accounts/balance');
      assert.deepEqual(json, { balance: 999_999.99, source: 'provider' });
    });

    it('settles a payment by its event, once, and shows it', async () => {
      const { transaction_id: id, end_to_end: endToEnd } = (await pay('settled')).json as {
        transaction_id: string;
        end_to_end: string;
      };
      const post = (secret: string) =>
        call('POST', '/webhooks/provider', {
          body: { event: 'PIX_PAYMENT', endToEnd, status: 'CONFIRMED', amount: 0.01 },
          headers: { 'x-webhook-secret': secret },
        });
      assert.equal((await post('wrong')).status, 401);
      const first = (await post(webhookSecret)).json as { event_id: string; duplicate: boolean };
      const again = (await post(webhookSecret)).json as { event_id: string; duplicate: boolean };
      assert.deepEqual([first.duplicate, again.duplicate], [false, true]);
      assert.equal(again.event_id, first.event_id);
      const shown = await eventually(async () => {
        const found = await call('GET', `/pix/${id}`);
        return (found.json as { status: string }).status === 'COMPLETED' ? found : null;
      }, 'the payment to be settled');
      assert.deepEqual(shown.json, { transaction_id: id, status: 'COMPLETED' });
      const headers = { 'if-none-match': String(shown.headers.etag) };
      assert.equal((await call('GET', `/pix/${id}`, { headers })).status, 304);
    });
  });
}
