/** The API reference in a real browser, against the real service in a separate process. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { startOwnService, type OwnService } from './service-process.ts';
import {
  accessibilityFaults,
  noBrowser,
  openBrowser,
  openPage,
  measureOverflow,
} from './browser.ts';

describe('the reference of the API', { skip: noBrowser }, () => {
  let service: OwnService;
  let browser: Browser;
  let docs: string;

  before(async () => {
    [service, browser] = await Promise.all([startOwnService(), openBrowser()]);
    docs = `${service.url}/docs`;
  });

  after(async () => {
    await browser.close();
    await service.stop();
  });

  it('says first how to pay safely, at every width, in light and dark', async (t) => {
    const page = await openPage(t, browser, docs);
    const heading = page.getByRole('heading', { name: 'Pay safely' }).first();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1_440, 390]) {
        const name = `${colorScheme} ${width}`;
        await page.setViewportSize({ width, height: 900 });
        await page.reload();
        await heading.waitFor();
        assert.ok(((await heading.boundingBox())?.y ?? Infinity) < 600, name);
        const advice = page.locator('td', { hasText: 'the customer decides to pay again' });
        const box = await advice.first().boundingBox();
        assert.ok(box !== null && box.x + box.width <= width && box.width > 150, name);
        assert.deepEqual(await accessibilityFaults(page), [], name);
        assert.equal(await measureOverflow(page), 0, name);
      }
    }
    await page.getByText('show the list of payments').first().waitFor();
    await page.getByRole('link', { name: 'Development pages' }).click();
    await page.locator('#login').waitFor();
  });

  it('finds an operation by a word', async (t) => {
    const page = await openPage(t, browser, docs);
    await page.getByRole('button', { name: /Search/ }).click();
    await page.keyboard.type('receipt');
    await page.getByRole('option', { name: 'The receipt of a Pix' }).first().waitFor();
  });

  it('has samples for the terminal, JavaScript, Kotlin and Swift', async (t) => {
    const page = await openPage(t, browser, `${docs}#tag/pix/POST/pix/send`);
    await page.getByRole('button', { name: /Curl/ }).first().click();
    const options = page.getByRole('option');
    await options.first().waitFor();
    assert.deepEqual((await options.allTextContents()).sort(), [
      'Curl',
      'Fetch',
      'NSURLSession',
      'OkHttp',
    ]);
  });

  it('keeps the login over a reload, and has its button on a phone', async (t) => {
    const page = await openPage(t, browser, `${docs}#tag/accounts/GET/accounts/me`);
    await page.setViewportSize({ width: 390, height: 900 });
    const { x, width } = (await page.locator('#log-in').boundingBox()) ?? assert.fail();
    assert.ok(x >= 0 && x + width <= 390);
    await logIn(page);
    await page.reload();
    await loggedIn(page).waitFor();
    const response = await send(page, 'get /accounts/me');
    assert.equal(response.status(), 200);
    await page.reload();
    await page.click('#log-out');
    assert.equal((await send(page, 'get /accounts/me')).status(), 401);
  });

  it('says that its login has no answer', async (t) => {
    const page = await openPage(t, browser, docs);
    await page.route('**/auth/login', (route) => route.abort());
    await page.click('#log-in');
    await page.locator('#session', { hasText: 'did not answer' }).waitFor();
  });

  it('takes the token of a login that is sent, and forgets it with the logout', async (t) => {
    const page = await openPage(t, browser, `${docs}#tag/auth/POST/auth/login`);
    assert.equal((await send(page, 'post /auth/login')).status(), 200);
    await loggedIn(page).waitFor();
    await page.goto(`${docs}#tag/auth/POST/auth/logout`);
    await page.reload();
    assert.equal((await send(page, 'post /auth/logout')).status(), 200);
    await page.locator('#session', { hasText: /^Not logged in/ }).waitFor();
  });

  it('pays with the key that it shows, until a person asks for a new one', async (t) => {
    const page = await openPage(t, browser, `${docs}#tag/pix/POST/pix/send`);
    await logIn(page);
    await open(page, 'post /pix/send');
    const key = page.locator('.scalar-client tr#Idempotency-Key [contenteditable]').last();
    const pay = async () => {
      const response = await sendOpened(page, 'post');
      assert.equal(response.status(), 200);
      assert.equal(response.request().headers()['idempotency-key'], await key.textContent());
      return ((await response.json()) as { transaction_id: string }).transaction_id;
    };
    const first = await pay();
    assert.equal(await pay(), first, 'the same key is the same payment');
    const shown = (await key.textContent()) ?? assert.fail();
    await page.getByRole('button', { name: 'New key', exact: true }).click();
    await key.filter({ hasNotText: shown }).waitFor();
    assert.notEqual(await pay(), first, 'another key is another payment');
    assert.deepEqual(await accessibilityFaults(page), []);
  });

  it('begins requests with values that find what was paid', async (t) => {
    const page = await openPage(t, browser, `${docs}#tag/pix/POST/pix/send`);
    await logIn(page);
    const paid = await send(page, 'post /pix/send');
    const { transaction_id: id } = (await paid.json()) as { transaction_id: string };
    await page.goto(`${docs}#tag/pix/GET/pix`);
    await page.reload();
    const list = await send(page, 'get /pix');
    assert.match(await list.text(), new RegExp(id));
    await page.goto(`${docs}#tag/pix/GET/pix/{transactionId}`);
    await page.reload();
    const one = await send(page, 'get /pix/{transactionId}');
    assert.match(await one.text(), new RegExp(id));
    await page.goto(`${docs}#tag/accounts/GET/accounts/statement`);
    await page.reload();
    const statement = await send(page, 'get /accounts/statement');
    assert.equal(new URL(statement.url()).search, '');
    assert.match(await statement.text(), new RegExp(id));
  });
});

async function logIn(page: Page): Promise<void> {
  await page.click('#log-in');
  await loggedIn(page).waitFor();
}

function loggedIn(page: Page): Locator {
  return page.locator('#session', { hasText: /^Logged in/ });
}

/** Opens the form of an operation, such as `get /pix`, and sends what it begins with. */
async function send(page: Page, operation: string) {
  await open(page, operation);
  return sendOpened(page, operation.split(' ')[0] ?? '');
}

async function open(page: Page, operation: string): Promise<void> {
  await page.getByRole('button', { name: `Test Request (${operation})`, exact: true }).click();
}

async function sendOpened(page: Page, method: string) {
  const button = page.getByRole('button', { name: new RegExp(`Send ${method} request`) }).last();
  const answered = page.waitForResponse(
    (response) =>
      response.url().includes('/api/v1/') && response.request().method() === method.toUpperCase(),
  );
  await button.click();
  return answered;
}
