/** What an account has, at the console: its statement, and its Pix keys. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startTestApp } from '../../../support/app.ts';
import { givenCustomer, givenUser } from '../../../support/factories.ts';
import { passUntil } from '../../../support/passing-time.ts';
import { consoleFor, lastingTokens } from '../customers.ts';
import type { Screen } from '../screen.ts';

// Its clock shows 24 May 2026, 09:00 in São Paulo.
const app = await startTestApp({ environment: lastingTokens });
const openFor = consoleFor(app);

/** A customer of their own with a received Pix on each of the last 25 days, today's of R$ 1. */
async function openStatement(): Promise<Screen> {
  const user = await givenUser(app);
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, status, phase, outcome, amount, pix_key,
            provider_txid, created_at, updated_at, settled_at)
     select gen_random_uuid(), $1, 'RECEIVED', 'COMPLETED', 'SETTLED', 'accepted', 1 + day,
            'ana@example.com', 'tx-' || day, at, at, at
       from generate_series(0, 24) day, lateral (select $2::timestamptz - day * interval '1 day')
            instant (at)`,
    [user.id, app.clock.now()],
  );
  const screen = await openFor(user);
  await screen.type('s');
  await screen.until(/the last 30 days[^]*1 of 25 · page 1 of 3/);
  return screen;
}

describe('the statement', () => {
  it('is shown in pages, the newest first', async () => {
    const screen = await openStatement();
    await screen.until(/› 24\/05 09:00 +PIX_RECEIVED +R\$ 1,00 +COMPLETED/);
    await screen.press('pagedown');
    await screen.until(/› 14\/05 09:00 +PIX_RECEIVED +R\$ 11,00[^]*11 of 25 · page 2 of 3/);
    await screen.press('pagedown');
    await screen.until('21 of 25 · page 3 of 3');
    await screen.press('pagedown');
    await screen.until(/› 30\/04 09:00 +PIX_RECEIVED +R\$ 25,00[^]*25 of 25 · page 3 of 3/);
    await screen.press('up');
    await screen.until('24 of 25 · page 3 of 3');
    await screen.press('pageup', 'pageup');
    await screen.until('4 of 25 · page 1 of 3');
    screen.resize(60, 40);
    await screen.until(/4 of 25\n/);
  });

  it('is of the requested days, and does not change until they are valid', async () => {
    const screen = await openStatement();
    await screen.type('d');
    await screen.until('[ Show ]');
    await screen.fill({ From: '2026-05-32' });
    await screen.press('ctrl+s');
    await screen.until(/› From +2026-05-32\n +The value must be a date such as/);
    await screen.fill({ From: '2026-05-22', To: '2026-05-20' });
    await screen.press('ctrl+s');
    await screen.until(/› From +2026-05-22\n +The first day must not be after/);
    await screen.press('escape');
    await screen.until(/the last 30 days[^]*1 of 25/);
    assert.ok(!screen.text.includes('must not be after'), 'nothing is wrong with this list');
    await screen.type('d');
    await screen.until(/From +2026-05-22[^]*To +2026-05-20/);
    await screen.fill({ From: '2026-05-20', To: '2026-05-22' });
    await screen.press('ctrl+s');
    await screen.until(/from 20\/05\/2026 to 22\/05\/2026[^]*› 22\/05[^]*20\/05[^]*1 of 3/);
    await screen.type('r');
    await screen.until(/from 20\/05\/2026 to 22\/05\/2026[^]*1 of 3/);
  });

  it('says which days it is of when only the last one is set', async () => {
    const screen = await openStatement();
    await screen.type('d');
    await screen.until('[ Show ]');
    await screen.fill({ To: '2026-05-22' });
    await screen.press('ctrl+s');
    await screen.until(/the 30 days to 22\/05\/2026[^]*› 22\/05[^]*1 of 23/);
  });

  it('shows every field of an item', async () => {
    const screen = await openStatement();
    await screen.press('down', 'enter');
    await screen.until(
      /type +PIX_RECEIVED\n amount +R\$ 2,00[^]*created at +23\/05\/2026 09:00:00/,
    );
    await screen.press('escape');
    await screen.until('2 of 25');
  });

  it('has the list of the bank beside the one of Ponte', async () => {
    const customer = await givenCustomer(app);
    const body = { pix_key: 'bruno@example.com', amount: 12.5, description: 'Lunch' };
    const sent = await app.call('/pix/send', { token: customer.token, key: 'k', body });
    assert.equal(sent.status, 200);
    const screen = await openFor(customer);
    await screen.type('s');
    await screen.until(/Ponte's list[^]*› 24\/05 09:00 +PIX_SEND +-R\$ 12,50 +PROCESSING +Receb/);
    await screen.press('tab');
    await screen.until(/The bank's own list[^]*› 24\/05 09:00 +PIX_PAYMENT_OUT +-R\$ 12,50/);
    await screen.press('enter');
    await screen.until(/direction +DEBIT\n end to end +E[^]*description +Lunch/);
    await screen.press('escape', 'tab');
    await screen.until("Ponte's list");
  });
});

/** A customer of their own who looks at their keys. */
async function openKeys(): Promise<Screen> {
  const screen = await openFor(await givenUser(app));
  await screen.type('k');
  await screen.until('Ponte › Pix keys');
  return screen;
}

/** Begins a new key of this type. */
async function begin(screen: Screen, type: string): Promise<void> {
  await screen.type('c');
  await screen.until('Pix keys › create');
  const isChosen = (): boolean => screen.text.includes(`‹ ${type}`);
  while (!isChosen()) {
    const { text } = screen;
    await screen.press('right');
    await screen.until(() => screen.text !== text);
  }
}

describe('a Pix key', () => {
  it('is made by its type, and shown whole in the smallest window', async () => {
    const screen = await openKeys();
    await screen.until('The account has no Pix keys. c creates one.');
    await begin(screen, 'random (EVP)');
    await screen.press('ctrl+s');
    await screen.until(/› random \(EVP\) +([0-9a-f-]{36})\n[^]*Created: \1\./);
    await begin(screen, 'CPF');
    await screen.press('ctrl+s');
    await screen.until(/› random[^]*CPF +\d{11}\n +1 of 2/);
  });

  it('that is an e-mail is checked by the service, and kept while one looks away', async () => {
    const screen = await openKeys();
    await screen.until('The account has no Pix keys.');
    await begin(screen, 'e-mail');
    await screen.fill({ 'E-mail': 'new@' });
    await screen.press('ctrl+s');
    await screen.until(/› E-mail +new@\n +The value must be an e-mail address\./);
    await screen.press('escape');
    await screen.until('The account has no Pix keys.');
    await screen.type('c');
    await screen.until(/› E-mail +new@\n/);
    await screen.type('example.com');
    await screen.until((text) => !text.includes('must be an e-mail'));
    await screen.press('ctrl+s');
    await screen.until(/e-mail \(E_MAIL\) +new@example\.com\n[^]*Created: new@example\.com\./);
  });

  it('that the service refuses says why at its field', async () => {
    const screen = await openKeys();
    await screen.until('The account has no Pix keys.');
    await begin(screen, 'CNPJ');
    await screen.press('ctrl+s');
    await screen.until(/› Type \* +‹ CNPJ ›\n +The account's document is not a CNPJ\./);
  });

  it('is deleted after a yes, and after no other key', async () => {
    const screen = await openKeys();
    await screen.until('The account has no Pix keys.');
    await begin(screen, 'random (EVP)');
    await screen.press('ctrl+s');
    await screen.until(/› random[^]*Created: /);
    await screen.type('d');
    await screen.until(/Delete [0-9a-f-]{36}\? y: yes; any\s+other key: no\./);
    await screen.press('enter');
    await screen.until((text) => !text.includes('Delete'));
    assert.match(screen.text, /› random \(EVP\)/);
    await screen.type('d');
    await screen.until('Delete ');
    await screen.type('y');
    await screen.until(/The account has no Pix keys\.[^]*Deleted: [0-9a-f-]{36}\./);
  });
});

describe('while the bank is silent', () => {
  const user = { email: 'offline@ponte.test' };

  before(() => givenUser(app, user));

  it('a notice says so, and the stored data is shown', async () => {
    const screen = await openFor(user);
    await screen.type('s');
    await passUntil(app.clock, screen.until('The bank did not answer: its own list is missing.'));
    assert.match(screen.text, /There are no items\./);
    await screen.press('escape');
    await screen.until('Ponte › home');
    await screen.type('k');
    await passUntil(app.clock, screen.until('(PROVIDER_UNAVAILABLE)'));
    assert.ok(!screen.text.includes('has no Pix keys'));
  });

  it('one need not wait for what is only read: esc leads back at once', async () => {
    const screen = await openFor(user);
    for (const key of ['b', 's', 'k']) {
      await screen.type(key);
      await screen.until('Waiting for the service …');
      await screen.press('escape');
      await screen.until('Ponte › home');
    }
  });
});
