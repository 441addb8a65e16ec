/** Every screen as a user sees it, at the smallest window and at wide ones. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { givenCustomer, password, type TestUser } from '../../support/factories.ts';
import { passUntil } from '../../support/passing-time.ts';
import { consoleFor, lastingTokens } from './customers.ts';
import { openScreen } from './screen.ts';

const app = await startTestApp({ environment: lastingTokens });
const noOperator = async (): Promise<string> => '{}';

const openFor = consoleFor(app);

let ana: TestUser;

before(async () => {
  ana = await givenCustomer(app, { name: 'Ana Souza', document: '52998224725' });
});

describe('at first', () => {
  it('one sees where one is, where one can go, and which keys lead there', async () => {
    const screen = await openScreen({ url: app.url, operate: noOperator });
    const host = new URL(app.url).host;
    assert.deepEqual(screen.lines.filter(Boolean), [
      ` Ponte › home               not logged in · ${host}`,
      ' › l  Log in',
      '   n  Onboarding: open an account',
      '   o  Operator: queue, payments, reconciliation',
      ' ↑↓ choose · enter open · or its letter · ? keys · q quit',
    ]);
  });

  it('a notice says when no service answers, and a retry is possible', async () => {
    const screen = await openScreen({ url: 'http://127.0.0.1:1' });
    await screen.until(/No Ponte answers at http:\/\/127\.0\.0\.1:1\. Start the/);
    await screen.type('r');
    await screen.until('r try again');
  });

  it('the login says what is wrong with it, at its fields', async () => {
    const screen = await openScreen({ url: app.url });
    await screen.type('l');
    await screen.until('E-mail *');
    await screen.fill({ 'E-mail': 'ana@' });
    await screen.press('ctrl+s');
    await screen.until(/› Password \*\s+The field is required\./);
    await screen.fill({ Password: 'hunter2' });
    await screen.press('ctrl+s');
    await screen.until(/› E-mail \* +ana@\n +The value must be an e-mail address\./);
    await screen.fill({ 'E-mail': 'nobody@example.com', Password: 'hunter2' });
    await screen.focus('[ Log in ]');
    await screen.press('enter');
    await screen.until('The e-mail or the password is wrong.');
    assert.match(screen.text, /nobody@example\.com.*\n.*(?:e-mail|password)/);
    assert.ok(!screen.text.includes('hunter2'), 'the password is not shown');
  });
});

describe('every screen', () => {
  const titles = {
    b: 'balance',
    s: 'statement',
    p: 'send a Pix',
    c: 'charge',
    m: 'limits',
    k: 'Pix keys',
    n: 'onboarding',
    o: 'operator',
  } as const;

  /** Goes through all of them in a window of this size. */
  async function walk(columns: number, rows: number): Promise<void> {
    const screen = await openFor(ana, { columns, rows, operate: noOperator });
    assert.match(screen.text, /Name +Ana Souza/);
    assert.match(screen.text, /Account +.+ · ACTIVE/);
    assert.match(screen.text, /x {2}Log out/);
    for (const [key, title] of Object.entries(titles)) {
      await screen.type(key);
      await screen.until(`Ponte › ${title}`);
      await screen.until((text) => text.includes('esc back') && !text.includes(' …'));
      assert.equal(screen.lines.length, rows, title);
      const widest = Math.max(...screen.lines.map((line) => [...line].length));
      assert.ok(widest <= columns, `${title} has ${widest} columns`);
      await screen.press('escape');
      await screen.until('Ponte › home');
    }
    screen.close();
  }

  it('fits the smallest window, has its keys below, and leads back', () => walk(60, 20));

  it('fits a wide window', () => walk(140, 50));

  it('is not shown, and takes no key, where the window is too small', async () => {
    const screen = await openFor(ana);
    screen.resize(59, 20);
    await screen.until(/needs a window of 60×20/);
    await screen.type('p');
    screen.resize(60, 20);
    await screen.until('Ponte › home');
    screen.close();
  });
});

describe('the balance', () => {
  it('is shown with its source, and is the last one known when the bank is silent', async () => {
    const customer = await givenCustomer(app, { email: 'offline@ponte.test' });
    const screen = await openFor(customer);
    await screen.type('b');
    await passUntil(app.clock, screen.until('The balance is not available right now'));
    await app.rows(
      'update accounts set balance = 12.5, balance_read_at = now() where user_id = $1',
      [customer.id],
    );
    await screen.type('r');
    await passUntil(app.clock, screen.until(/R\$ 12,50\n.*Source: local\./));
    screen.close();
    const other = await openFor(ana);
    await other.type('b');
    await other.until(/R\$ 10\.000,00\n.*Source: provider\./);
    other.close();
  });

  it('is shown with its blocked part', async () => {
    const screen = await openFor(await givenCustomer(app, { email: 'blocked@ponte.test' }));
    await screen.type('b');
    await screen.until(/R\$ 10\.000,00\n.*Of which R\$ 1\.000,00 is blocked by the bank\./);
    screen.close();
  });
});

describe('the limits', () => {
  it('are shown, and less applies at once', async () => {
    const screen = await openFor(await givenCustomer(app));
    await screen.type('m');
    await screen.until(/By day, from 6:00.*\n.*Left +no limit/);
    await screen.type('c');
    await screen.until('By night');
    await screen.fill({ 'By day': '500', 'By night': '1.234,56', 'Your password': password });
    await screen.press('ctrl+s');
    await screen.until('Less applies now, more after 24 hours.');
    await screen.until(/Left +R\$ 500,00 of R\$ 500,00/);
    await screen.until(/Own +R\$ 1\.234,56/);
    screen.close();
  });
});

describe('the colours', () => {
  it('are there, and with NO_COLOR there are none, and nothing is lost', async () => {
    const [coloured, plain] = await Promise.all([
      openFor(ana, { hasColours: true }),
      openFor(ana, { hasColours: false }),
    ]);
    await Promise.all([coloured.until('R$ 10.000,00'), plain.until('R$ 10.000,00')]);
    const colour = /\u001B\[(?:3[0-7]|9[0-7]|4[0-7]|10[0-7])m/;
    assert.match(coloured.raw, colour);
    assert.doesNotMatch(plain.raw, colour);
    assert.equal(plain.text, coloured.text);
  });
});

describe('a logout', () => {
  it('ends the session, here and at the service', async () => {
    const customer = await givenCustomer(app);
    const screen = await openFor(customer);
    await screen.type('x');
    await screen.until('You are logged out.');
    assert.match(screen.text, /not logged in/);
    assert.equal((await app.call('/accounts/me', { token: customer.token })).status, 401);
    screen.close();
  });
});
