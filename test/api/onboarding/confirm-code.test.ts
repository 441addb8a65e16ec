/** The code of the electronic validation, compared here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmElectronicValidation } from '../../../src/onboarding/confirm-electronic-validation.ts';
import type { Call } from '../../../src/context/operation.ts';
import { fieldRequired } from '../../../src/domain/validation-errors.ts';
import { AppError } from '../../../src/errors.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { give, giveAll, register, shown, step } from './applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

function confirm(id: string, codigo?: string): Promise<TestResponse> {
  const body = codigo === undefined ? {} : { codigo };
  return give(app, id, { step: 'electronic-validation/confirm', body });
}

async function wrongTimes(id: string, times: number): Promise<TestResponse[]> {
  const responses: TestResponse[] = [];
  for (let turn = 0; turn < times; turn += 1) responses.push(await confirm(id, `WRONG${turn}`));
  return responses;
}

const wrong = { codigo: ['The code is wrong.'] };

function lockedFor(minutes: number) {
  const unit = minutes === 1 ? 'minute' : 'minutes';
  return { codigo: [`Too many wrong codes. Try again in ${minutes} ${unit}.`] };
}

test('the right code, and a missing one outside production, confirm the step once', async () => {
  for (const codigo of ['ABC123', ' ABC123\u200b\n', undefined]) {
    const { id } = await register(app);
    const first = await confirm(id, codigo);
    assert.equal(first.status, 202);
    const confirmed = step(first.body.application, 'electronic_validation_confirm');
    assert.equal(confirmed.status, 'done');
    assert.equal(confirmed.attempts, 1);
    assert.deepEqual((await confirm(id, 'ABC123')).body, first.body);
  }
});

test('422 for a wrong code, and the step is still to be done', async () => {
  const { id } = await register(app);
  for (const codigo of ['ABC124', 'abc123', 'ABC 123', '0']) {
    const response = await confirm(id, codigo);
    assert.equal(response.status, 422);
    assert.deepEqual(response.body.errors, wrong);
  }
  assert.equal(step(await shown(app, id), 'electronic_validation_confirm').status, 'pending');
  assert.equal((await confirm(id, 'ABC123')).status, 202);
});

test('five wrong codes lock the step for ten minutes, for the right code too', async () => {
  const { id } = await register(app);
  const tries = await wrongTimes(id, 5);
  assert.deepEqual(new Set(tries.map(({ status }) => status)), new Set([422]));
  assert.deepEqual(tries[3]?.body.errors, wrong);
  assert.deepEqual(tries[4]?.body.errors, lockedFor(10));
  assert.deepEqual((await confirm(id, 'ABC123')).body.errors, lockedFor(10));
  await app.clock.advance(9 * 60_000);
  assert.deepEqual((await confirm(id, 'ABC123')).body.errors, lockedFor(1));
  const portuguese = await give(app, id, {
    step: 'electronic-validation/confirm',
    headers: { 'accept-language': 'pt-BR' },
  });
  assert.deepEqual(portuguese.body.errors, {
    codigo: ['Muitos códigos incorretos. Tente novamente em 1 minuto.'],
  });
  await app.clock.advance(59_999);
  assert.equal((await confirm(id, 'ABC123')).status, 422);
  await app.clock.advance(1);
  assert.equal((await confirm(id, 'ABC123')).status, 202);
});

test('after a lock there are five tries again', async () => {
  const { id } = await register(app);
  await wrongTimes(id, 5);
  await app.clock.advance(10 * 60_000);
  const tries = await wrongTimes(id, 5);
  assert.deepEqual(tries[3]?.body.errors, wrong);
  assert.deepEqual(tries[4]?.body.errors, lockedFor(10));
});

test('the right code resets the counter', async () => {
  const { id } = await register(app);
  await wrongTimes(id, 4);
  assert.equal((await confirm(id, 'ABC123')).status, 202);
  const tries = await wrongTimes(id, 4);
  assert.deepEqual(tries[3]?.body.errors, wrong);
  assert.equal((await confirm(id, 'ABC123')).status, 202);
});

test('of twenty wrong codes at once five are tried', async () => {
  const { id } = await register(app);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, turn) => confirm(id, `WRONG${turn}`)),
  );
  assert.ok(responses.every(({ status }) => status === 422));
  assert.equal(
    responses.filter(({ body }) => body.errors.codigo[0] === wrong.codigo[0]).length,
    4,
    'the fifth and all others are answered with the lock',
  );
  assert.equal((await confirm(id, 'ABC123')).status, 422);
});

test('one application locked leaves the others alone', async () => {
  const { id } = await register(app);
  const { id: other } = await register(app);
  await wrongTimes(id, 5);
  assert.equal((await confirm(other, 'ABC123')).status, 202);
});

test('a wrong code is refused under analysis too', async () => {
  const { id } = await register(app);
  await giveAll(app, id);
  const before = await shown(app, id);
  assert.deepEqual((await confirm(id, 'WRONG')).body.errors, wrong);
  assert.deepEqual(await shown(app, id), before);
});

test('no code is stored where it is compared here', async () => {
  const { id } = await register(app);
  await confirm(id, 'WRONG1');
  await confirm(id, 'ABC123');
  const [row] = await app.rows('select * from onboarding_applications where id = $1', [id]);
  assert.equal(row?.['sealed_code'], null);
  assert.doesNotMatch(JSON.stringify(row), /WRONG1|ABC123/);
});

test('in production a missing code is a missing field, and nothing is counted', async () => {
  const { id } = await register(app);
  const context = {
    ...app.context,
    config: { ...app.context.config, appEnv: 'production' as const },
  };
  for (const body of [undefined, {}, { tipo: 1 }]) {
    const call = {
      input: { path: { applicationId: id }, query: {}, headers: {}, body },
      request: { id: 'r', locale: 'en', clientAddress: '192.0.2.1' },
    } as unknown as Call<'confirmElectronicValidation'>;
    await assert.rejects(confirmElectronicValidation.run(context, call), (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.code, 'VALIDATION_FAILED');
      assert.equal(error.fields?.['codigo']?.[0]?.en, 'The field is required.');
      return true;
    });
  }
  const besideAnother = { query: {}, body: { tipo: null } };
  assert.throws(() => confirmElectronicValidation.checkRefused?.(context, besideAnother), {
    fields: { codigo: [fieldRequired] },
  });
  assert.equal(step(await shown(app, id), 'electronic_validation_confirm').status, 'pending');
});
