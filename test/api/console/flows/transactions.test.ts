/** All transactions at the console, a page at a time, and the receipt of each. */
import { describe, it } from 'node:test';
import { startTestApp } from '../../../support/app.ts';
import { givenCustomer, givenUser } from '../../../support/factories.ts';
import { consoleFor, lastingTokens } from '../customers.ts';
import type { Screen } from '../screen.ts';

// Its clock shows 24 May 2026, 09:00 in São Paulo.
const app = await startTestApp({ environment: lastingTokens });
const openFor = consoleFor(app);

/** A customer of their own who has received a Pix on each of the last days, today's of R$ 1. */
async function openList(days: number): Promise<Screen> {
  const user = await givenUser(app, { name: 'Ana Souza' });
  await app.rows(
    `insert into pix_transactions (id, user_id, operation, status, phase, outcome, amount,
            end_to_end, created_at, updated_at, settled_at)
     select gen_random_uuid(), $1::int, 'RECEIVED', 'COMPLETED', 'SETTLED', 'accepted', 1 + day,
            'E-' || $1::int || '-' || day, at, at, at
       from generate_series(0, $3::int - 1) day,
            lateral (select $2::timestamptz - day * interval '1 day') instant (at)`,
    [user.id, app.clock.now(), days],
  );
  const screen = await openFor(user);
  await screen.type('t');
  return screen;
}

describe('the list of transactions', () => {
  it('says that there are none', async () => {
    const screen = await openList(0);
    await screen.until('There are no transactions.');
  });

  it('goes on with the next page', async () => {
    const screen = await openList(60);
    await screen.until(/Transactions: all[^]*› 24\/05 09:00 +PIX_RECEIVED +R\$ 1,00[^]*1 of 50/);
    await screen.press('down');
    await screen.until('2 of 50');
    await screen.type('m');
    await screen.until(/› 23\/05 09:00[^]*2 of 60/);
    await screen.until((text) => !text.includes('m more'));
  });

  it('is filtered, and stays as it was until the filters are good', async () => {
    const screen = await openList(3);
    await screen.until('1 of 3');
    await screen.type('f');
    await screen.until('[ List ]');
    await screen.fill({ From: '2026-05-32' });
    await screen.press('ctrl+s');
    await screen.until(/› From +2026-05-32\n +The value must be a date such as/);
    await screen.fill({ From: '2026-05-23' });
    await screen.press('ctrl+s');
    await screen.until(/Transactions: from 23\/05\/2026[^]*1 of 2/);
    await screen.type('f');
    await screen.until('[ List ]');
    await screen.focus('Type');
    await screen.press('right');
    await screen.until('‹ payments ›');
    await screen.press('ctrl+s');
    await screen.until(/Transactions: payments, from 23\/05\/2026[^]*There are no transactions\./);
  });
});

describe('a receipt', () => {
  it('is shown of a transaction of the list, and leads back to it', async () => {
    const screen = await openList(2);
    await screen.until('1 of 2');
    await screen.press('down', 'enter');
    await screen.until(/Ponte › receipt[^]*Pix received: R\$ 2,00\n COMPLETED\n/);
    await screen.until(/created +23\/05\/2026 09:00:00\n[^]*payee +Ana Souza\n/);
    await screen.press('escape');
    await screen.until(/Ponte › transactions[^]*2 of 2/);
  });

  it('is shown of the payment that was just sent, and leads back to its status', async () => {
    const screen = await openFor(await givenUser(app));
    await screen.type('p');
    await screen.fill({ 'Pix key': 'silent@ponte.test', 'Amount in R$': '25' });
    await screen.press('ctrl+s');
    await screen.until(/PROCESSING\n[^]*ctrl\+r receipt/);
    await screen.press('ctrl+r');
    await screen.until(/Pix payment: R\$ 25,00\n PROCESSING\n[^]*this is no proof/);
    await screen.press('escape');
    await screen.until(/Ponte › send a Pix[^]*PROCESSING\n/);
  });

  it('is shown of a payment in the statement, with the reason of its failure', async () => {
    const customer = await givenCustomer(app);
    const body = { pix_key: 'notfound@ponte.test', amount: 12.5, description: 'Lunch' };
    await app.call('/pix/send', { token: customer.token, key: 'k', body });
    const screen = await openFor(customer);
    await screen.type('s');
    await screen.until(/› 24\/05 09:00 +PIX_SEND/);
    await screen.press('enter');
    await screen.until('v receipt');
    await screen.type('v');
    await screen.until(/Pix payment: R\$ 12,50\n FAILED\n[^]*this is no proof/);
    await screen.until(/payee's key +notfound@ponte\.test\n/);
    screen.resize(80, 30);
    await screen.until('No account was found for this Pix key. (PIX_KEY_NOT_FOUND)');
    await screen.press('escape');
    await screen.until(/Ponte › statement[^]*type +PIX_SEND/);
  });
});
