/** Charging at the console: the form, the code that a phone scans, and how it is paid. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestApp } from '../../../support/app.ts';
import { givenUser } from '../../../support/factories.ts';
import { passUntil } from '../../../support/passing-time.ts';
import { consoleFor, lastingTokens } from '../customers.ts';
import type { Screen, ScreenOptions } from '../screen.ts';
import { scan } from './drawn-code.ts';

const app = await startTestApp({ environment: { ...lastingTokens, STUB_SETTLE_MS: '1500' } });
const openFor = consoleFor(app);

interface StoredCharge {
  readonly status: string;
  readonly copy_paste: string;
  readonly transaction_identification: string;
}

interface Receiver {
  readonly screen: Screen;
  charges(): Promise<readonly StoredCharge[]>;
}

/** A customer of their own who is about to charge. */
async function openCharge(options: Partial<ScreenOptions> = {}): Promise<Receiver> {
  const user = await givenUser(app);
  const screen = await openFor(user, options);
  await screen.type('c');
  await screen.until('Ponte › charge');
  return {
    screen,
    charges: () =>
      app.rows(
        `select status, copy_paste, transaction_identification
           from pix_transactions where user_id = $1 order by created_at`,
        [user.id],
      ),
  };
}

/** Charges, and gives what is stored of it. */
async function charged(receiver: Receiver): Promise<StoredCharge> {
  const { screen, charges } = receiver;
  await screen.fill({ Amount: '89,9' });
  await screen.press('ctrl+s');
  await screen.until(/PROCESSING[^]*esc back/);
  const [charge] = await charges();
  assert.ok(charge);
  return charge;
}

describe('the form of a charge', () => {
  it('has every field, and says at each what is wrong with it', async () => {
    const { screen, charges } = await openCharge({ rows: 40 });
    for (const label of [
      'Type',
      'Amount in R$',
      'Description',
      'Key',
      'Receiver name',
      'City',
      'CEP',
      'Expires after',
      'Payer name',
      "Payer's CPF or CNPJ",
      'Reusable',
      'Category code',
      'Additional data 1, name',
      'Additional data 1, value',
      'Idempotency-Key',
    ]) {
      await screen.focus(label);
    }
    await screen.fill({ CEP: '123', 'Expires after': 'soon' });
    await screen.until(/Expires after +soon\s+A whole number, such as 600\./);
    await screen.fill({ 'Expires after': '59', 'Additional data 1, name': 'Table' });
    await screen.until(/Additional data 1, value +–\n(?: +\S.*\n)*? +Additional data 2, name/);
    await screen.press('ctrl+s');
    await screen.until(/› Amount in R\$ \*\s+The field is required\./);
    await screen.fill({ Amount: '10' });
    await screen.press('ctrl+s');
    await screen.until(
      /› CEP +123\n +\S[^]*Expires after +59\n +The value must be at least\s+60\./,
    );
    await screen.until(/1, value +–\n +The field is required\./);
    assert.deepEqual(await charges(), []);
  });

  it('is there again as it was typed, behind the code', async () => {
    const receiver = await openCharge();
    const { screen } = receiver;
    await charged(receiver);
    await screen.press('escape');
    await screen.until(/› Amount in R\$ \* +89,9\n/);
    await screen.press('ctrl+s');
    await screen.until('the charge of this key');
    assert.equal((await receiver.charges()).length, 1);
  });
});

describe('the code of a charge', () => {
  const windows = [
    { columns: 120, rows: 40, has: 'all of it' },
    { columns: 60, rows: 32, has: 'the code above the words' },
    { columns: 80, rows: 24, has: 'the code beside the words' },
  ] as const;
  for (const { columns, rows, has } of windows) {
    it(`can be scanned in a window of ${columns}×${rows}, which shows ${has}`, async () => {
      const receiver = await openCharge({ columns, rows });
      const { screen } = receiver;
      const { copy_paste: text } = await charged(receiver);
      await screen.until(() => scan(screen) === text);
      await screen.until('esc back');
      assert.equal(screen.lines.length, rows);
      await screen.type('t');
      await screen.until(() => screen.text.replaceAll(/\n ?/g, '').includes(text));
    });
  }

  it('can be scanned without colours, on a dark terminal and on a light one', async () => {
    const receiver = await openCharge({ columns: 120, rows: 40, hasColours: false });
    const { screen } = receiver;
    const { copy_paste: text } = await charged(receiver);
    await screen.until(() => scan(screen, 'light') === text);
    await screen.type('i');
    await screen.until(() => scan(screen, 'dark') === text);
  });

  it('gives way to its text where there is no room, until there is', async () => {
    const receiver = await openCharge();
    const { screen } = receiver;
    const { copy_paste: text } = await charged(receiver);
    await screen.until('For the QR code make the window larger');
    await screen.until(() => screen.text.replaceAll(/\n ?/g, '').includes(text));
    screen.resize(80, 24);
    await screen.until(() => scan(screen) === text);
  });
});

describe('beside the code of a charge', () => {
  it('stand its amount and its expiry, and a copy of the text is confirmed', async () => {
    const copied: string[] = [];
    const receiver = await openCharge({
      columns: 80,
      rows: 24,
      copy: (text) => void copied.push(text),
    });
    const { screen } = receiver;
    const { copy_paste: text } = await charged(receiver);
    await screen.until(/R\$ 89,90[^]*PROCESSING[^]*expires \d\d\/\d\d\/\d{4}/);
    await screen.type('y');
    await screen.until(/✔ Copied, if your terminal/);
    assert.deepEqual(copied, [text]);
    await screen.type('t');
    await screen.until((shown) => !shown.includes('Copied'));
  });

  it('nothing is shown in a window that is too small, which takes no keys', async () => {
    const { screen, ...receiver } = await openCharge({ columns: 80, rows: 24 });
    await charged({ screen, ...receiver });
    screen.resize(59, 24);
    await screen.until('The console needs a window of 60×20; this one has 59×24.');
    assert.ok(!screen.text.includes('esc back'));
    screen.resize(80, 24);
    await screen.until('esc back');
  });
});

describe('a charge that is paid', () => {
  it('says so by itself, beside its code', async () => {
    const receiver = await openCharge({ columns: 80, rows: 24 });
    const { transaction_identification: identification } = await charged(receiver);
    await app.bank.payCharge(identification);
    await passUntil(app.clock, receiver.screen.until('COMPLETED'));
  });
});
