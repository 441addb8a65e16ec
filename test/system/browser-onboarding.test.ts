/** The onboarding in a real browser, against the real service. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startOwnService, type OwnService } from './service-process.ts';
import { makePdf } from '../support/documents.ts';
import { eventually } from '../support/eventually.ts';
import {
  accessibilityFaults,
  noBrowser,
  openBrowser,
  openPage,
  measureOverflow,
} from './browser.ts';

describe('the onboarding', { skip: noBrowser }, () => {
  let service: OwnService;
  let browser: Browser;
  let url: string;

  before(async () => {
    [service, browser] = await Promise.all([startOwnService(), openBrowser()]);
    ({ url } = service);
  });

  after(async () => {
    await browser.close();
    await service.stop();
  });

  it('opens an account step by step, and the new customer logs in', async (t) => {
    const page = await openPage(t, browser, `${url}/dev/onboarding`);
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.equal(await page.isVisible('#wizard'), false);
    await register(page);
    assert.equal(await page.isVisible('#start'), false);
    assert.equal(await page.inputValue('#cidade'), 'São Paulo');
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.click('[data-opens="electronic_validation_confirm"]');
    assert.equal(await page.isVisible('#confirmation'), false, 'no code was requested');
    await page.click('#to-request');
    assert.equal(await page.isVisible('#validation'), true);
    await checkSteps(page);
    await page.click('[data-opens="documents"]');
    for (const kind of ['1', '5', '6']) await upload(page, kind);
    for (const form of ['proposal', 'validation']) await page.click(`#${form} .actions button`);
    await page.fill('#codigo', 'abc123');
    await page.click('#confirmation .actions button');
    await page.click('[data-opens="kyc"]');
    await page.click('#kyc .actions button');
    await page.locator('#kyc-said', { hasText: 'Still missing: proof of life.' }).waitFor();
    await page.click('[data-opens="prova_vida"]');
    await page.click('#liveness .actions button');
    // The section is hidden once the application is decided, so read the attribute, not the screen.
    const liveness = page.getByRole('link', { name: 'Open the proof of life' });
    assert.match((await liveness.getAttribute('href')) ?? '', /\/prova-vida\//);
    await page.click('#to-decision');
    await page.click('#kyc .actions button');
    await page.locator('#progress', { hasText: 'APPROVED' }).waitFor();
    await page.locator('#decided', { hasText: /0001 \/ \d+ is open/ }).waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.reload();
    await page.locator('#progress', { hasText: 'APPROVED' }).waitFor();

    await page.getByRole('link', { name: 'Log in now' }).click();
    await page.waitForURL('**/dev#/account');
    await page.locator('#login-reason', { hasText: 'The account is open' }).waitFor();
    assert.equal(await page.inputValue('#email'), 'carla@example.com');
    assert.equal(await page.evaluate<string>('document.activeElement.id'), 'password');
    await page.fill('#password', 'correct horse');
    await logIn(page);
    assert.match(await page.innerText('#account'), /Carla Dias[^]*ACTIVE/);
  });

  it('lets nothing stand in the address that another CEP has filled in', async (t) => {
    const page = await openPage(t, browser, `${url}/dev/onboarding`);
    // Only the display of the section needs an application; its CEP look-up does not.
    await page.evaluate(`
      for (const part of document.querySelectorAll('#wizard, [data-step="address"]')) {
        part.hidden = false;
      }`);
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
});

/** Checks each step in light and dark mode, and on a phone. */
async function checkSteps(page: Page): Promise<void> {
  const steps = await page.evaluate<string[]>(
    `[...document.querySelectorAll('[data-opens]')].map((button) => button.dataset.opens)`,
  );
  for (const [width, colorScheme] of [
    [390, 'dark'],
    [1_280, 'light'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    for (const step of steps) {
      await page.click(`[data-opens="${step}"]`);
      assert.deepEqual(await accessibilityFaults(page), [], step);
      assert.equal(await measureOverflow(page), 0, step);
    }
  }
}

/** Registers a person and submits the address, which the CEP fills in. */
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
  await page.locator('#steps', { hasText: 'address done' }).waitFor();
}

/** Types a CEP, and waits until its state is filled in. */
async function lookUp(page: Page, cep: string, state: string): Promise<void> {
  await page.fill('#cep', cep);
  await page.locator('#cep').press('Tab');
  await eventually(async () => (await page.inputValue('#estado')) === state, state);
}

async function upload(page: Page, kind: string): Promise<void> {
  await page.selectOption('#tipo_documento', kind);
  const buffer = makePdf(`kind ${kind}`);
  await page.setInputFiles('#arquivo', { name: 'file.pdf', mimeType: 'application/pdf', buffer });
  const stored = await page.locator('#uploads li', { hasText: 'stored' }).count();
  await page.click('#documents .actions button');
  // The last document opens the next step, which hides the list: do not wait for visibility.
  const next = page.locator('#uploads li', { hasText: 'stored' }).nth(stored);
  await next.waitFor({ state: 'attached' });
}

async function logIn(page: Page): Promise<void> {
  await page.click('#login .actions button');
  await page.locator('#account dl').waitFor();
}
