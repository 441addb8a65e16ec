/** What is shown of an application once it is decided. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { giveAll, give, readKyc, newPerson, register } from './applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

for (const [status, phone] of [
  ['APPROVED', '+5511987654321'],
  ['REJECTED', '+5511987654322'],
] as const) {
  test(`the person is masked once the application is ${status}`, async () => {
    const person = newPerson({ name: 'José da Silva', phone, email: `jose.${status}@example.com` });
    const { id } = await register(app, person);
    await giveAll(app, id);
    const before = await app.call(`/onboarding/${id}`);
    assert.equal(before.body.document, person.document);
    assert.ok(before.body.prova_vida.url_iframe);
    await readKyc(app, id);
    const paths = [`/onboarding/${id}`, `/onboarding/${id}/kyc`];
    for (const path of paths) {
      const { body } = await app.call(path);
      const shown = body.application ?? body;
      assert.equal(shown.status, status);
      assert.partialDeepStrictEqual(shown, {
        name: 'J*** d*** S***',
        email: 'j***@example.com',
        document: `*********${person.document.slice(-2)}`,
        phone: `************${phone.slice(-2)}`,
        prova_vida: { session_id: null, url_iframe: null },
      });
      for (const value of [person.name, person.email, person.document, person.phone]) {
        assert.equal(JSON.stringify(body).includes(value), false);
      }
    }
    const refused = await give(app, id, { step: 'proposal' });
    assert.equal(refused.status, 422);
  });
}
