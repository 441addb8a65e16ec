/** Who is refused when a limit of the whole service runs out: those who have asked for most. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { startTestApp, type TestApp, type TestResponse } from '../../support/app.ts';
import { pdfOfSize } from '../../support/documents.ts';
import { fieldPart, filePart, formType, makeForm } from '../../support/forms.ts';
import { give, newPerson, register } from './applicants.ts';

const environment = {
  JOBS: 'off',
  ONBOARDING_LOCAL_ONLY: 'false',
  THROTTLE_ADDRESS_PER_MINUTE: '6000',
  TRUST_PROXY_HOPS: '1',
};

const few = { CODES_PER_HOUR: '20', UPLOADS_MIB_PER_HOUR: '800' };
const app = await startTestApp({ environment: { ...environment, ...few } });
const wide = await startTestApp({ environment });

const hourMs = 60 * 60_000;

/** Each test has an hour of its own. */
beforeEach(() => app.clock.advance(hourMs));

let made = 0;

/** Asks for a code with an application and a phone of its own. */
async function askForCode(address: string, at: TestApp = app): Promise<TestResponse> {
  made += 1;
  const phone = `+551198${String(1_000_000 + made).slice(-7)}`;
  const { id } = await register(at, newPerson({ phone }));
  const headers = { 'x-forwarded-for': address };
  return give(at, id, { step: 'electronic-validation', headers, body: { tipo: 1 } });
}

/** Asks from each address in turns until all of them are refused. @returns the codes sent. */
async function askForAll(addresses: readonly string[]): Promise<number> {
  let sent = 0;
  const open = new Set(addresses);
  while (open.size > 0) {
    for (const address of open) {
      const { status } = await askForCode(address);
      if (status === 202) sent += 1;
      else open.delete(address);
      assert.ok(status === 202 || status === 429);
    }
  }
  return sent;
}

test('attackers do not use up the codes of the hour: customers still get theirs', async () => {
  const attackers = Array.from({ length: 5 }, (_, nth) => `203.0.${nth}.7`);
  const taken = await askForAll(attackers);
  assert.ok(taken >= 10 && taken <= 16, `the attackers have ${taken} of 20 codes`);
  for (let nth = 0; nth < 4; nth += 1) {
    assert.equal((await askForCode(`198.51.${nth}.7`)).status, 202, `customer ${nth}`);
  }
  const refused = await askForCode(attackers[0] ?? '');
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '3600');
  await app.clock.advance(hourMs);
  assert.equal((await askForCode(attackers[0] ?? '')).status, 202, 'an hour later');
});

test('one address, and the neighbours of its network, are refused from half on', async () => {
  assert.equal(await askForAll(['203.0.113.7']), 10, 'half of the codes');
  for (const address of ['203.0.113.8', '203.0.113.9', '2001:db8::1']) {
    const { status } = await askForCode(address);
    assert.equal(status, address.startsWith('203') ? 429 : 202, address);
  }
});

test('what is refused uses nothing up, also of a crowd at once', async () => {
  await askForAll(['203.0.113.7']);
  const before = await usedCodes();
  const storm = await Promise.all(Array.from({ length: 10 }, () => askForCode('203.0.113.7')));
  assert.ok(storm.every(({ status }) => status === 429));
  assert.equal(await usedCodes(), before);
});

async function usedCodes(): Promise<number | undefined> {
  const [row] = await app.rows<{ attempts: number }>(
    `select attempts from throttle_counters where key like 'service-codes:%'`,
  );
  return row?.attempts;
}

test('an address has a hundred codes an hour, whatever the service has left', async () => {
  const address = '203.0.113.7';
  assert.equal((await askForCode(address, wide)).status, 202);
  await wide.rows(
    `update throttle_counters set attempts = 99 where key like 'code-address-hour:%'`,
  );
  assert.equal((await askForCode(address, wide)).status, 202);
  const refused = await askForCode(address, wide);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '3600');
  assert.equal((await askForCode('198.51.100.7', wide)).status, 202);
});

const smallForm = (): Buffer => makeForm(fieldPart('1'), filePart(pdfOfSize(1_000)));

async function upload(address: string, body = smallForm()): Promise<TestResponse> {
  const { id } = await register(app);
  const headers = { 'content-type': formType, 'x-forwarded-for': address };
  return app.call(`/onboarding/${id}/documents`, { body, headers });
}

test('documents have an hour of their own, and a share for those that have sent few', async () => {
  const [heavy, light] = ['203.0.113.7', '198.51.100.7'];
  for (const address of [heavy, light]) assert.equal((await upload(address)).status, 201);
  await app.rows(`update throttle_counters set attempts = 700 where key like 'service-uploads:%'`);
  assert.equal((await upload(light)).status, 201, 'little so far');
  const refusedFrom = async (): Promise<number> => {
    await app.rows(
      `update throttle_counters set attempts = 100
        where key like 'service-uploads-from:%' and attempts = 1`,
    );
    return (await upload(heavy)).status;
  };
  assert.equal(await refusedFrom(), 429);
  assert.equal((await upload(light)).status, 201);
  await app.clock.advance(hourMs);
  assert.equal((await upload(heavy)).status, 201, 'an hour later');
});

/** The MiB that an hour has used so far. */
async function usedUploads(): Promise<number> {
  const [row] = await app.rows<{ attempts: number }>(
    `select attempts from throttle_counters where key like 'service-uploads:%' and expires_at > $1`,
    [app.clock.now()],
  );
  return row?.attempts ?? 0;
}

test('an upload that is cut or too large counts what was stored of it', async () => {
  const address = '203.0.113.7';
  const cut = makeForm(fieldPart('1'), filePart(pdfOfSize(1_500_000))).subarray(0, -10);
  assert.equal((await upload(address, cut)).status, 400);
  assert.equal(await usedUploads(), 2);
  const tooLarge = makeForm(fieldPart('1'), filePart(pdfOfSize(10_485_761)));
  assert.equal((await upload(address, tooLarge)).status, 413);
  const used = await usedUploads();
  assert.ok(used >= 11 && used <= 13, `${used} MiB`);
  const noDocument = makeForm(fieldPart('1'), filePart(Buffer.alloc(1_500_000)));
  assert.equal((await upload(address, noDocument)).status, 422);
  assert.equal(await usedUploads(), used, 'nothing was stored');
  await app.rows(`update throttle_counters set attempts = 512 where key like 'upload-mib-hour:%'`);
  assert.equal((await upload(address)).status, 429);
});
