/** An ordinary, successful request of each operation, and the jobs that follow a payment. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { ensurePeriodicJob } from '../../../../src/jobs/job-repository.ts';
import { settleQueued } from '../../../../src/settlement/settle-event.ts';
import { givenCustomer, password } from '../../../support/factories.ts';
import { addressBody, enoughDocuments, newPerson, upload } from '../../onboarding/applicants.ts';
import { insertGood, receivedColumns } from '../rows.ts';
import {
  ask,
  claim,
  givenSettled,
  once,
  order,
  run,
  runJobs,
  settleDue,
  settling,
  takeDue,
  type Request,
  type Scene,
} from './scene.ts';

/** Prepares work, and returns it: only the work is measured. */
type Case = (scene: Scene) => Work | Promise<Work>;

type Work = () => Promise<unknown>;

const request =
  (make: (scene: Scene) => Request | Promise<Request>): Case =>
  async (scene) => {
    const prepared = await make(scene);
    return () => ask(scene, prepared);
  };

const read = (path: string): Case => request(() => ({ path }));

/** A request that is made a second time. */
const repeat =
  (make: (scene: Scene) => Request | Promise<Request>): Case =>
  async (scene) => {
    const prepared = await make(scene);
    await ask(scene, prepared);
    return () => ask(scene, prepared);
  };

/** A settled send of the customer, whose webhook is settled as well. */
const paid = (scene: Scene): Promise<string> =>
  once(scene, 'paid', async () => {
    const { id, webhook } = await givenSettled(scene);
    await ask(scene, webhook);
    await settleDue(scene);
    return id;
  });

const received = (scene: Scene): Promise<string> =>
  once(scene, 'received', async () => {
    const { app, user } = scene;
    const got = await app.bank.receive(user.email, 1_000);
    assert.ok(got.outcome === 'done');
    const columns = { user_id: user.id, end_to_end: got.value.endToEnd };
    const row = { ...receivedColumns(app.clock.now()), ...columns };
    return String(await insertGood(app, 'pix_transactions', row));
  });

const refund = async (scene: Scene) => ({
  path: `/pix/${await received(scene)}/refund`,
  key: randomUUID(),
  body: { amount: 1, reason: 'OTHER' },
});

const dispute = async (scene: Scene) => ({ path: `/pix/${await paid(scene)}/dispute` });

const lookUp = () => ({ path: '/pix/lookup', body: { pix_key: 'ana@example.com' } });

const charge = () => ({
  path: '/pix/charge',
  key: randomUUID(),
  body: { type: 'dynamic', amount: 10 },
});

const newKey = { path: '/pix/keys', body: { key_type: 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO' } };

const application = (scene: Scene): Promise<string> =>
  once(scene, 'application', async () => {
    const body = newPerson({ phone: `+551198765432${scene.pass}` });
    return (await ask(scene, { path: '/onboarding/pf', body })).id;
  });

/** The next step of an application, of which the bank has all that was given before. */
const step = (name: string, body?: object): Case =>
  request(async (scene) => {
    const path = `/onboarding/${await application(scene)}/${name}`;
    await runJobs(scene, 'onboarding-step');
    return { path, method: 'POST', ...(body && { body }) };
  });

/** A run of the one job of a kind that is due. */
async function due(scene: Scene, kind: string): Promise<Work> {
  const [job, ...others] = await claim(scene, kind);
  assert.ok(job && others.length === 0);
  return () => run(scene, job);
}

/** By operation, or by the kind of a job, with what is different where it has several. */
export const cases: Readonly<Record<string, Case>> = {
  login: request(({ user: { email } }) => {
    return { path: '/auth/login', token: '', body: { email, password } };
  }),
  logout: request(async ({ app }) => {
    const { token } = await givenCustomer(app);
    return { path: '/auth/logout', method: 'POST', token };
  }),
  getMe: read('/accounts/me'),
  getBalance: repeat(() => ({ path: '/accounts/balance' })),
  'getBalance, changed': async (scene) => {
    await scene.app.bank.receive(scene.user.email, 1_000);
    return () => ask(scene, { path: '/accounts/balance' });
  },
  getStatement: read('/accounts/statement'),
  registerPf: request(() => {
    return { path: '/accounts/pf', body: { ...newPerson(), address: addressBody } };
  }),
  sendPix: request(order),
  'sendPix, by a look-up': request(async (scene) => {
    const { lookup_id } = await ask(scene, lookUp());
    const send = order();
    return { ...send, body: { ...send.body, lookup_id } };
  }),
  'sendPix, repeated': repeat(order),
  'sendPix, repeated at another process': async (scene) => {
    const again = await repeat(order)(scene);
    const unseen = mock.method(scene.app.context.claimedKeys, 'seenAt', () => null);
    return () => again().finally(() => unseen.mock.restore());
  },
  cancelPix: request(() => ({ path: '/pix/send/cancel', method: 'POST', key: randomUUID() })),
  createCharge: request(charge),
  decodePixCode: request(async (scene) => {
    const { copy_paste: code } = await ask(scene, charge());
    return { path: '/pix/decode', body: { copy_paste: code } };
  }),
  lookUpPixKey: request(lookUp),
  listPixTransactions: read('/pix'),
  getPixTransaction: request(async (scene) => ({ path: `/pix/${await paid(scene)}` })),
  getPixReceipt: request(async (scene) => ({ path: `/pix/${await paid(scene)}/receipt` })),
  openDispute: request(async (scene) => {
    const body = { situation: 'SCAM', details: 'The seller does not exist.' };
    return { ...(await dispute(scene)), body };
  }),
  getDispute: request(dispute),
  withdrawDispute: request(async (scene) => ({ ...(await dispute(scene)), method: 'DELETE' })),
  refundPix: request(refund),
  'refundPix, repeated': repeat(refund),
  cancelRefund: request(async (scene) => {
    return {
      path: `/pix/${await received(scene)}/refund/cancel`,
      method: 'POST',
      key: randomUUID(),
    };
  }),
  getPixLimits: read('/pix/limits'),
  setPixLimits: request(({ limited: { token }, pass }) => {
    const body = { password, day: 1_500 + pass };
    return { path: '/pix/limits', method: 'PUT', token, body };
  }),
  'sendPix, of a customer with limits': request(({ limited: { token } }) => {
    return { ...order(), token };
  }),
  listPixKeys: read('/pix/keys'),
  createPixKey: request(() => newKey),
  deletePixKey: request(async (scene) => {
    const { data } = await ask(scene, newKey);
    return { path: '/pix/keys', method: 'DELETE', body: { key: data.key } };
  }),
  startOnboarding: request(() => ({ path: '/onboarding/pf', body: newPerson() })),
  lookUpCep: read('/onboarding/cep/01310100'),
  getOnboarding: request(async (scene) => ({ path: `/onboarding/${await application(scene)}` })),
  submitAddress: step('address', addressBody),
  'onboarding-step, of an address': (scene) => due(scene, 'onboarding-step'),
  submitDocument: async (scene) => {
    const id = await application(scene);
    const [last, ...others] = enoughDocuments;
    for (const type of others) await upload(scene.app, id, type);
    await runJobs(scene, 'onboarding-step');
    return async () => assert.equal((await upload(scene.app, id, last)).status, 201);
  },
  submitProposal: step('proposal'),
  requestElectronicValidation: step('electronic-validation'),
  confirmElectronicValidation: step('electronic-validation/confirm'),
  startProvaVida: step('prova-vida'),
  syncOnboarding: step('sync'),
  getKyc: request(async (scene) => ({ path: `/onboarding/${await application(scene)}/kyc` })),
  receiveProviderWebhook: request(async (scene) => (await givenSettled(scene)).webhook),
  'receiveProviderWebhook, settled at once': async (scene) => {
    const { webhook } = await givenSettled(scene);
    return () => settling(scene, () => ask(scene, webhook));
  },
  'settle-webhook, from the queue': async (scene) => {
    await settleDue(scene);
    await ask(scene, (await givenSettled(scene)).webhook);
    const [event = assert.fail('no event is due')] = await takeDue(scene);
    return () => settleQueued(scene.app.context, event);
  },
  'sweep-pix, of nothing': async (scene) => {
    await settleDue(scene);
    await ensurePeriodicJob(scene.app.context, 'sweep-pix', scene.app.clock.now());
    await scene.app.rows(`update jobs set run_at = $1 where kind = 'sweep-pix'`, [
      scene.app.clock.now(),
    ]);
    return due(scene, 'sweep-pix');
  },
};
