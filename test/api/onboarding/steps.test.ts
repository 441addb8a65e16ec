/** The steps of an application, submitted one by one, where onboarding is local. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTransaction } from '../../../src/db/unit-of-work.ts';
import { lockApplication } from '../../../src/onboarding/application-repository.ts';
import { startTestApp, type TestRequest } from '../../support/app.ts';
import { onlyOnServer } from '../../support/open-database.ts';
import {
  addressBody,
  enoughDocuments,
  give,
  giveAll,
  giveAllButCode,
  readJobs,
  readKyc,
  newPerson,
  register,
  shown,
  step,
  upload,
} from './applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

async function stored(id: string): Promise<Record<string, unknown>> {
  const [row] = await app.rows('select * from onboarding_applications where id = $1', [id]);
  return row ?? assert.fail('there is no such application');
}

test('the address is stored in its one form, and a repeat changes nothing', async () => {
  const { id } = await register(app);
  const first = await give(app, id, { step: 'address', body: addressBody });
  assert.equal(first.status, 201);
  assert.equal(step(first.body, 'address').status, 'done');
  assert.equal(step(first.body, 'address').attempts, 1);
  const before = await stored(id);
  assert.deepEqual(before['address'], {
    ...addressBody,
    cep: '01310100',
    complemento: null,
    estado: 'SP',
  });

  await app.clock.advance(1_000);
  const sameInOtherWords = { ...addressBody, cep: '01310100', estado: 'SP', complemento: null };
  const repeats = await Promise.all(
    [addressBody, sameInOtherWords, addressBody].map((body) =>
      give(app, id, { step: 'address', body }),
    ),
  );
  for (const repeat of repeats) {
    assert.equal(repeat.status, 201);
    assert.deepEqual(repeat.body, first.body);
  }
  assert.deepEqual(await stored(id), before);
});

test('another address replaces the first while the application is in progress', async () => {
  const { id } = await register(app);
  await give(app, id, { step: 'address', body: addressBody });
  await app.clock.advance(1_000);
  const body = { ...addressBody, numero: '2000', complemento: 'Sala 3' };
  const { status, body: application } = await give(app, id, { step: 'address', body });
  assert.equal(status, 201);
  assert.deepEqual(step(application, 'address'), {
    name: 'address',
    status: 'done',
    attempts: 2,
    updated_at: app.clock.now().toISOString(),
    error: null,
  });
  const { address } = (await stored(id)) as { address: Record<string, unknown> };
  assert.equal(address['numero'], '2000');
});

test('the bodies of proposal, validation and confirmation may be left out', async () => {
  for (const request of [{}, { body: {} }]) {
    const { id } = await register(app);
    for (const [path, name, message] of [
      ['proposal', 'proposal', 'The proposal was received.'],
      ['electronic-validation', 'electronic_validation', 'The validation was requested.'],
      [
        'electronic-validation/confirm',
        'electronic_validation_confirm',
        'The confirmation was received.',
      ],
    ] as const) {
      const response = await give(app, id, { step: path, ...request });
      assert.equal(response.status, 202);
      assert.equal(response.body.message, message);
      assert.equal(step(response.body.application, name).status, 'done');
    }
    const { proposal, validation } = await stored(id);
    assert.deepEqual(proposal, {
      tipo: 'CONTA_CORRENTE',
      observacoes: null,
      valorSolicitado: null,
    });
    assert.deepEqual(validation, { tipo: 1 });
  }
});

test('a zero with a sign is the same zero when it is repeated', async () => {
  const { id } = await register(app);
  for (const body of ['{"valor_solicitado":-0}', '{"valor_solicitado":-0.0}']) {
    const { body: response } = await give(app, id, { step: 'proposal', body });
    assert.equal(step(response.application, 'proposal').attempts, 1);
  }
});

test('a proposal is stored as submitted, and its default counts as submitted', async () => {
  const { id } = await register(app);
  await give(app, id, { step: 'proposal' });
  const same = await give(app, id, { step: 'proposal', body: { tipo: 'CONTA_CORRENTE' } });
  assert.equal(step(same.body.application, 'proposal').attempts, 1);
  const body = { tipo: 'CONTA_SALARIO', observacoes: "d'água \\ ?", valor_solicitado: 10.5 };
  const other = await give(app, id, { step: 'proposal', body });
  assert.equal(step(other.body.application, 'proposal').attempts, 2);
  assert.deepEqual((await stored(id))['proposal'], {
    tipo: 'CONTA_SALARIO',
    observacoes: "d'água \\ ?",
    valorSolicitado: 10.5,
  });
});

test('the responses of the steps are worded in Portuguese for those who prefer it', async () => {
  const { id } = await register(app);
  const headers = { 'accept-language': 'pt-BR' };
  for (const [path, message] of [
    ['proposal', 'A proposta foi recebida.'],
    ['electronic-validation', 'A validação foi solicitada.'],
    ['electronic-validation/confirm', 'A confirmação foi recebida.'],
    ['sync', 'A sincronização foi iniciada.'],
  ] as const) {
    const { body } = await give(app, id, { step: path, headers });
    assert.equal(body.message, message);
  }
});

test('ten identical posts at once give a step once, and queue nothing', async () => {
  const application = await register(app);
  const responses = await Promise.all(
    Array.from({ length: 10 }, () =>
      give(app, application.id, { step: 'address', body: addressBody }),
    ),
  );
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([201]));
  assert.equal(step(await shown(app, application.id), 'address').attempts, 1);
  assert.deepEqual(await readJobs(app, application), []);
});

test('the steps are taken in any order', async () => {
  const { id } = await register(app);
  await give(app, id, { step: 'prova-vida' });
  await give(app, id, { step: 'electronic-validation/confirm' });
  await give(app, id, { step: 'proposal' });
  for (const type of enoughDocuments.toReversed()) await upload(app, id, type);
  await give(app, id, { step: 'address', body: addressBody });
  assert.equal((await shown(app, id)).status, 'IN_PROGRESS');
  await give(app, id, { step: 'electronic-validation' });
  assert.equal((await shown(app, id)).status, 'UNDER_ANALYSIS');
});

test('the analysis waits for RG or CNH, the proof of residence and the selfie', async () => {
  const { id } = await register(app);
  for (const path of ['proposal', 'electronic-validation', 'electronic-validation/confirm']) {
    await give(app, id, { step: path });
  }
  await give(app, id, { step: 'prova-vida' });
  await give(app, id, { step: 'address', body: addressBody });
  const documents = async (type: number) => {
    const { body } = await upload(app, id, type);
    return [step(body, 'documents').status, body.status];
  };
  assert.deepEqual(await documents(5), ['pending', 'IN_PROGRESS']);
  assert.deepEqual(await documents(7), ['pending', 'IN_PROGRESS']);
  assert.deepEqual(await documents(6), ['pending', 'IN_PROGRESS']);
  assert.deepEqual(await documents(1), ['done', 'UNDER_ANALYSIS']);
});

/** A repeated and a changed submission, by step. */
const submissions: Readonly<Record<string, { same: TestRequest; other: TestRequest }>> = {
  address: {
    same: { body: addressBody },
    other: { body: { ...addressBody, numero: '9' } },
  },
  proposal: { same: {}, other: { body: { tipo: 'CONTA_SALARIO' } } },
  'electronic-validation': { same: {}, other: { body: { tipo: 2 } } },
};

const underAnalysis = 'The application is under analysis and takes no changes.';

test('under analysis a repeat answers as before, and anything new is refused', async () => {
  const { id } = await register(app);
  await giveAll(app, id);
  const before = await shown(app, id);
  assert.equal(before.status, 'UNDER_ANALYSIS');
  assert.equal(before.kyc_status, 'PENDING');
  assert.equal(step(before, 'kyc').status, 'queued');
  for (const [path, { same, other }] of Object.entries(submissions)) {
    const repeat = await give(app, id, { step: path, ...same });
    assert.deepEqual(repeat.body.application ?? repeat.body, before, path);
    const refused = await give(app, id, { step: path, ...other });
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.body.errors, { application: [underAnalysis] }, path);
  }
  for (const path of ['electronic-validation/confirm', 'prova-vida', 'sync']) {
    const repeat = await give(app, id, { step: path });
    assert.equal(repeat.status, 202);
    assert.deepEqual(repeat.body.application, before, path);
  }
  assert.deepEqual((await upload(app, id, 2)).body, before);
  assert.deepEqual((await upload(app, id, 1)).body.errors, { application: [underAnalysis] });
  assert.deepEqual(await shown(app, id), before);
});

const closed = {
  en: 'The application is closed and takes no more steps.',
  'pt-BR': 'A solicitação está encerrada e não aceita mais etapas.',
};

for (const [decision, phone] of [
  ['APPROVED', '+5511987654321'],
  ['REJECTED', '+5511987654322'],
] as const) {
  test(`422 for every step of an application that is ${decision}, a repeat or not`, async () => {
    const { id } = await register(app, newPerson({ phone }));
    await giveAll(app, id);
    const decided = await readKyc(app, id);
    assert.equal(decided.status, decision);
    for (const [language, message] of Object.entries(closed)) {
      const headers = { 'accept-language': language };
      const refusals = [
        ...Object.entries(submissions).flatMap(([path, { same, other }]) => [
          give(app, id, { step: path, ...same, headers }),
          give(app, id, { step: path, ...other, headers }),
        ]),
        ...['electronic-validation/confirm', 'prova-vida', 'sync'].map((path) =>
          give(app, id, { step: path, headers }),
        ),
      ];
      for (const response of await Promise.all(refusals)) {
        assert.equal(response.status, 422);
        assert.deepEqual(response.body.errors, { application: [message] });
      }
    }
    for (const type of [2, 1]) {
      const response = await upload(app, id, type);
      assert.deepEqual(response.body.errors, { application: [closed.en] });
    }
    assert.deepEqual(await readKyc(app, id), decided);
    assert.deepEqual(await shown(app, id), decided);
  });
}

test('sync has nothing to do where onboarding is local', async () => {
  const application = await register(app);
  await giveAllButCode(app, application.id);
  const before = await shown(app, application.id);
  const response = await give(app, application.id, { step: 'sync' });
  assert.equal(response.status, 202);
  assert.deepEqual(response.body, {
    message: 'The synchronisation has started.',
    application: before,
  });
  assert.deepEqual(await readJobs(app, application), []);
});

test(
  'a change of an application locks it, and leaves its user to logins',
  onlyOnServer,
  async () => {
    const { id } = await register(app);
    const unlocked = (table: string, key: string) =>
      app.rows<{ id: unknown }>(
        `select id from ${table}
        where id = (select ${key} from onboarding_applications where id = $1)
          for share skip locked`,
        [id],
      );
    await inTransaction(app.context, async (transaction) => {
      const locked = await lockApplication(transaction, id);
      assert.equal(locked?.id, id);
      assert.deepEqual(await unlocked('onboarding_applications', 'id'), []);
      assert.deepEqual(await unlocked('users', 'user_id'), [{ id: locked.applicant.id }]);
    });
  },
);
