import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { givenCustomer } from '../support/factories.ts';

const app = await startTestApp();

test('a send is accepted and answers its transaction', async () => {
  const { token } = await givenCustomer(app);
  const sent = await app.call('/pix/send', {
    token,
    key: 'first',
    body: { pix_key: 'ana@example.com', amount: 10.5 },
  });
  assert.equal(sent.status, 200);
  assert.equal(sent.body.status, 'PROCESSING');
  assert.match(sent.body.end_to_end, /^E\d{8}\d{12}\w{11}$/);
  assert.equal(sent.headers.get('pix-outcome'), 'accepted');
});
