/** The onboarding wizard, in which each step queues a job that calls the provider. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { cpfCheckDigits } from '../../src/domain/tax-id.ts';
import { startOwnService, type OwnService } from './service-process.ts';
import { pdfOfSize } from '../support/documents.ts';
import { eventually } from '../support/eventually.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';

describe('the wizard, where the provider opens accounts', { skip: noBrowser }, () => {
  let service: OwnService;
  let browser: Browser;
  let url: string;

  before(async () => {
    const settings = { ONBOARDING_LOCAL_ONLY: 'false', UPLOAD_MAX_BYTES: '2048' };
    [service, browser] = await Promise.all([startOwnService(settings), openBrowser()]);
    ({ url } = service);
  });

  after(async () => {
    await browser.close();
    await service.stop();
  });

  it('shows what jobs have done by itself, and then rests', async (t) => {
    const page = await openPage(t, browser, `${url}/dev/onboarding`);
    await register(page);
    await page.locator('#steps', { hasText: 'registration done' }).waitFor();
    await openStep(page, 'proposal');
    await page.click('#proposal .actions button');
    await page.locator('#steps', { hasText: 'proposal done' }).waitFor();
    await openStep(page, 'address');
    await giveRest(page);
    await page.locator('#progress', { hasText: 'UNDER_ANALYSIS' }).waitFor();
    await openStep(page, 'kyc');
    for (let presses = 0; presses < 3; presses += 1) {
      await page.click('#kyc .actions button');
      await page.locator('#kyc:not([aria-busy])').waitFor();
    }
    await page.locator('#steps', { hasText: 'decision queued' }).waitFor();
    const requests = await page.locator('#trace li').count();
    // Twice the time until the page would first poll.
    await page.waitForTimeout(1_000);
    assert.equal(
      await page.locator('#trace li').count(),
      requests,
      'a pending decision is left alone',
    );
  });

  it('keeps the file of an upload that was refused, and says how large it may be', async (t) => {
    const page = await openPage(t, browser, `${url}/dev/onboarding`);
    await register(page);
    await openStep(page, 'documents');
    const count = () => page.evaluate<number>(`document.querySelector('#arquivo').files.length`);
    await choose(page, 4_000);
    await page.click('#documents .actions button');
    await page.locator('#documents .error', { hasText: 'at most 2 kB' }).waitFor();
    assert.equal(await page.locator('#uploads progress').isVisible(), false, 'no full bar');
    assert.equal(await count(), 1);
    await choose(page, 1_000);
    await page.click('#documents .actions button');
    await page.locator('#uploads li', { hasText: 'stored' }).waitFor();
    // An empty field of files has an empty value.
    await eventually(async () => (await page.inputValue('#arquivo')) === '', 'no chosen file');
  });

  it('reads an amount as people write it', async (t) => {
    const page = await openPage(t, browser, `${url}/dev/onboarding`);
    await register(page);
    await openStep(page, 'proposal');
    await page.fill('#valor_solicitado', '1.010,50');
    await page.click('#proposal .actions button');
    const sent = page.locator('#trace li', { hasText: '/proposal' });
    await sent.waitFor({ state: 'attached' });
    assert.match((await sent.locator('pre').first().textContent()) ?? '', /solicitado": 1010\.5/);
  });
});

let born = 0;

/** Registers a new person, whose application the bank never decides. */
async function register(page: Page): Promise<void> {
  born += 1;
  const base = String(200_000_000 + born * 7_919);
  const person = {
    name: 'Davi Rocha',
    email: `davi${born}@example.com`,
    password: 'correct horse',
    password_confirmation: 'correct horse',
    document: base + cpfCheckDigits(base),
  };
  for (const [name, value] of Object.entries(person)) {
    await page.fill(`#registration [name="${name}"]`, value);
  }
  await page.selectOption('#phone-scenario', 'ending in 3');
  assert.equal(await page.inputValue('#phone'), '+55 11 98765-4323');
  await page.click('#registration .actions button');
  await page.locator('#wizard').waitFor();
}

async function giveRest(page: Page): Promise<void> {
  const address = {
    cep: '01310-100',
    logradouro: 'Avenida Paulista',
    numero: '1000',
    bairro: 'Bela Vista',
    cidade: 'São Paulo',
    estado: 'SP',
  };
  for (const [name, value] of Object.entries(address)) await page.fill(`#${name}`, value);
  await page.click('#address .actions button');
  await openStep(page, 'documents');
  for (const kind of ['1', '5', '6']) {
    await page.selectOption('#tipo_documento', kind);
    await choose(page, 1_000 + Number(kind));
    const stored = await page.locator('#uploads li', { hasText: 'stored' }).count();
    await page.click('#documents .actions button');
    const next = page.locator('#uploads li', { hasText: 'stored' }).nth(stored);
    await next.waitFor({ state: 'attached' });
  }
  // The proposal is made already: the wizard goes on by itself to the next step.
  await page.locator('[data-step="electronic_validation"]:not([hidden])').waitFor();
  for (const [form, step] of [
    ['validation', 'electronic_validation'],
    ['confirmation', 'electronic_validation_confirm'],
    ['liveness', 'prova_vida'],
  ] as const) {
    await openStep(page, step);
    await page.click(`#${form} .actions button`);
    await page.locator(`#${form}:not([aria-busy])`).waitFor({ state: 'attached' });
  }
}

/** Opens a step of the wizard by its button. */
function openStep(page: Page, name: string): Promise<void> {
  return page.click(`[data-opens="${name}"]`);
}

function choose(page: Page, bytes: number): Promise<void> {
  const buffer = pdfOfSize(bytes);
  const file = { name: 'file.pdf', mimeType: 'application/pdf', buffer };
  return page.setInputFiles('#arquivo', file);
}
