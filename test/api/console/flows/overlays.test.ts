/** What is shown over a screen, and what only the simulated bank does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestApp } from '../../../support/app.ts';
import { eventually } from '../../../support/eventually.ts';
import { givenCustomer, password, type TestUser } from '../../../support/factories.ts';
import { passUntil } from '../../../support/passing-time.ts';
import { openScreen, type Screen } from '../screen.ts';

const app = await startTestApp({ environment: { APP_ENV: 'local' } });

/** Opens the console, and logs the customer in. */
async function logIn({ email }: TestUser, copied: string[] = []): Promise<Screen> {
  const screen = await openScreen({
    url: app.url,
    rows: 40,
    columns: 100,
    copy: (text) => void copied.push(text),
    login: { email, password },
  });
  await screen.type('l');
  await screen.until('E-mail *');
  await screen.press('ctrl+s');
  await screen.until('Send a Pix');
  return screen;
}

describe('over a screen', () => {
  it('the keys are shown, except while a text is typed', async () => {
    const screen = await openScreen({ url: app.url, rows: 30 });
    await screen.type('?');
    await screen.until('Ponte › keys');
    await screen.until('the last request as a curl command');
    await screen.type('x');
    await screen.until('Ponte › home');
    await screen.type('l');
    await screen.until('E-mail *');
    await screen.type('?');
    await screen.until(/› E-mail \* +\?/);
  });

  it('the last request is shown as a curl command without secrets, and copied', async () => {
    const copied: string[] = [];
    const user = await givenCustomer(app);
    const screen = await logIn(user, copied);
    await screen.type('p');
    await screen.fill({ 'Pix key': 'nobody', Amount: '1' });
    await screen.press('ctrl+s');
    await screen.until('This is not a Pix key');
    await screen.press('ctrl+t');
    await screen.until(/curl -i -X POST 'http:[^]+pix\/send'[^]+422[^]+"errors"/);
    assert.ok(!screen.text.includes(app.context.config.jwt.issuer));
    await screen.type('y');
    await screen.until('Copied');
    assert.match(copied.join(''), /Bearer \$token"[^]+-d '\{"pix_key":"nobody","amount":1\}'/);
    await screen.press('escape');
    // The screen below is as it was.
    await screen.until(/Pix key \* +nobody/);
    await screen.until('This is not a Pix key');
  });
});

describe('a wide window', () => {
  it('has the latest transactions beside the home screen, and no screen too wide', async () => {
    const user = await givenCustomer(app);
    const body = { pix_key: 'ana@example.com', amount: 10 };
    await app.call('/pix/send', { token: user.token, key: 'lunch', body });
    const screen = await logIn(user);
    assert.ok(!screen.text.includes('latest transactions'));
    screen.resize(120, 24);
    await screen.until(
      /Ponte › home[^\n]+│ latest transactions\n[^]+│ +\d\d\/\d\d \d\d:\d\d +-R\$ 10,00/,
    );
    screen.resize(119, 24);
    await screen.until((text) => !text.includes('│'));
  });

  it('has the last request beside a screen, which goes on when the window changes', async () => {
    const screen = await logIn(await givenCustomer(app));
    await screen.type('p');
    await screen.fill({ 'Pix key': 'nobody', Amount: '1' });
    screen.resize(130, 30);
    await screen.until(/› Amount in R\$ \* +1 +│/);
    await screen.press('ctrl+s');
    await screen.until(/This is not a Pix key[^]+│ +422/);
    await screen.until(/│ +'http:[^]+pix\/send'/);
    screen.resize(80, 30);
    await screen.until((text) => !text.includes('│') && text.includes('This is not a Pix key'));
    await screen.press('escape');
    await screen.until('Ponte › home');
  });
});

describe('a list', () => {
  it('has the whole window, also where it is wide', async () => {
    const screen = await logIn(await givenCustomer(app));
    screen.resize(130, 30);
    await screen.until('latest transactions');
    for (const key of ['s', 't']) {
      await screen.type(key);
      await screen.until(/There are no/);
      assert.ok(!screen.text.includes('│'));
      await screen.press('escape');
      await screen.until('latest transactions');
    }
  });

  it('is narrowed by what is typed after a slash, and whole again after esc', async () => {
    const user = await givenCustomer(app);
    for (const [key, pix] of [
      ['one', 'ana@example.com'],
      ['two', 'notfound@ponte.test'],
    ] as const) {
      const body = { pix_key: pix, amount: 1 };
      await app.call('/pix/send', { token: user.token, key, body });
    }
    const screen = await logIn(user);
    await screen.type('s');
    await screen.until('1 of 2');
    await screen.type('/recebedor?');
    await screen.until('There are no items.');
    await screen.press('backspace', 'enter');
    await screen.until(/\/recebedor[^]+Recebedor[^]+1 of 1/);
    await screen.press('enter');
    await screen.until(/pix key +ana@example\.com/);
    await screen.press('escape');
    await screen.until('2 of 2');
    await screen.type('/failed');
    await screen.until('1 of 1');
    await screen.press('escape');
    await screen.until('1 of 2');
  });
});

describe('a dispute', () => {
  it('is opened from the receipt of a payment, and withdrawn after a question', async () => {
    const screen = await logIn(await givenCustomer(app));
    await screen.type('p');
    await screen.fill({ 'Pix key': 'dispute-pending@ponte.test', Amount: '10' });
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    await passUntil(app.clock, screen.until('COMPLETED'));
    await screen.press('ctrl+r');
    await screen.until('d contest this payment');
    await screen.type('d');
    await screen.until('The payment is not contested.');
    await screen.type('c');
    await screen.until('What happened');
    await screen.fill({ Details: 'The seller does not exist.' });
    await screen.press('ctrl+s');
    await screen.until(/Dispute: OPEN\n[^]*situation +deceived into sending it/);
    await screen.type('w');
    await screen.until('Withdraw the dispute?');
    await screen.type('y');
    await screen.until('Dispute: WITHDRAWN');
    await screen.press('escape');
    await screen.until(/Ponte › receipt/);
    screen.close();
  });
});

describe('beside the simulated bank', () => {
  it('a payment is returned by a key on its receipt, and listed with its sign', async () => {
    const user = await givenCustomer(app);
    const screen = await logIn(user);
    await screen.type('p');
    await screen.fill({ 'Pix key': 'ana@example.com', Amount: '10' });
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    await screen.press('ctrl+r');
    await screen.until('no proof of a payment');
    assert.ok(!screen.text.includes('b the bank returns it'), 'it is not paid yet');
    await screen.press('escape');
    await passUntil(app.clock, screen.until('COMPLETED'));
    await screen.press('ctrl+r');
    await screen.until('b the bank returns it');
    await screen.type('b');
    await screen.until('The bank has done it.');
    const isRefunded = async (): Promise<boolean> => {
      const { body } = await app.call('/pix?type=PIX_REFUND_IN', { token: user.token });
      return (body as { items: unknown[] }).items.length === 1;
    };
    await eventually(isRefunded, 'the refund');
    await screen.type('r');
    await screen.until(/refunded +R\$ 10,00/);
    assert.ok(!screen.text.includes('b the bank returns it'), 'nothing is left to return');
    await screen.press('escape', 'escape');
    await screen.until('Ponte › home');
    await screen.type('s');
    await screen.until(/PIX_REFUND_IN +R\$ 10,00[^]+PIX_SEND +-R\$ 10,00/);
    await screen.press('enter');
    await screen.until(/type +PIX_REFUND_IN\n amount +R\$ 10,00/);
    await screen.type('v');
    await screen.until('Pix refund to you: R$ 10,00');
    assert.ok(!screen.text.includes('b the bank returns it'), 'a refund is not returned');
  });

  it('a scenario is picked for the form, which keeps what was typed', async () => {
    const screen = await logIn(await givenCustomer(app));
    await screen.type('p');
    await screen.fill({ Amount: '7' });
    await screen.press('ctrl+p');
    await screen.until(/› notfound@ponte\.test +the DICT look-up answers 404/);
    await screen.press('escape');
    await screen.until(/Pix key \* +–[^]+ 7/);
    await screen.press('ctrl+p');
    await screen.until('ratelimited@ponte.test');
    await screen.press('down', 'enter');
    await screen.until(/Pix key \* +ratelimited@ponte\.test[^]+ 7/);
    await screen.press('ctrl+s');
    await screen.until('PROVIDER_RATE_LIMITED');
  });

  it('a phone is picked for an application', async () => {
    const screen = await logIn(await givenCustomer(app));
    await screen.type('n');
    await screen.until('Password again');
    await screen.press('ctrl+p');
    await screen.until(/› \+55 11 98765-4322 +KYC rejects/);
    await screen.press('enter');
    await screen.until(/Phone \* +\+55 11 98765-4322/);
  });

  it('a charge is paid by a key, and the home screen shows the balance', async () => {
    const copied: string[] = [];
    const screen = await logIn(await givenCustomer(app), copied);
    await screen.until('R$ 10.000,00');
    await screen.type('c');
    await screen.fill({ Amount: '25' });
    await screen.press('ctrl+s');
    await screen.until('b pay it (simulated bank)');
    await screen.type('y');
    await screen.type('b');
    await screen.until('COMPLETED');
    assert.match(copied.join(''), /^000201/);
    await screen.press('escape', 'escape');
    await screen.until('R$ 10.025,00');
  });
});
