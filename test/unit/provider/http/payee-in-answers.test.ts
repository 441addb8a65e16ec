/** The key of the payee in the response to a payment, under the names that it may have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { order, session } from '../scripted-provider.ts';
import { providerAt } from './over-http.ts';
import { outcomeOf } from './payments.ts';
import { responding } from './raw-server.ts';

type Fields = Readonly<Record<string, unknown>>;

const named: readonly ((key: string) => Fields)[] = [
  (key) => ({ key }),
  (key) => ({ creditor: { key } }),
  (key) => ({ creditor: { chave: key } }),
  (key) => ({ destination: { key } }),
  (key) => ({ destino: { chave: key } }),
  (key) => ({ receiverKey: key }),
  (key) => ({ payeeKey: key }),
  (key) => ({ destinationKey: key }),
  (key) => ({ chaveDestino: key }),
  (key) => ({ chaveFavorecido: key }),
];

const { endToEnd, clientRequestId } = order;

async function paid(fields: Fields): Promise<string> {
  const receipt = { id: 'p-1', endToEnd, clientRequestId, status: 'CONFIRMED' };
  const { url } = await responding(200, { ...receipt, ...fields });
  const sent = { ...order, key: 'ana@example.com' };
  return outcomeOf(providerAt(url).pay({ session, order: sent }));
}

for (const fields of named) {
  test(`a receipt with another key proves nothing: ${JSON.stringify(fields('…'))}`, async () => {
    assert.equal(await paid(fields('zoe@example.com')), 'unknown');
    assert.equal(await paid(fields('Ana@example.com')), 'accepted');
  });
}

test('a key of the payer says nothing of the payee', async () => {
  const other = 'zoe@example.com';
  for (const fields of [{ debtor: { key: other } }, { pagador: { chave: other } }]) {
    assert.equal(await paid(fields), 'accepted', JSON.stringify(fields));
  }
});
