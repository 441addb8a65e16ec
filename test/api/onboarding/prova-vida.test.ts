/** The proof of life without a provider: a page of the service replaces the provider's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openProvaVida } from '../../../src/onboarding/start-prova-vida.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { give, register, shown, step } from './applicants.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

test('the session is random, is answered again, and its address says nothing of the application', async () => {
  const { id } = await register(app);
  const first = await give(app, id, { step: 'prova-vida' });
  assert.equal(first.status, 202);
  const { application, url_iframe: url } = first.body;
  assert.equal(step(application, 'prova_vida').status, 'done');
  assert.equal(application.prova_vida.url_iframe, url);
  assert.notEqual(application.prova_vida.session_id, id);
  assert.match(application.prova_vida.session_id, new RegExp(`^${uuid}$`));
  assert.ok(url.endsWith(`/${application.prova_vida.session_id}`));
  assert.ok(!url.includes(id));
  const repeats = await Promise.all([1, 2, 3].map(() => give(app, id, { step: 'prova-vida' })));
  for (const repeat of repeats) assert.deepEqual(repeat.body, first.body);
  assert.deepEqual(await shown(app, id), application);
});

test('ten requests at once open one session', async () => {
  const { id } = await register(app);
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => give(app, id, { step: 'prova-vida' })),
  );
  assert.equal(new Set(responses.map(({ body }) => body.url_iframe)).size, 1);
  assert.equal(step(await shown(app, id), 'prova_vida').attempts, 1);
});

test('the page is there where the simulated bank opens the account, too', async () => {
  const environment = { APP_ENV: 'local', ONBOARDING_LOCAL_ONLY: 'false' };
  const local = await startTestApp({ environment });
  const { id } = await register(local);
  await eventually(async () => {
    return step(await shown(local, id), 'registration').status === 'done';
  }, 'the bank knows the person');
  const { body } = await give(local, id, { step: 'prova-vida' });
  assert.ok(body.url_iframe?.startsWith(`${local.url}/dev/prova-vida/`), JSON.stringify(body));
  const page = await fetch(body.url_iframe);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /Proof of life/);
});

const { config } = app.context;

test('with any free port, the page is at the one that is listened on', async () => {
  assert.equal(config.port, 0);
  const { id } = await register(app);
  const context = { ...app.context, config: { ...config, appEnv: 'local' as const } };
  const caller = { applicationId: id, clientAddress: '192.0.2.1' };
  const { urlIframe } = await openProvaVida(context, caller);
  assert.ok(urlIframe.startsWith(`${app.url}/dev/prova-vida/`), urlIframe);
});

const places = [
  [
    'in local, the page of this service',
    { appEnv: 'local', host: '127.0.0.1' },
    3000,
    'http://127.0.0.1:3000/dev/prova-vida/',
  ],
  [
    'in local, an address that this machine reaches',
    { appEnv: 'local', host: '0.0.0.0' },
    8080,
    'http://127.0.0.1:8080/dev/prova-vida/',
  ],
  [
    'in local, an IPv6 address in brackets',
    { appEnv: 'local', host: '::1' },
    3000,
    'http://[::1]:3000/dev/prova-vida/',
  ],
  [
    'elsewhere, a placeholder that does not show where the provider is',
    {
      appEnv: 'staging',
      provider: { ...config.provider, baseUrl: 'https://bank.example/api' },
    },
    3000,
    'https://prova-vida.invalid/',
  ],
  [
    'elsewhere without a provider, the same placeholder',
    { appEnv: 'test', host: '127.0.0.1' },
    3000,
    'https://prova-vida.invalid/',
  ],
] as const;

for (const [where, changes, port, prefix] of places) {
  test(where, async () => {
    const { id } = await register(app);
    const listening = { port };
    const context = { ...app.context, config: { ...config, ...changes }, listening };
    const caller = { applicationId: id, clientAddress: '192.0.2.1' };
    const { urlIframe } = await openProvaVida(context, caller);
    assert.match(urlIframe.slice(prefix.length), new RegExp(`^${uuid}$`));
    assert.equal(urlIframe.slice(0, prefix.length), prefix);
  });
}
