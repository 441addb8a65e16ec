/** Events that name another payee under a name that their shape does not read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { givenSend, stored, receive } = app;

const key = 'zoe@example.com';
const document = '11144477735';

for (const fields of [
  { creditor: { key } },
  { creditor: { document } },
  { credor: { cpf: document } },
  { creditorAccount: { branch: '0009', number: '7777777' } },
  { destination: { key } },
  { destino: { chave: key } },
  { receiverKey: key },
  { receiverDocument: document },
  { chaveDestino: key },
]) {
  test(`an event with ${JSON.stringify(fields)} proves nothing`, async () => {
    const send = await givenSend();
    const event = await receive(confirmed({ endToEnd: send.end_to_end, ...fields }));
    assert.deepEqual(results(event), ['ignored: undeclared_field']);
    assert.equal((await stored(send.id)).status, 'PROCESSING');
  });
}

test('an event that names the payer is the event of the payment', async () => {
  const send = await givenSend();
  const event = confirmed({ endToEnd: send.end_to_end, debtor: { key }, payer: { document } });
  assert.deepEqual(results(await receive(event)), ['applied']);
});
