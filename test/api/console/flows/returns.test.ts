/** Returning a received Pix at the console: from its receipt, once, and until the end is known. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../support/eventually.ts';
import { givenCustomer, type TestUser } from '../../../support/factories.ts';
import { passUntil } from '../../../support/passing-time.ts';
import { startReturnApp } from '../../pix/return-app.ts';
import { consoleFor, lastingTokens } from '../customers.ts';
import type { Screen } from '../screen.ts';

const app = await startReturnApp({ environment: { ...lastingTokens, STUB_SETTLE_MS: '1500' } });
const openFor = consoleFor(app);

interface Receiver {
  readonly user: TestUser;
  readonly screen: Screen;
  /** The amounts that the bank has returned. */
  returned(): readonly number[];
  /** How many returns are stored. */
  stored(): Promise<number>;
}

/** On the receipt, once it is read. */
const hint = 'g give it back to the payer';

/** A customer of their own at the receipt of a Pix. */
async function openReceived(amountCents: number): Promise<Receiver> {
  const user = await givenCustomer(app);
  const { endToEnd } = await app.givenReceived(user, amountCents);
  return {
    user,
    screen: await openReceipt(user),
    returned: () => app.returned(endToEnd).map(([, amount]) => amount),
    stored: async () => (await app.countRows(user)) - 1,
  };
}

/** Opens a console at the receipt of the only Pix received. */
async function openReceipt(user: TestUser): Promise<Screen> {
  const screen = await openFor(user, { columns: 80, rows: 24 });
  await screen.type('t');
  await screen.until('1 of ');
  if (!screen.focused.includes('PIX_RECEIVED')) await screen.press('down');
  await screen.press('enter');
  await screen.until(hint);
  return screen;
}

/** Opens the form of the return. @returns its idempotency key. */
async function openForm(screen: Screen): Promise<string> {
  await screen.until(hint);
  await screen.type('g');
  await screen.until(/Idempotency-Key \* [0-9a-f-]{36}/);
  return keyOn(screen);
}

function keyOn({ text }: Screen): string {
  return /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(text)?.[0] ?? '';
}

/** Returns an amount, after the question. */
async function giveBack(screen: Screen, amount: string): Promise<void> {
  await screen.fill({ Amount: amount });
  await screen.press('ctrl+s');
  await screen.until(`Return R$ ${amount} to the payer? y: yes; any other key: no.`);
  await screen.type('y');
}

/** Waits for what appears only as time passes. */
function later(screen: Screen, what: string | RegExp): Promise<string> {
  return passUntil(app.clock, screen.until(what));
}

describe('a received Pix', () => {
  it('is returned in part, and then what is left, each with a key of its own', async () => {
    const { screen, returned, stored } = await openReceived(2_000);
    await screen.until('b the bank, not you, returns it (simulated bank)');
    const key = await openForm(screen);
    await screen.until(/› Amount in R\$ \* +20,00[^]*\[ Return R\$ 20,00 \]/);
    await screen.fill({ Amount: '15' });
    await screen.focus('Reason');
    await screen.press('right');
    await screen.until('‹ It was paid twice ›');
    await screen.press('ctrl+s');
    await screen.until('Return R$ 15,00 to the payer?');
    await screen.type('n');
    assert.equal(await stored(), 0);
    await screen.press('ctrl+s');
    await screen.until('Return R$ 15,00 to the payer?');
    await screen.type('y');
    await screen.until(/PROCESSING\n It is being returned[^]*Wait[^]*Return id +D[0-9A-Za-z]/);
    await later(screen, /COMPLETED\n It is returned\. For another one, ctrl\+n/);
    await screen.press('escape');
    await screen.until(/Ponte › receipt[^]*refunded +R\$ 15,00/);
    assert.notEqual(await openForm(screen), key);
    await screen.until(/› Amount in R\$ \* +5,00/);
    await giveBack(screen, '5,00');
    await later(screen, 'COMPLETED');
    await screen.press('escape');
    await screen.until(/refunded +R\$ 20,00/);
    assert.doesNotMatch(screen.text, /give it back|returns it/);
    assert.deepEqual(returned(), [15, 5]);
  });

  it('is not returned beyond what is left, which the field says', async () => {
    const { screen, stored } = await openReceived(2_000);
    await openForm(screen);
    await giveBack(screen, '30,00');
    await screen.until(/30,00\n +The amount exceeds what is left to return: R\$ 20\.00\./);
    await screen.until(/The return has failed\. For another one, ctrl\+n makes a new key\./);
    // The refusal closes the key: it is stored as a return that was not made.
    assert.equal(await stored(), 1);
  });

  it('is not returned where the return fails after all, and a new key tries again', async () => {
    const { screen } = await openReceived(2_000);
    const key = await openForm(screen);
    await giveBack(screen, '0,93');
    await later(
      screen,
      /FAILED\n The return has failed \(\w+\)\. \S[^]*For\s+another\s+one,\s+ctrl\+n/,
    );
    await screen.press('escape');
    await screen.until(hint);
    assert.doesNotMatch(screen.text, /refunded/);
    assert.notEqual(await openForm(screen), key);
  });
});

describe('a return without a response', () => {
  /** Returns the whole of a Pix, and gives up waiting for the response. */
  async function openDoubt(): Promise<Receiver & { readonly key: string }> {
    // The bank makes this return, and answers 500 at every attempt.
    const receiver = await openReceived(92);
    const { screen, stored } = receiver;
    const key = await openForm(screen);
    await giveBack(screen, '0,92');
    await screen.until('Returning … esc gives up');
    await eventually(async () => (await stored()) === 1, 'the return');
    await screen.press('escape');
    await screen.until(
      /It may have been returned\. Return it again, with[^]*You gave up waiting\./,
    );
    return { ...receiver, key };
  }

  it('keeps its key, and the repeat shows the end: nothing is returned twice', async () => {
    const { screen, returned, stored, key } = await openDoubt();
    await screen.press('escape');
    await screen.until(hint);
    await eventually(() => returned().length === 1, 'the bank has made it');
    await passUntil(
      app.clock,
      eventually(async () => {
        await screen.type('r');
        return /refunded +R\$ 0,92/.test(screen.text);
      }, 'the Pix is returned in whole'),
    );
    assert.equal(await openForm(screen), key);
    await screen.until(/It may have been returned\.[^]*never returns twice/);
    await screen.press('ctrl+c');
    await screen.until(`Key of a return ${key}`);
    await screen.type('n');
    await screen.until('[ Return R$ 0,92 ]');
    await screen.press('ctrl+s');
    await later(screen, /COMPLETED\n It is returned[^]*nothing was returned again/);
    assert.deepEqual([returned(), await stored()], [[0.92], 1]);
    await screen.press('escape');
    await screen.until((text) => text.includes('refunded') && !text.includes('give it back'));
    await screen.press('ctrl+c');
    await screen.ended();
  });

  it('is shown to a console that was started again, before another one is made', async () => {
    const { screen, user, stored } = await openReceived(2_000);
    await openForm(screen);
    // The bank makes this return, and reports nothing of it.
    await giveBack(screen, '0,94');
    await later(screen, /PROCESSING\n It is being returned, or has been/);
    screen.close();
    const again = await openReceipt(user);
    await openForm(again);
    await again.until('R$ 0,94 of it is on its way back already.');
    await again.press('ctrl+s');
    await again.until('R$ 0,94 of it is on its way back already. Return R$ 20,00 to the payer?');
    await again.type('y');
    await again.until('The amount exceeds what is left to return: R$ 19.06.');
    assert.equal(await stored(), 2);
  });

  it('makes a payment wait for consent, whose form does not take the key', async () => {
    const { screen, stored, key } = await openDoubt();
    await screen.press('escape', 'escape', 'escape');
    await screen.until('Ponte › home');
    await screen.type('p');
    await screen.until(/Idempotency-Key \* [0-9a-f-]{36}/);
    await screen.fill({ 'Pix key': 'bruno@example.com', Amount: '1' });
    await screen.press('ctrl+s');
    await screen.until(/The last return may have been made:[^]*Make\s+another\s+payment\?/);
    await screen.type('n');
    await screen.until((text) => !text.includes('another payment?'));
    assert.ok(!screen.text.includes(key));
    assert.equal(await stored(), 1);
  });
});
