/** The header `Pix-Next` of real answers: each status of an order is driven once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { pausePix, resumePix } from '../../../src/operator/pix-pause.ts';
import { unwatched } from '../operator/asking.ts';
import type { TestResponse } from '../../support/app.ts';
import { startPixApp } from './pix-app.ts';

const app = await startPixApp();
const user = await givenCustomer(app);
const body = { pix_key: 'ana@example.com', amount: 10 };
const nobody: TestUser = { ...user, token: 'none' };
const returned = '0197020c-7d2f-7c4a-9c1d-2f5f0f6b7a10';

function read({ status, headers }: TestResponse): (number | string | null)[] {
  return [status, headers.get('pix-outcome'), headers.get('pix-next')];
}

const follow = (id: string, { token } = user) => app.call(`/pix/${id}`, { token });

const reasoned = { amount: 1, reason: 'OTHER' };

const refund = (by: TestUser, key: string, sent: object = reasoned) =>
  app.call(`/pix/${returned}/refund`, { token: by.token, key, body: sent });

describe('the next step', () => {
  it('of a send that is accepted is to wait; of one that is made, nothing', async () => {
    const sent = await app.send(user, body, { key: 'accepted' });
    assert.deepEqual(read(sent), [200, 'accepted', 'wait']);
    const id = sent.body.transaction_id;
    const open = await follow(id);
    assert.deepEqual(read(open), [200, null, 'wait']);
    const headers = { 'if-none-match': open.headers.get('etag') ?? '' };
    const unchanged = await app.call(`/pix/${id}`, { token: user.token, headers });
    assert.deepEqual(read(unchanged), [304, null, 'wait']);
    await app.rows(
      "update pix_transactions set status = 'COMPLETED', phase = 'SETTLED', settled_at = now() where id = $1",
      [id],
    );
    assert.deepEqual(read(await app.send(user, body, { key: 'accepted' })), [
      200,
      'accepted',
      'done',
    ]);
    assert.deepEqual(read(await follow(id)), [200, null, 'done']);
  });

  it('of a send that failed is a new key, in the 502, its repeat and what is followed', async () => {
    const missing = { ...body, pix_key: 'notfound@ponte.test' };
    const sent = await app.send(user, missing, { key: 'failed' });
    assert.deepEqual(read(sent), [502, 'not_sent', 'new-key']);
    const repeat = await app.send(user, missing, { key: 'failed' });
    assert.deepEqual(read(repeat), [200, 'not_sent', 'new-key']);
    assert.equal(sent.body.transaction_id, repeat.body.transaction_id);
    const followed = await follow(repeat.body.transaction_id);
    assert.deepEqual(read(followed), [200, null, 'new-key']);
    assert.equal(followed.body.failure.code, 'PIX_KEY_NOT_FOUND');
    const portuguese = { 'accept-language': 'pt-BR' };
    const path = `/pix/${repeat.body.transaction_id}`;
    const translated = await app.call(path, { token: user.token, headers: portuguese });
    const message = 'Nenhuma conta foi encontrada para esta chave Pix.';
    assert.equal(translated.body.failure.message, message);
    const listed = await app.call('/pix?status=FAILED', { token: user.token });
    assert.equal(listed.body.items[0].failure.code, 'PIX_KEY_NOT_FOUND');
  });

  it('of a failure by a term or an operator is to ask', async () => {
    const missing = { ...body, pix_key: 'notfound@ponte.test', amount: 11 };
    const { body: sent } = await app.send(user, missing, { key: 'uncertain' });
    for (const code of ['EXPIRED_UNEXECUTED', 'OPERATOR_DECISION']) {
      await app.rows('update pix_transactions set failure_code = $1 where id = $2', [
        code,
        sent.transaction_id,
      ]);
      const repeat = await app.send(user, missing, { key: 'uncertain' });
      assert.deepEqual(read(repeat), [200, 'not_sent', 'ask'], code);
      assert.equal(repeat.body.failure.code, code);
    }
  });

  it('of faulty fields is to correct them; of the key of another request, to ask', async () => {
    const faulty = { ...body, amount: 0 };
    assert.deepEqual(read(await app.send(user, faulty)), [422, 'not_sent', 'correct']);
    assert.deepEqual(read(await refund(user, 'faulty', {})), [422, 'not_sent', 'correct']);
    assert.deepEqual(read(await refund(user, 'missing')), [404, 'not_sent', 'correct']);
    await app.send(user, body, { key: 'taken' });
    const other = await app.send(user, { ...body, amount: 12 }, { key: 'taken' });
    assert.deepEqual(read(other), [422, 'accepted', 'ask']);
  });

  it('of a key that is not valid is to correct it', async () => {
    for (const key of ['"quoted"', 'a, b', '']) {
      const sent = await app.send(user, body, { key });
      assert.deepEqual(read(sent), [422, 'unknown', 'correct'], key);
    }
  });

  it('of what cannot be read is to correct it', async () => {
    assert.deepEqual(read(await app.send(user, '{', { key: 'k' })), [400, 'unknown', 'correct']);
    const long = { ...body, description: 'x'.repeat(20_000) };
    assert.deepEqual(read(await app.send(user, long)), [413, 'unknown', 'correct']);
    const headers = { 'content-type': 'text/plain', 'idempotency-key': 'k' };
    const text = await app.call('/pix/send', { token: user.token, body: '{}', headers });
    assert.deepEqual(read(text), [415, 'unknown', 'correct']);
  });

  it('without a session is to log in', async () => {
    assert.deepEqual(read(await app.send(nobody, body)), [401, 'unknown', 'log-in']);
    assert.deepEqual(read(await refund(nobody, 'k')), [401, 'unknown', 'log-in']);
    assert.deepEqual(read(await follow(returned, nobody)), [401, null, 'log-in']);
  });

  it('of an unknown transaction is to ask', async () => {
    assert.deepEqual(read(await follow(returned)), [404, null, 'ask']);
  });

  it('of a defect is to repeat', async (t) => {
    t.mock.method(app.context.db, 'query', () => Promise.reject(new Error('a defect')));
    assert.deepEqual(read(await app.send(user, body)), [500, 'unknown', 'repeat']);
    assert.deepEqual(read(await follow(returned)), [500, null, 'repeat']);
  });

  describe('while sends are paused', () => {
    const because = { reason: 'ticket 7' };
    before(() => pausePix.run(app.context, because, unwatched));
    after(() => resumePix.run(app.context, because, unwatched));

    it('is to repeat, and no message says that nothing was done', async () => {
      const sent = await app.send(user, body, { key: 'paused' });
      assert.deepEqual(read(sent), [503, 'unknown', 'repeat']);
      assert.doesNotMatch(sent.body.message, /nothing was/i);
    });
  });
});
