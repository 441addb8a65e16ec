/** The development pages in a real browser, against the real service in a separate process. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startOwnService, type OwnService } from './service-process.ts';
import {
  accessibilityFaults,
  noBrowser,
  openBrowser,
  openPage,
  measureOverflow,
  scan,
} from './browser.ts';

describe('the pages of an account', { skip: noBrowser }, () => {
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

  it('logs in, sends a PIX and shows its status until it has ended', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    assert.match(await page.innerText('#account-facts'), /Pessoa de Desenvolvimento/);
    await page.locator('#balance', { hasText: /R\$\s[\d.]+,\d\d/ }).waitFor();
    const shown = await page.innerText('#balance');
    await open(page, 'send');
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    await page.locator('#send-outcome', { hasText: 'It is paid' }).waitFor();
    await page.locator('#balance').filter({ hasNotText: shown }).waitFor();
  });

  it('shows a charge as a QR code that can be scanned', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'charge');
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
    await open(page, 'send');
    await page.click('#look-up');
    await page.locator('#send-payee', { hasText: 'Recebedor de Teste' }).waitFor();
    assert.match(
      await page.innerText('#send-payee'),
      /\*\*\*\.456\.789-\*\*\s+Institution\s+GLOBAL SCM LTDA \(ISPB 11165756\)/,
    );
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
    await open(page, 'charge');
    await page.selectOption('#charge-type', 'static');
    await page.click('#charge .actions button');
    await page.locator('#charge-result textarea').waitFor();
    const code = await page.inputValue('#charge-result textarea');
    await open(page, 'send');
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
    // The button has the focus.
    await page.keyboard.press('Enter');
    await page.locator('#account dl').waitFor();
    await tabTo(page, 'Send a Pix');
    await page.keyboard.press('Enter');
    await page.locator('#send').waitFor();
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
    await open(page, 'send');
    await page.fill('#send-amount', '0,001');
    await page.fill('#send-key', '');
    await page.click('#send .actions button');
    await page.locator('#send-amount-error').waitFor();
    await page.locator('#send-key-error').waitFor();
    const focused = await page.evaluate<string>('document.activeElement.id');
    assert.equal(focused, 'send-amount');
    assert.equal(await page.inputValue('#send-amount'), '0,001');
  });

  it('says of a limit that is no amount what an amount is', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'limits');
    await page.fill('#set-limits [name="companies.night"]', '-1');
    await page.click('#set-limits .actions button');
    await page.locator('#set-limits', { hasText: 'Must be an amount in reais' }).waitFor();
  });

  it('opens what is folded up where a fault is in it', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'charge');
    await page.evaluate(`document.querySelector('#zipcode').value = '1'`);
    assert.equal(await page.isVisible('#zipcode'), false);
    await page.click('#charge .actions button');
    await page.locator('#zipcode-error').waitFor({ state: 'visible' });
    assert.equal(await page.evaluate<string>('document.activeElement.id'), 'zipcode');
  });

  it('goes to the content after a login, and keeps nothing of it after a logout', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await page.locator('#main:focus').waitFor();
    await open(page, 'send');
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    await page.click('#send-receipt button');
    await page.locator('#receipt dl').waitFor();
    await page.keyboard.press('Escape');
    await open(page, 'charge');
    await page.click('#charge .actions button');
    await page.locator('#charge-result img').waitFor();
    await open(page, 'statement');
    await page.locator('#statement-items table').waitFor();
    await open(page, 'keys');
    await page.locator('#key-list *').first().waitFor();
    await page.click('#logout');
    await page.locator('#login').waitFor();
    assert.match(await page.innerText('#login-reason'), /You are logged out/);
    for (const place of [
      'who',
      'account-facts',
      'balance',
      'overview-balance',
      'latest',
      'send-outcome',
      'send-status',
      'send-receipt',
      'charge-result',
      'statement-items',
      'receipt',
      'key-list',
    ]) {
      assert.equal(await page.textContent(`#${place}`), '', place);
    }
  });

  it('lists all transactions page by page, by their filters, and the bank’s own list', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'send');
    for (let count = 0; count < 2; count += 1) {
      await page.click('#send-new-key');
      await page.click('#send .actions button');
      await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    }
    await open(page, 'statement');
    await page.selectOption('#list-type', 'PIX_SEND');
    await page.fill('#list-limit', '0');
    await page.click('#statement .actions button');
    await page.locator('#list-limit-error', { hasText: 'at least 1' }).waitFor();
    await page.fill('#list-limit', '1');
    await page.click('#statement .actions button');
    await page.locator('#statement-items', { hasText: '1 so far.' }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    const rows = page.locator('#statement-items tbody tr', { hasText: 'payment' });
    await rows.nth(1).waitFor();
    assert.equal(await rows.count(), 2);
    await page.selectOption('#list-type', 'PIX_RECEIVED');
    await page.fill('#start_date', '2020-01-02');
    await page.fill('#end_date', '2020-01-01');
    await page.click('#statement .actions button');
    await page
      .locator('#statement .error', { hasText: /first day/ })
      .first()
      .waitFor();
    await page.fill('#end_date', '2020-01-03');
    await page.click('#statement .actions button');
    await page.locator('#statement-items', { hasText: '0 in all.' }).waitFor();
    await page.fill('#start_date', '');
    await page.fill('#end_date', '');
    await page.getByRole('button', { name: "The bank's own list" }).click();
    await page
      .locator('#statement-items tbody tr', { hasText: /payment.*CONFIRMED/ })
      .nth(1)
      .waitFor();
  });

  it('shows every column of a list in a window of any width', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'send');
    await page.fill(
      '#send-description',
      'The rent of November, for the flat in the rua das Flores',
    );
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    await open(page, 'statement');
    const row = page.locator('#statement-items tbody tr', { hasText: 'rua das Flores' }).first();
    await row.waitFor();
    await page.click('#trace-toggle');
    for (const width of [1_366, 1_440, 1_024, 700, 390]) {
      await page.setViewportSize({ width, height: 900 });
      // On a phone the requests would cover the list.
      if (width < 1_024 && (await page.isVisible('#drawer'))) await page.click('#trace-close');
      const hidden = await page.evaluate<number>(`(() => {
        const { scrollWidth, clientWidth } = document.querySelector('#statement-items .wide');
        return scrollWidth - clientWidth;
      })()`);
      assert.equal(hidden, 0, `${width}`);
      for (const shown of ['Recebedor de Teste', 'rua das Flores', 'COMPLETED', 'R$ 10,00']) {
        await row.getByText(shown).waitFor({ timeout: 5_000 });
      }
      assert.ok(await row.getByRole('button', { name: 'Receipt' }).isVisible());
      assert.equal(await row.getByRole('cell').count(), 6, 'also where its rows are no table rows');
    }
  });

  it('says how long a payment takes, and that its key is safe', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'send');
    await page.clock.install();
    const held = Promise.withResolvers<undefined>();
    await page.route('**/api/v1/pix/send', async (route) => {
      await held.promise;
      await route.continue();
    });
    const said = page.locator('#send-outcome');
    await page.click('#send .actions button');
    await said.filter({ hasText: 'Sending…' }).waitFor();
    await page.clock.runFor(2_000);
    assert.equal(await said.innerText(), 'Sending… 2 s');
    await page.clock.runFor(2_000);
    assert.match(
      await said.innerText(),
      /^Sending… 4 s\s+The bank is slow\..+same key, never pays twice/,
    );
    held.resolve(undefined);
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    assert.doesNotMatch(await said.innerText(), /slow/);
  });

  it('says that there is no such page', async (t) => {
    const page = await openPage(t, browser, `${url}/dev#/nope`);
    await page.click('#login .actions button');
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    assert.match(await page.innerText('[data-view="missing"]'), /#\/nope/);
    assert.equal(await page.isVisible('[data-view="account"]'), false);
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.locator('[data-view="missing"] a').click();
    await page.locator('#account dl').waitFor();
    assert.equal(await page.isVisible('[data-view="missing"]'), false);
  });

  it('asks for an e-mail for an e-mail key only', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'keys');
    assert.equal(await page.isVisible('#key-email'), false);
    await page.selectOption('#key_type', 'E_MAIL');
    await page.fill('#key-email', 'loja@example.com');
    await page.selectOption('#key_type', 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO');
    assert.equal(await page.isVisible('#key-email'), false);
    await page.click('#new-key .actions button');
    await page.locator('#key-list li', { hasText: 'random' }).waitFor();
    const made = page.locator('#trace li', { hasText: 'POST /api/v1/pix/keys' });
    assert.doesNotMatch((await made.locator('pre').first().textContent()) ?? '', /loja/);
  });

  it('shows the receipt of a payment, and prints nothing else', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'send');
    await page.fill('#send-amount', '1.234,56');
    const from = saoPauloHour();
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    await page.click('#send-receipt button');
    const receipt = page.locator('#receipt');
    await receipt.locator('.badge', { hasText: 'COMPLETED' }).waitFor();
    const made = await receipt.locator('dd').first().innerText();
    assert.ok([from, saoPauloHour()].includes(made.slice(0, from.length)), made);
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
    const { y } = (await receipt.boundingBox()) ?? {};
    assert.equal(y, 0, 'at the top of the paper');
    await page.emulateMedia({ media: 'screen' });
    await receipt.getByRole('button', { name: 'Close' }).click();
    await page.locator('#receipt:empty').waitFor({ state: 'attached' });
    const focused = await page.evaluate<string>('document.activeElement.textContent');
    assert.equal(focused, 'Receipt');
  });

  it('offers the scenarios of the simulated bank, and says what to do next', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'send');
    await page.click('#look-up');
    await page.locator('#send-payee', { hasText: 'Recebedor de Teste' }).waitFor();
    await page.selectOption('#send-scenario', 'notfound@ponte.test');
    assert.equal(await page.inputValue('#pix_key'), 'notfound@ponte.test');
    assert.equal(await page.inputValue('#lookup_id'), '', 'the look-up is of another key');
    await page.click('#send .actions button');
    await page.locator('#send-outcome', { hasText: 'PIX_KEY_NOT_FOUND' }).waitFor();
    assert.match(
      await page.innerText('#send-outcome'),
      /^The payment has failed.+The form has a new key/s,
    );
    await page.locator('#send-scenario-effect', { hasText: /answers 404.+this key\.$/ }).waitFor();
    await page.selectOption('#send-scenario', '');
    assert.equal(await page.innerText('#send-scenario-effect'), '');
  });

  it('shows nothing of the send before, and that one without a response may be paid', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'send');
    await page.selectOption('#send-scenario', 'fail@ponte.test');
    await page.click('#send .actions button');
    await page
      .locator('#send-outcome', { hasText: /has failed \(.+\)\. .+ The form has a new key/ })
      .waitFor();
    await page.click('#send-new-key');
    assert.equal(await page.textContent('#send-outcome'), '');
    const held = Promise.withResolvers<undefined>();
    await page.route('**/api/v1/pix/send', async (route) => {
      await held.promise;
      await route.abort();
    });
    await page.fill('#pix_key', 'bruno@example.com');
    const key = await page.inputValue('#send-key');
    await page.click('#send .actions button');
    await page.locator('#send-outcome', { hasText: 'Sending…' }).waitFor();
    assert.equal(await page.textContent('#send-status'), '');
    assert.equal(await page.isDisabled('#send-new-key'), true);
    held.resolve(undefined);
    const said = page.locator('#send-outcome', { hasText: 'It may have been paid' });
    await said.waitFor();
    assert.match(await said.innerText(), /Send again, with the same key/);
    await page.click('#send-new-key');
    assert.match(await page.innerText('#send-new-key'), /Really a new key\?/);
    assert.equal(await page.inputValue('#send-key'), key);
    await page.unroute('**/api/v1/pix/send');
    // A 429 proves nothing about the earlier payment: a new key still needs a confirmation.
    const busy = { status: 429, json: { message: 'Too many attempts.' } };
    await page.route('**/api/v1/pix/send', (route) => route.fulfill(busy), { times: 1 });
    await page.click('#send .actions button:first-child');
    await page.locator('#send-outcome', { hasText: 'Too many attempts' }).waitFor();
    await said.waitFor();
    await page.fill('#send-key', 'another');
    await page.click('#send .actions button:first-child');
    await page.locator('#send-outcome', { hasText: 'Make another payment?' }).waitFor();
    const opened = page.waitForEvent('dialog');
    await page.evaluate('void setTimeout(() => location.reload())');
    const dialog = await opened;
    assert.equal(dialog.type(), 'beforeunload');
    await dialog.dismiss();
    await page.fill('#send-key', key);
    await page.click('#send .actions button:first-child');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    assert.notEqual(await page.inputValue('#send-key'), key, 'the next payment has a new key');
  });

  it('draws a new key for another payment, and asks before it while the last is open', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'send');
    const key = await page.inputValue('#send-key');
    const send = () => page.click('#send .actions button:first-child');
    await page.fill('#send-amount', '0');
    await send();
    await page.locator('#send-amount-error').waitFor();
    assert.equal(await page.inputValue('#send-key'), key, 'a corrected payment has its key');
    await page.fill('#send-amount', '3,00');
    await page.selectOption('#send-scenario', 'slow@ponte.test');
    await send();
    await page.locator('#send-status', { hasText: 'PROCESSING' }).waitFor();
    await send();
    await page.locator('#send-outcome', { hasText: 'nothing was paid again' }).waitFor();
    await page.selectOption('#send-scenario', 'reject@ponte.test');
    await send();
    await page.locator('#send-outcome', { hasText: 'Make another payment?' }).waitFor();
    assert.equal(await page.inputValue('#send-key'), key, 'nothing was sent yet');
    await send();
    await page.locator('#send-status', { hasText: 'FAILED' }).waitFor();
    await page.locator('#send-outcome', { hasText: 'The payment has failed' }).waitFor();
    assert.notEqual(await page.inputValue('#send-key'), key);
  });

  it('gives a payment up whose request is lost: its key is closed', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'send');
    await page.route('**/api/v1/pix/send', (route) => route.abort(), { times: 1 });
    const key = await page.inputValue('#send-key');
    await page.click('#send .actions button:first-child');
    await page.getByRole('button', { name: 'Give it up' }).click();
    const said = page.locator('#send-outcome');
    await said.filter({ hasText: 'You gave this payment up, and nothing was sent.' }).waitFor();
    await page.locator('#send-status', { hasText: 'FAILED' }).waitFor();
    const fresh = await page.inputValue('#send-key');
    assert.notEqual(fresh, key);
    await page.fill('#send-key', key);
    await page.click('#send .actions button:first-child');
    await said.filter({ hasText: 'nothing was paid again' }).waitFor();
  });

  it('says that a session has ended, and keeps what was typed', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'send');
    await page.fill('#send-description', 'Rent');
    const token = await page.evaluate<string>(`sessionStorage.getItem('ponte-dev-token')`);
    await service.process.call('/auth/logout', { token, body: {} });
    await page.click('#send .actions button');
    await page.locator('#login-reason', { hasText: 'Your session has ended' }).waitFor();
    await page.click('#login .actions button');
    await page.locator('#send').waitFor();
    assert.equal(await page.inputValue('#send-description'), 'Rent');
  });

  it('plays the other side of the bank: a charge is paid, and a Pix comes', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'charge');
    await page.click('#charge .actions button');
    await page.getByRole('button', { name: 'Pay this charge' }).click();
    await page.locator('#charge-result .completed').waitFor();
    await open(page, 'bank');
    await page.fill('#bank-amount', '42,50');
    await page.click('#bank-receive button');
    await page.locator('#bank-receive .said', { hasText: 'was received' }).waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await open(page, 'statement');
    await page.locator('#statement-items tr', { hasText: /received\s*\+R\$\s42,50/ }).waitFor();
  });

  it('shows by itself what others have done: the balance, the newest and the statement', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    const receive = async (amount: string) => {
      const values = `email=dev%40ponte.test&amount=${amount}`;
      const request = { method: 'POST', headers: { 'x-ponte-bank': '1' } };
      assert.equal((await fetch(`${url}/dev/bank/receive?${values}`, request)).status, 200);
    };
    const first = await page.innerText('#balance');
    await receive('7.77');
    await page.locator('#latest tr', { hasText: /received\s*\+R\$\s7,77/ }).waitFor();
    await page.locator('#balance').filter({ hasNotText: first }).waitFor();
    assert.equal(await page.innerText('#overview-balance'), await page.innerText('#balance'));
    await open(page, 'statement');
    await page.locator('#statement-items tr', { hasText: /\+R\$\s7,77/ }).waitFor();
    await receive('8.88');
    await page.locator('#statement-items tr', { hasText: /\+R\$\s8,88/ }).waitFor();
    // A list that has the focus is not refreshed.
    await page.locator('#statement-items button').first().focus();
    const known = await page.innerText('#balance');
    await receive('9.99');
    await page.locator('#balance').filter({ hasNotText: known }).waitFor();
    assert.equal(await page.locator('#statement-items', { hasText: '9,99' }).count(), 0);
  });

  it('returns a payment from its receipt, and lists the refund', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await open(page, 'send');
    await page.fill('#send-amount', '20,00');
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'COMPLETED' }).waitFor();
    await page.click('#send-receipt button');
    const receipt = page.locator('#receipt');
    await page.fill('#return-amount', '20,01');
    await receipt.getByRole('button', { name: 'Return this payment' }).click();
    await receipt.locator('#return-amount-error', { hasText: 'more than what is left' }).waitFor();
    await page.fill('#return-amount', '4,50');
    await receipt.getByRole('button', { name: 'Return this payment' }).click();
    await receipt.locator('dl', { hasText: /Refunded\s*R\$ 4,50/ }).waitFor();
    assert.equal(await page.evaluate<string>('document.activeElement.id'), 'receipt-title');
    await page.keyboard.press('Escape');
    await open(page, 'account');
    const newest = page.locator('#latest tbody tr').first();
    await newest.filter({ hasText: /refund received\s*\+R\$ 4,50/ }).waitFor();
    await newest.getByRole('button', { name: 'Receipt' }).click();
    await receipt.locator('.badge', { hasText: 'COMPLETED' }).waitFor();
    // A refund cannot be returned; its receipt links to the receipt of the payment.
    assert.equal(await receipt.locator('form').count(), 0);
    await receipt.getByRole('button', { name: 'Receipt' }).click();
    await receipt.locator('.amount', { hasText: 'R$ 20,00' }).waitFor();
  });

  it('returns a part of a received Pix from its receipt', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    const request = { method: 'POST', headers: { 'x-ponte-bank': '1' } };
    const values = 'email=dev%40ponte.test&amount=31.50';
    assert.equal((await fetch(`${url}/dev/bank/receive?${values}`, request)).status, 200);
    const received = page.locator('#latest tr', { hasText: /received\s*\+R\$\s31,50/ });
    await received.getByRole('button', { name: 'Receipt' }).click();
    const receipt = page.locator('#receipt');
    await page.fill('#refund-amount', '31,51');
    await receipt.getByRole('button', { name: 'Return the amount' }).click();
    await receipt.locator('#refund-amount-error', { hasText: 'exceeds what is left' }).waitFor();
    await page.fill('#refund-amount', '1,50');
    await page.selectOption('#refund-reason', 'WRONG_AMOUNT');
    await receipt.getByRole('button', { name: 'Return the amount' }).click();
    await receipt.locator('dl', { hasText: /Refunded\s*R\$ 1,50/ }).waitFor();
    await page.keyboard.press('Escape');
    const newest = page.locator('#latest tbody tr').first();
    await newest.filter({ hasText: /refund sent\s*[-−–]\s*R\$ 1,50/ }).waitFor();
  });

  it('keeps every request to read, with a curl command of it', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    await logIn(page);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('#trace-toggle');
    const login = page.locator('#trace li', { hasText: 'POST /api/v1/auth/login' });
    await login.locator('summary').first().click();
    await login.getByRole('button', { name: 'Copy as curl' }).click();
    await login.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(copied, /^curl -i[^]*-X POST[^]*auth\/login'[^]*-d '\{"email"/);
  });

  it('can be used by people with a disability in each state of a view', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    const check = async (state: string) => {
      for (const [width, colorScheme] of [
        [390, 'dark'],
        [1_280, 'light'],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        const faults = await accessibilityFaults(page);
        const overflow = await measureOverflow(page);
        assert.deepEqual(
          { state, width, faults, overflow },
          { state, width, faults: [], overflow: 0 },
        );
      }
    };
    await page.fill('#password', 'wrong');
    await page.getByRole('button', { name: 'Show the password' }).click();
    await page.click('#login .actions button');
    await page.locator('#login .error').waitFor();
    await check('a refused login');
    await page.fill('#password', 'ponte-dev-password');
    await logIn(page);
    await open(page, 'send');
    await page.fill('#send-amount', '1.234');
    await page.fill('#pix_key', 'nobody');
    await page.click('#send .actions button');
    await page.locator('#send-amount-error', { hasText: 'such as 1.234,56' }).waitFor();
    await check('errors of fields');
    await page.fill('#send-amount', '1,00');
    assert.equal(await page.locator('#send-amount-error').count(), 0);
    await page.selectOption('#send-scenario', 'slow@ponte.test');
    await page.click('#look-up');
    await page.locator('#send-payee dl').waitFor();
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'PROCESSING' }).waitFor();
    await check('a payment under way');
    await page.click('#send-new-key');
    await page.click('#send-new-key');
    await page.selectOption('#send-scenario', 'fail@ponte.test');
    await page.click('#send .actions button');
    await page.locator('#send-status', { hasText: 'FAILED' }).waitFor();
    await page.locator('#send-outcome', { hasText: 'bank refused the payment' }).waitFor();
    assert.equal(await page.innerText('#send-receipt'), 'Details', 'it is no receipt');
    await check('a failed payment');
    await page.click('#send-receipt button');
    await page.locator('#receipt dl').waitFor();
    await check('the receipt of a failed payment');
    await page.keyboard.press('Escape');
    await open(page, 'charge');
    await page.click('#charge summary');
    await page.click('#add-datum');
    await page.fill('#datum-name-1', 'order');
    await page.click('#charge .actions button');
    await page.locator('#datum-value-1, #charge-result img, #charge .error').last().waitFor();
    await page.fill('#datum-value-1', '42');
    await page.click('#charge .actions button');
    await page.locator('#charge-result img').waitFor();
    await check('a charge with all its fields');
    await page.getByRole('button', { name: 'Pay this charge' }).first().click();
    await page.locator('#charge-result', { hasText: 'The charge is paid.' }).waitFor();
    await check('a paid charge');
    await open(page, 'bank');
    await page.fill('#bank-code', 'x');
    await page.click('#bank-pay button');
    await page.locator('#bank-code-error').waitFor();
    await page.click('#bank-receive button');
    await page.locator('#bank-receive .said', { hasText: 'was received' }).waitFor();
    await check('what the bank says');
    await open(page, 'statement');
    await page.getByRole('button', { name: "The bank's own list" }).click();
    await page.locator('#statement-items caption', { hasText: 'own list' }).waitFor();
    await check("the bank's own list");
    await page.fill('#start_date', '2020-01-01');
    await page.fill('#end_date', '2020-01-02');
    await page.click('#statement .actions button');
    await page.locator('#statement-items .empty').waitFor();
    await check('an empty statement');
    await open(page, 'keys');
    await page.click('#new-key .actions button');
    await page.locator('#key-list li button').first().click();
    await check('a key that may be deleted');
    await page.click('#logout');
    await page.locator('#login-reason', { hasText: 'logged out' }).waitFor();
    await check('logged out');
  });

  it('can be used by people with a disability, light, dark and on a phone', async (t) => {
    const page = await openPage(t, browser, `${url}/dev`);
    assert.deepEqual(await accessibilityFaults(page), []);
    await logIn(page);
    await page.click('#trace-toggle');
    for (const request of await page.locator('#trace > li > details > summary').all()) {
      await request.click();
    }
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1_280, 390]) {
        await page.setViewportSize({ width, height: 700 });
        for (const view of ['account', 'send', 'charge', 'statement', 'limits', 'keys', 'bank']) {
          await page.goto(`${url}/dev#/${view}`);
          await page.locator(`[data-view="${view}"]:not([hidden])`).waitFor();
          const found = { colorScheme, width, view, faults: await accessibilityFaults(page) };
          assert.deepEqual(found, { colorScheme, width, view, faults: [] });
          assert.equal(await measureOverflow(page), 0, view);
        }
      }
    }
  });
});

/** @returns the current hour in São Paulo, such as `24/11/2026 09`. */
function saoPauloHour(): string {
  const zone = { timeZone: 'America/Sao_Paulo', hourCycle: 'h23' } as const;
  return new Date().toLocaleString('pt-BR', zone).replace(',', '').slice(0, 13);
}

/** Opens a view of the page by its link. */
async function open(page: Page, view: string): Promise<void> {
  await page.click(`nav a[href="/dev#/${view}"]`);
  await page.locator(`[data-view="${view}"]:not([hidden])`).waitFor();
}

async function logIn(page: Page): Promise<void> {
  await page.click('#login .actions button');
  await page.locator('#account dl').waitFor();
}

/** Presses Tab until the focused element has this name. */
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
