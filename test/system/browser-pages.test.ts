/** The development pages in a real browser, against the real service in a process of its own. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { ServiceProcess, settingsFor } from './service-process.ts';
import { createTestDatabase, type TestDatabase } from '../support/db.ts';
import { pdfOf } from '../support/documents.ts';
import { eventually } from '../support/eventually.ts';
import { accessibilityFaults, noBrowser, openBrowser, openPage, scan } from './browser.ts';

describe('the page of account and PIX', { skip: noBrowser }, () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let browser: Browser;
  let url: string;

  before(async () => {
    database = await createTestDatabase();
    service = new ServiceProcess(settingsFor(database));
    [url, browser] = await Promise.all([service.ready(), openBrowser()]);
  });

  after(async () => {
    await browser.close();
    await service.kill();
    await database.drop();
  });

  it('logs in, sends a PIX and shows its status until it has ended', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    assert.match(await page.innerText('#account-facts'), /Pessoa de Desenvolvimento/);
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    assert.match(await page.innerText('#send-outcome'), /Outcome: accepted/);
  });

  it('shows a charge as a QR code that can be scanned', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await page.click('#charge .actions button');
    const image = page.locator('#charge-result img');
    await image.waitFor();
    const text = await page.inputValue('#charge-result textarea');
    assert.match(text, /^000201.*6304[0-9A-F]{4}$/);
    assert.equal(await scan(image), text);
  });

  it('shows the payee before the payment, and pays by that look-up', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await page.click('#look-up');
    await page.locator('#send-payee', { hasText: 'Recebedor de Teste' }).waitFor();
    assert.match(await page.innerText('#send-payee'), /\*\*\*\.456\.789-\*\*/);
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    const sent = page.locator('#trace li', { hasText: 'POST /api/v1/pix/send' });
    assert.match((await sent.locator('pre').first().textContent()) ?? '', /"lookup_id": "[\w-]+"/);
    await page.fill('#pix_key', 'notfound@ponte.test');
    assert.equal(await page.innerText('#send-payee'), '');
    await page.click('#look-up');
    await page.locator('#send .error', { hasText: 'PIX_KEY_NOT_FOUND' }).waitFor();
  });

  it('shows what a pasted code asks for, and pays it', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await page.selectOption('#charge-type', 'static');
    await page.click('#charge .actions button');
    await page.locator('#charge-result textarea').waitFor();
    const code = await page.inputValue('#charge-result textarea');
    await page.fill('#copy_paste', code.slice(0, -1));
    await page.press('#copy_paste', 'Tab');
    await page.locator('#send .error', { hasText: 'incomplete or was changed' }).waitFor();
    await page.fill('#copy_paste', code);
    await page.press('#copy_paste', 'Tab');
    await page.locator('#send-payee', { hasText: 'R$ 25,00' }).waitFor();
    assert.match(await page.innerText('#send-payee'), /PESSOA DE DESENVOLVIME/);
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
  });

  it('pays by keyboard alone', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await tabTo(page, 'Log in');
    await page.keyboard.press('Enter');
    await page.locator('#account dl').waitFor();
    await tabTo(page, 'Amount in reais');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('1.234,56');
    await page.keyboard.press('Enter');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    const sent = page.locator('#trace li', { hasText: 'POST /api/v1/pix/send' });
    assert.match((await sent.locator('pre').first().textContent()) ?? '', /"amount": 1234\.56/);
  });

  it('shows each fault at its field, goes there, and keeps what was typed', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await page.fill('#send-amount', '0,001');
    await page.fill('#send-key', '');
    await page.click('#send .actions button');
    await page.locator('#send-amount-error').waitFor();
    await page.locator('#send-key-error').waitFor();
    const focused = await page.evaluate<string>('document.activeElement.id');
    assert.equal(focused, 'send-amount');
    assert.equal(await page.inputValue('#send-amount'), '0,001');
  });

  it('opens what is folded up where a fault is in it', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await page.evaluate(`document.querySelector('#zipcode').value = '1'`);
    assert.equal(await page.isVisible('#zipcode'), false);
    await page.click('#charge .actions button');
    await page.locator('#zipcode-error').waitFor({ state: 'visible' });
    assert.equal(await page.evaluate<string>('document.activeElement.id'), 'zipcode');
  });

  it('goes to the account after a login, and keeps nothing of it after a logout', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    assert.equal(await page.evaluate<string>('document.activeElement.id'), 'account');
    await page.click('#show-balance');
    await page.locator('#balance', { hasText: 'source' }).waitFor();
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    await page.click('#charge .actions button');
    await page.locator('#charge-result img').waitFor();
    await page.click('#statement .actions button');
    await page.locator('#statement-items table').waitFor();
    await page.click('#transactions .actions button');
    await page.locator('#transaction-items table').waitFor();
    await page.click('#send-receipt button');
    await page.locator('#receipt dl').waitFor();
    await page.click('#list-keys');
    await page.locator('#key-list *').first().waitFor();
    await page.click('#logout');
    await page.locator('#login').waitFor();
    await logIn(page);
    for (const place of [
      'balance',
      'send-outcome',
      'send-status',
      'send-receipt',
      'charge-result',
      'statement-items',
      'transaction-items',
      'receipt',
      'key-list',
    ]) {
      assert.equal(await page.textContent(`#${place}`), '', place);
    }
  });

  it('lists all transactions page by page, by their filters', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    for (const count of [1, 2]) {
      await page.click('#send-new-key');
      await page.click('#send .actions button');
      const sent = page.locator('#trace li', { hasText: 'POST /api/v1/pix/send' });
      await sent.nth(count - 1).waitFor();
    }
    await page.selectOption('#list-type', 'PIX_SEND');
    await page.fill('#list-limit', '0');
    await page.click('#transactions .actions button');
    await page.locator('#list-limit-error', { hasText: 'at least 1' }).waitFor();
    await page.fill('#list-limit', '1');
    await page.click('#transactions .actions button');
    await page.locator('#transaction-items', { hasText: '1 so far.' }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    const rows = page.locator('#transaction-items tbody tr', { hasText: 'PIX_SEND' });
    await rows.nth(1).waitFor();
    assert.equal(await rows.count(), 2);
    await page.selectOption('#list-type', 'PIX_RECEIVED');
    await page.click('#transactions .actions button');
    await page.locator('#transaction-items', { hasText: '0 in all.' }).waitFor();
  });

  it('shows the receipt of a payment, and prints nothing else', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await page.fill('#send-amount', '1.234,56');
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    await page.click('#send-receipt button');
    const receipt = page.locator('#receipt');
    await receipt.locator('.badge', { hasText: 'COMPLETED' }).waitFor();
    assert.match(
      await receipt.innerText(),
      /R\$\s1\.234,56[^]*Payer's CPF or CNPJ\s+\*{3}\.444\.777-\*\*[^]*bruno@example\.com/,
    );
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.emulateMedia({ media: 'print' });
    const visible = await page.evaluate<string[]>(`
      [...document.querySelectorAll('h1, h2, button')]
        .filter((one) => one.checkVisibility()).map((one) => one.textContent)`);
    assert.deepEqual(visible, ['Receipt']);
    await page.emulateMedia({ media: 'screen' });
    await receipt.getByRole('button', { name: 'Close' }).click();
    assert.equal(await receipt.textContent(), '');
    const focused = await page.evaluate<string>('document.activeElement.textContent');
    assert.equal(focused, 'Receipt');
  });

  it('offers the scenarios of the simulated bank, and says what to do next', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await page.selectOption('#send-scenario', 'notfound@ponte.test');
    assert.equal(await page.inputValue('#pix_key'), 'notfound@ponte.test');
    await page.click('#send .actions button');
    await page.locator('#send .error', { hasText: 'PIX_KEY_NOT_FOUND' }).waitFor();
    assert.match(await page.innerText('#send-outcome'), /Nothing was sent/);
  });

  it('keeps every request to read, with a curl command of it', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const login = page.locator('#trace li', { hasText: 'POST /api/v1/auth/login' });
    await login.locator('summary').click();
    await login.getByRole('button', { name: 'Copy as curl' }).click();
    await login.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(copied, /^curl -i[^]*-X POST[^]*auth\/login'[^]*-d '\{"email"/);
  });

  it('can be used by people with a disability, light, dark and on a phone', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    assert.deepEqual(await accessibilityFaults(page), []);
    await logIn(page);
    await page.click('#charge .actions button');
    await page.locator('#charge-result img').waitFor();
    await page.click('#statement .actions button');
    await page.locator('#statement-items table').waitFor();
    await page.click('#transactions .actions button');
    await page.locator('#transaction-items table').waitFor();
    await page.locator('#statement-items button').first().click();
    await page.locator('#receipt dl').waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 375, height: 700 });
    assert.deepEqual(await accessibilityFaults(page), []);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    assert.equal(await page.evaluate<number>(overflow), 0);
  });

  it('opens an account step by step, and the new customer logs in', async (t) => {
    const page = await openPage(t, browser, `${url}/dev/onboarding`);
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.equal(await page.isVisible('#wizard'), false);
    await register(page);
    assert.equal(await page.isVisible('#start'), false);
    assert.equal(await page.inputValue('#cidade'), 'São Paulo');
    assert.deepEqual(await accessibilityFaults(page), []);
    for (const kind of ['1', '5', '6']) await upload(page, kind);
    for (const form of ['proposal', 'validation', 'confirmation', 'liveness', 'kyc']) {
      await page.click(`#${form} .actions button`);
      await page.locator(`#${form}:not([aria-busy])`).waitFor();
      if (form !== 'liveness') continue;
      // Once the application is decided it is not shown any more.
      const liveness = page.getByRole('link', { name: 'Open the proof of life' });
      assert.match((await liveness.getAttribute('href')) ?? '', /\/prova-vida\//);
    }
    await page.locator('#progress', { hasText: 'APPROVED' }).waitFor();
    await page.locator('#progress', { hasText: /0001 \/ \d+/ }).waitFor();
    await page.reload();
    await page.locator('#progress', { hasText: 'APPROVED' }).waitFor();

    await page.goto(`${url}/dev`);
    await page.fill('#email', 'carla@example.com');
    await page.fill('#password', 'correct horse');
    await logIn(page);
    assert.match(await page.innerText('#account'), /Carla Dias[^]*ACTIVE/);
  });

  it('lets nothing stand in the address that another CEP has filled in', async (t) => {
    const page = await openPage(t, browser, `${url}/dev/onboarding`);
    // The section is shown only with an application; its look-up works without.
    await page.evaluate('document.querySelector("#wizard").hidden = false');
    await lookUp(page, '01310-100', 'SP');
    assert.equal(await page.inputValue('#cidade'), 'São Paulo');
    await page.fill('#bairro', 'Centro');
    await lookUp(page, '99999-999', 'RS');
    assert.equal(await page.inputValue('#logradouro'), '');
    assert.equal(await page.inputValue('#cidade'), '');
    assert.equal(await page.inputValue('#bairro'), 'Centro');
    await lookUp(page, '01310-100', 'SP');
    assert.equal(await page.inputValue('#logradouro'), 'Avenida Paulista');
  });

  it('shows the reference of the API, which can be tried on this service', async (t) => {
    const page = await openPage(t, browser, `${url}/docs`);
    const login = page.locator('#operations-auth-login');
    await login.locator('.opblock-summary').click();
    const body = '{"email": "dev@ponte.test", "password": "ponte-dev-password"}';
    await login.locator('textarea.body-param__text').fill(body);
    await login.getByRole('button', { name: 'Execute' }).click();
    const answer = login.locator('.live-responses-table .response-col_status');
    await answer.filter({ hasText: '200' }).waitFor();
  });
});

/** Registers a person and gives the address, which the CEP fills in. */
async function register(page: Page): Promise<void> {
  const person = {
    name: 'Carla Dias',
    email: 'carla@example.com',
    password: 'correct horse',
    password_confirmation: 'correct horse',
    document: '529.982.247-25',
    phone: '(11) 98765-4321',
  };
  for (const [name, value] of Object.entries(person)) {
    await page.fill(`#registration [name="${name}"]`, value);
  }
  await page.click('#registration .actions button');
  await page.locator('#wizard').waitFor();
  await page.fill('#cep', '01310-100');
  await page.locator('#cep').blur();
  await page.locator('#cep-hint', { hasText: 'was filled in' }).waitFor();
  await page.fill('#numero', '1000');
  await page.click('#address .actions button');
  await page.locator('#progress', { hasText: 'address done' }).waitFor();
}

/** Types a CEP, and waits for the state that it lies in. */
async function lookUp(page: Page, cep: string, state: string): Promise<void> {
  await page.fill('#cep', cep);
  await page.locator('#cep').blur();
  await eventually(async () => (await page.inputValue('#estado')) === state, state);
}

async function upload(page: Page, kind: string): Promise<void> {
  await page.selectOption('#tipo_documento', kind);
  const buffer = pdfOf(`kind ${kind}`);
  await page.setInputFiles('#arquivo', { name: 'file.pdf', mimeType: 'application/pdf', buffer });
  const stored = await page.locator('#uploads li', { hasText: 'stored' }).count();
  await page.click('#documents .actions button');
  await page.locator('#uploads li', { hasText: 'stored' }).nth(stored).waitFor();
}

async function logIn(page: Page): Promise<void> {
  await page.click('#login button');
  await page.locator('#account dl').waitFor();
}

/** Goes on with the Tab key until what has the focus bears this name. */
async function tabTo(page: Page, name: string): Promise<void> {
  const nameOfFocused = `(() => {
    const { activeElement: it } = document;
    return it.labels?.[0]?.textContent ?? it.textContent;
  })()`;
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(nameOfFocused);
    if (focused.trim() === name) return;
  }
  assert.fail(`the keyboard does not reach ${name}`);
}
