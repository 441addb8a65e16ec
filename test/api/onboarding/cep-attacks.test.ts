/** Look-ups of CEPs by anyone: they cost the provider little, and applicants nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs } from '../../../src/clock.ts';
import { faulty, refused } from '../../../src/provider/sandbox/bank/response.ts';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { providerAttempts } from '../../support/factories.ts';
import { give, newPerson, register, shown, step } from './applicants.ts';

const environment = {
  ONBOARDING_LOCAL_ONLY: 'false',
  PROVIDER_RETRIES: '0',
  THROTTLE_ADDRESS_PER_MINUTE: '600',
  // The header below says where a test calls from.
  TRUST_PROXY_HOPS: '1',
};
const app = await startTestApp({ environment });
/** A day of its clock passes without the looks of a job loop. */
const idle = await startTestApp({ environment: { ...environment, JOBS: 'off' } });

function lookUp(cep: string, address: string, { call } = app): Promise<TestResponse> {
  return call(`/onboarding/cep/${cep}`, { headers: { 'x-forwarded-for': address } });
}

let last = 1_310_200;

/** A CEP that no test has asked for. */
function newCep(): string {
  last += 1;
  return String(last).padStart(8, '0');
}

test('an answer is asked for once a day, whoever wants it', async (t) => {
  const cep = newCep();
  const { mock } = t.mock.method(idle.bank.onboarding, 'lookUpCep');
  const answers = await Promise.all(
    [1, 2, 3, 4].map((nth) => lookUp(cep, `198.51.100.${nth}`, idle)),
  );
  for (const nth of [5, 6]) answers.push(await lookUp(cep, `198.51.100.${nth}`, idle));
  for (const { status, body } of answers) {
    assert.equal(status, 200);
    assert.deepEqual(body, answers[0]?.body);
  }
  assert.equal(mock.callCount(), 1);
  await idle.clock.skip(dayMs);
  await lookUp(cep, '198.51.100.1', idle);
  assert.equal(mock.callCount(), 2);
});

test('that the provider does not know a CEP is kept for an hour, a failure is not', async (t) => {
  const cep = newCep();
  const unknown = refused({ kind: 'missing', reason: 'CepNotFound' });
  const { mock } = t.mock.method(app.bank.onboarding, 'lookUpCep', () => unknown);
  for (let nth = 0; nth < 3; nth += 1) {
    assert.equal((await lookUp(cep, '198.51.100.10')).body.cep.estado, 'SP');
  }
  assert.equal(mock.callCount(), 1);
  assert.ok(
    !app.logLines.some((line) => line.includes('provider call failed')),
    'nor is it logged',
  );
  await app.clock.skip(dayMs / 24);
  mock.mockImplementation(() => faulty('unavailable'));
  for (let nth = 0; nth < 2; nth += 1) {
    assert.equal((await lookUp(cep, '198.51.100.10')).status, 502);
  }
  assert.equal(mock.callCount(), 3);
  await app.clock.advance(10_000);
});

test('an address starts sixty calls a minute; it is answered what is known, and others go on', async () => {
  const attacker = '203.0.113.7';
  const known = newCep();
  await lookUp(known, '198.51.100.20');
  const before = await providerAttempts(app, 'lookUpCep');
  const statuses: number[] = [];
  for (let nth = 0; nth < 65; nth += 1) {
    statuses.push((await lookUp(newCep(), attacker)).status);
  }
  assert.equal(statuses.filter((status) => status === 200).length, 60);
  assert.equal(statuses.filter((status) => status === 429).length, 5);
  assert.equal((await providerAttempts(app, 'lookUpCep')) - before, 60);

  const refusal = await lookUp(newCep(), attacker);
  assert.equal(refusal.headers.get('retry-after'), '60');
  assert.equal((await lookUp(known, attacker)).status, 200);
  assert.equal((await lookUp(newCep(), '198.51.100.21')).status, 200);
  const headers = { 'x-forwarded-for': attacker };
  const registration = await app.call('/onboarding/pf', { body: newPerson(), headers });
  assert.equal(registration.status, 201);
});

test('look-ups that fail do not stop the steps of applicants', async (t) => {
  const { id } = await register(app);
  await eventually(async () => {
    return step(await shown(app, id), 'registration').status === 'done';
  }, 'the bank knows the person');
  t.mock.method(app.bank.onboarding, 'lookUpCep', () => faulty('unavailable'));
  for (let nth = 0; nth < 30; nth += 1) await lookUp(newCep(), `203.0.113.${100 + nth}`);
  const { values } = await app.context.metrics.breakerState.get();
  const open = values.filter(({ value }) => value > 0).map(({ labels }) => labels.lane);
  assert.deepEqual(open, ['cep']);
  const response = await give(app, id, { step: 'prova-vida' });
  assert.equal(response.status, 202, JSON.stringify(response.body));
});
