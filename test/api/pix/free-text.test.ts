/** Free text: what controls a terminal, or the order in which text is shown, is refused. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startTestApp, type TestRequest } from '../../support/app.ts';
import { givenCustomer } from '../../support/factories.ts';
import { register } from '../onboarding/applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

const { token } = await givenCustomer(app);

const message = 'The text must have no control characters but tabs and line ends.';

const send = (description: string): [string, TestRequest] => {
  const body = { pix_key: 'bruno@example.com', amount: 1, description };
  return ['/pix/send', { token, key: randomUUID(), body }];
};

const charge = (change: object): [string, TestRequest] => {
  const body = { type: 'static', amount: 1, ...change };
  return ['/pix/charge', { token, key: randomUUID(), body }];
};

for (const [what, control] of [
  ['ESC', '\u001b[2J'],
  ['C1', '\u009b2J'],
  ['a bidirectional control', '\u202egnp.exe'],
] as const) {
  test(`422 for ${what} in each free text, by the name of its field`, async () => {
    const text = `Rent ${control}`;
    const { id } = await register(app);
    const requests: readonly [string, [string, TestRequest]][] = [
      ['description', send(text)],
      ['description', charge({ description: text })],
      ['code_category', charge({ code_category: control })],
      ['additional_data.0.name', charge({ additional_data: [{ name: text, value: 'x' }] })],
      ['additional_data.0.value', charge({ additional_data: [{ name: 'x', value: text }] })],
      ['observacoes', [`/onboarding/${id}/proposal`, { body: { observacoes: text } }]],
    ];
    for (const [field, [path, request]] of requests) {
      const { status, body } = await app.call(path, request);
      assert.equal(status, 422, field);
      assert.deepEqual(body.errors, { [field]: [message] });
    }
  });
}

test('tabs, line ends, accents and emoji are free text', async () => {
  const description = 'Aluguel\tde maio\r\n👩\u200d🔧';
  assert.equal((await app.call(...send(description))).status, 200);
});
