/** Two phones with the client for apps on a started service, which is killed and starts again. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PonteClient } from '../../contract/client/index.ts';
import { createTestDatabase } from '../support/db.ts';
import { eventually } from '../support/eventually.ts';
import { makePdf } from '../support/documents.ts';
import { newPerson } from '../api/onboarding/applicants.ts';
import { Memory } from '../api/pix/paying-client.ts';
import { settingsFor, startService, type ServiceProcess } from './service-process.ts';

interface Phone {
  readonly email: string;
  readonly storage: Memory;
  readonly password: string;
}

async function connect(service: ServiceProcess, phone: Phone): Promise<PonteClient> {
  const { email, password, storage } = phone;
  const client = new PonteClient({ url: await service.ready(), storage });
  assert.equal((await client.logIn({ email, password })).status, 200);
  return client;
}

/** A person opens an account on the phone. */
async function openAccount(service: ServiceProcess): Promise<Phone> {
  const storage = new Memory();
  const client = new PonteClient({ url: await service.ready(), storage });
  const person = newPerson();
  const started = await client.call('startOnboarding', { body: person });
  assert.ok(started.status === 201);
  const path = { applicationId: started.body.id };
  const address = { logradouro: 'Avenida Paulista', numero: '1', bairro: 'Bela Vista' };
  const place = { cep: '01310100', cidade: 'São Paulo', estado: 'SP' };
  await client.call('submitAddress', { path, body: { ...address, ...place } });
  for (const type of [2, 5, 6]) {
    const arquivo = new File([Uint8Array.from(makePdf(String(type)))], 'document.pdf');
    await client.call('submitDocument', { path, body: { tipo_documento: type, arquivo } });
  }
  await client.call('submitProposal', { path });
  await client.call('requestElectronicValidation', { path });
  await client.call('confirmElectronicValidation', { path });
  await client.call('startProvaVida', { path });
  const decided = await client.call('getKyc', { path });
  assert.ok(decided.status === 200 && decided.body.application.status === 'APPROVED');
  return { email: person.email, password: person.password, storage };
}

async function readBalance(client: PonteClient): Promise<number> {
  const response = await client.call('getBalance', {});
  assert.ok(response.status === 200);
  return response.body.balance;
}

async function findItem(client: PonteClient, type: 'PIX_RECEIVED' | 'PIX_REFUND_IN') {
  return eventually(async () => {
    const page = await client.call('listPixTransactions', {});
    assert.ok(page.status === 200);
    return page.body.items.find((item) => item.type === type);
  }, type);
}

async function startTwice(t: TestContext) {
  const database = await createTestDatabase({ isOwn: true });
  t.after(() => database.drop());
  return () => startService(t, settingsFor(database));
}

test('what one phone has paid reaches the other, and comes back after a crash', async (t) => {
  const start = await startTwice(t);
  const first = start();
  const [anasPhone, biasPhone] = [await openAccount(first), await openAccount(first)];
  const [ana, bia] = [await connect(first, anasPhone), await connect(first, biasPhone)];
  const paid = await ana.pay({ pix_key: biasPhone.email, amount: 150.5 });
  assert.equal(paid.result, 'paid');
  const received = await findItem(bia, 'PIX_RECEIVED');
  assert.deepEqual([await readBalance(ana), await readBalance(bia)], [9_849.5, 10_150.5]);
  await first.kill();

  const second = start();
  const [anaAgain, biaAgain] = [await connect(second, anasPhone), await connect(second, biasPhone)];
  const reason = 'WRONG_AMOUNT';
  const returned = await biaAgain.refund(received.transaction_id, { amount: 50.5, reason });
  assert.equal(returned.result, 'paid');
  const back = await findItem(anaAgain, 'PIX_REFUND_IN');
  assert.deepEqual([back.amount, back.end_to_end], [50.5, received.end_to_end]);
  assert.deepEqual([await readBalance(anaAgain), await readBalance(biaAgain)], [9_900, 10_100]);
});
