/** What an older key has sealed is sealed again with the first key of the ring. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sealAgain } from '../../../src/retention/seal-again.ts';
import { createSealer, SealError } from '../../../src/security/sealing.ts';
import type { LeasedJob } from '../../../src/jobs/job.ts';
import { startTestApp } from '../../support/app.ts';
import { givenApplication, givenCustomer } from '../../support/factories.ts';

const older = randomBytes(32);
const newer = randomBytes(32);
const environment = { JOBS: 'off', ENCRYPTION_KEY: older.toString('base64') };
const app = await startTestApp({ environment });
const job: LeasedJob = { id: '1', kind: 'seal-again', payload: {}, attempt: 1, worker: 'test' };

const run = (keys: [Buffer, ...Buffer[]]) =>
  sealAgain.run({ ...app.context, sealer: createSealer(keys) }, job);

/** Every sealed value of the database, with its owner. */
async function sealedValues(): Promise<{ owner: string; sealed: Buffer }[]> {
  return app.rows(`
    select 'user:' || user_id as owner, sealed_token as sealed from banking_sessions
     where sealed_token is not null
     union all
    select 'onboarding:' || id, sealed_code from onboarding_applications
     where sealed_code is not null
     union all
    select 'document:' || d.application_id || ':' || d.id || ':' || c.place, c.sealed_content
      from onboarding_document_chunks c join onboarding_documents d on d.id = c.document_id
     union all
    select 'dispute:' || transaction_id, details from pix_disputes where details is not null
     union all
    select 'client-token:' || user_id, decode(substr(provider_client_token, 8), 'base64')
      from accounts where provider_client_token is not null`);
}

test('after a run the new key alone opens every value, and no session has ended', async () => {
  const customers = [await givenCustomer(app), await givenCustomer(app)];
  const applicant = await givenCustomer(app);
  await givenApplication(app, applicant.id, 'IN_PROGRESS');
  const [application] = await app.rows<{ id: string }>('select id from onboarding_applications');
  const applicationId = application?.id ?? '';
  const documentId = '00000000-0000-4000-8000-000000000001';
  const { sealer } = app.context;
  await app.rows('update onboarding_applications set sealed_code = $1', [
    sealer.seal('{}', `onboarding:${applicationId}`),
  ]);
  await app.rows(
    `insert into onboarding_documents (id, application_id, status, created_at)
     values ($1, $2, 'receiving', now())`,
    [documentId, applicationId],
  );
  for (const place of [0, 1, 2]) {
    await app.rows('insert into onboarding_document_chunks values ($1, $2, $3)', [
      documentId,
      place,
      sealer.seal('chunk', `document:${applicationId}:${documentId}:${place}`),
    ]);
  }
  await app.rows(
    `insert into pix_disputes (transaction_id, user_id, status, situation, details, requested_at,
            updated_at)
     values ($1, $2, 'REQUESTED', 'SCAM', $3, now(), now())`,
    [documentId, applicant.id, sealer.seal('words', `dispute:${documentId}`)],
  );
  const before = await sealedValues();
  assert.equal(before.length, 3 + 1 + 3 + 1 + 3);

  await run([older]);
  assert.deepEqual(await sealedValues(), before);

  await run([newer, older]);
  const after = await sealedValues();
  assert.equal(after.length, before.length);
  for (const { owner, sealed } of after) {
    assert.ok(createSealer([newer]).open(sealed, owner).length > 0);
    assert.throws(() => createSealer([older]).open(sealed, owner), SealError);
  }
  await run([newer, older]);
  assert.deepEqual(await sealedValues(), after);
  const sessions = await app.rows(`select id from banking_sessions where status = 'ACTIVE'`);
  assert.equal(sessions.length, customers.length + 1);
});

test('a value that no key opens is left as it is', async () => {
  const lost = createSealer([randomBytes(32)]).seal('lost', 'user:1');
  await app.rows('update banking_sessions set sealed_token = $1', [lost]);
  await run([randomBytes(32), older]);
  const [row] = await app.rows<{ sealed_token: Buffer }>('select * from banking_sessions');
  assert.deepEqual(row?.sealed_token, lost);
});
