/** Sending a Pix at the console: what is typed, how it ends, and what is said to do next. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeStaticBrCode } from '../../../../src/provider/sandbox/bank/br-code.ts';
import { startTestApp } from '../../../support/app.ts';
import { eventually } from '../../../support/eventually.ts';
import { givenUser } from '../../../support/factories.ts';
import { passUntil } from '../../../support/passing-time.ts';
import { consoleFor, lastingTokens } from '../customers.ts';
import type { Screen } from '../screen.ts';

const app = await startTestApp({ environment: { ...lastingTokens, STUB_SETTLE_MS: '1500' } });
const openFor = consoleFor(app);

const lunch = { 'Pix key': 'bruno@example.com', Amount: '1.234,56', Description: 'Lunch' };

interface Sender {
  readonly id: number;
  readonly screen: Screen;
  /** How the payments of this customer stand, the oldest first. */
  payments(): Promise<readonly { readonly status: string; readonly amount: string }[]>;
}

/** A customer of their own who is about to send. */
async function openSend(): Promise<Sender> {
  const user = await givenUser(app);
  const screen = await openFor(user);
  await screen.type('p');
  await screen.until(/Idempotency-Key \* [0-9a-f-]{36}/);
  return {
    id: user.id,
    screen,
    payments: () =>
      app.rows(
        'select status, amount from pix_transactions where user_id = $1 order by created_at, id',
        [user.id],
      ),
  };
}

/** The idempotency key that is shown. */
function keyOn({ text }: Screen): string {
  const [key] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(text) ?? [];
  assert.ok(key !== undefined, text);
  return key;
}

/** Waits for what appears only as time passes. */
function later(screen: Screen, what: string | RegExp): Promise<string> {
  return passUntil(app.clock, screen.until(what));
}

describe('the payee', () => {
  it('is shown before the payment, which uses that look-up', async (t) => {
    const { screen, payments } = await openSend();
    await screen.fill({ 'Pix key': 'notfound@ponte.test' });
    await screen.press('ctrl+l');
    await screen.until('No account was found for this Pix key.');
    await screen.fill(lunch);
    await screen.press('ctrl+l');
    await screen.until(/Payee +Recebedor de Teste\n +Document +\*\*\*\.456\.789-\*\*/);
    await screen.until(/Institution +GLOBAL SCM LTDA \(ISPB 11165756\)/);
    const lookUps = t.mock.method(app.bank, 'lookUpKey');
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    assert.equal(lookUps.mock.callCount(), 0);
    assert.equal((await payments()).length, 1);
  });

  it('is asked for when the digits are a CPF and a mobile number, also by a send', async () => {
    const { screen, id } = await openSend();
    const keys = () =>
      app.rows('select pix_key from pix_transactions where user_id = $1 order by created_at, id', [
        id,
      ]);
    await screen.fill({ ...lunch, 'Pix key': '11987654374' });
    await screen.press('ctrl+s');
    await screen.until('These digits are a CPF and a mobile number. Is the Pix key the CPF?');
    await screen.type('n');
    await screen.until(/Pix key \* +\+5511987654374[^]*Payee +Recebedor de Teste/);
    await screen.until('Check the payee, then send again.');
    assert.deepEqual(await keys(), []);
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    assert.deepEqual(await keys(), [{ pix_key: '+5511987654374' }]);
    await later(screen, 'COMPLETED');
    await screen.press('ctrl+n');
    await screen.fill({ 'Pix key': '11987654374' });
    await screen.press('ctrl+l');
    await screen.until('Is the Pix key the CPF?');
    await screen.type('y');
    await screen.until(/Pix key \* +119\.876\.543-74[^]*Payee +Recebedor de Teste/);
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    assert.deepEqual(await keys(), [{ pix_key: '+5511987654374' }, { pix_key: '11987654374' }]);
  });

  it('of a code is shown too, with what the code asks for', async () => {
    const { screen, payments } = await openSend();
    const payee = { key: 'ana@example.com', receiverName: 'Padaria', city: 'Recife' };
    const code = encodeStaticBrCode({ ...payee, amountCents: 450 });
    await screen.fill({ 'Or Pix code': code.slice(0, -1) });
    await screen.press('ctrl+l');
    await screen.until('The code is incomplete or was changed');
    await screen.fill({ 'Or Pix code': code });
    await screen.press('ctrl+l');
    await screen.until(/Payee +PADARIA, RECIFE\n +Pix key +ana@example\.com\n +Amount +R\$ 4,50/);
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    assert.deepEqual(
      (await payments()).map(({ amount }) => amount),
      ['4.50'],
    );
  });
});

describe('a payment', () => {
  it('is checked field by field, by the service, and does not leave with a fault', async () => {
    const { screen, payments } = await openSend();
    await screen.fill({ Amount: '1.000' });
    await screen.until(/› Amount in R\$ \* +1\.000\n +An amount, such as 25 or 1\.234,56\./);
    await screen.press('ctrl+s');
    await screen.until(/› Pix key \*\s+The field is required\./);
    await screen.fill({ 'Pix key': 'bruno@example.com', Amount: '0' });
    await screen.press('ctrl+s');
    await screen.until(/› Amount in R\$ \* +0\n +The value must be at least R\$ 0\.01\./);
    await screen.until('Correct the marked fields.');
    await screen.fill({ Amount: '1000' });
    await screen.until(/› Amount in R\$ \* +1000\n +=/);
    await screen.until('[ Send R$ 1.000,00 ]');
    await screen.fill({ 'Idempotency-Key': 'with space' });
    await screen.press('ctrl+s');
    await screen.until(/› Idempotency-Key \* with space\n +\S/);
    assert.deepEqual(await payments(), []);
  });

  it('shows what the service refuses, also what is in no field', async () => {
    const { id, screen, payments } = await openSend();
    await app.rows('update accounts set agency = null where user_id = $1', [id]);
    await screen.fill(lunch);
    await screen.press('ctrl+s');
    await screen.until('The payment has failed. For another one, ctrl+n makes a new key.');
    await screen.until('account: Your account is not complete yet');
    assert.deepEqual(await payments(), [{ status: 'FAILED', amount: '1234.56' }]);
  });

  it('sends every typed character when ctrl+s arrives in the same burst of keys', async () => {
    const { screen, payments } = await openSend();
    // Ink delivers the amount and ctrl+s as one event, before React commits the first character.
    await screen.type('bruno@example.com\u001B[B1.234,56\u0013');
    await screen.until('PROCESSING');
    assert.deepEqual(await payments(), [{ status: 'PROCESSING', amount: '1234.56' }]);
  });

  it('is followed until it is paid, without a key being pressed', async () => {
    const { screen, payments } = await openSend();
    await screen.fill(lunch);
    await screen.press('ctrl+s');
    await screen.until(/PROCESSING\n It is being paid[^]*Wait[^]*End-to-end id +E[0-9A-Za-z]/);
    await later(screen, /COMPLETED\n It is paid\. For another one, ctrl\+n makes a new key\./);
    assert.deepEqual(await payments(), [{ status: 'COMPLETED', amount: '1234.56' }]);
  });

  it('that fails after all says so by itself', async () => {
    const { screen } = await openSend();
    await screen.fill({ ...lunch, 'Pix key': 'fail@ponte.test' });
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    await later(
      screen,
      /FAILED\n The payment has failed \(\w+\)\. \S[^]*For\s+another\s+one,\s+ctrl\+n/,
    );
  });
});

describe('the idempotency key', () => {
  it('repeats a payment without paying again, also once it is paid', async () => {
    const { screen, payments } = await openSend();
    const key = keyOn(screen);
    await screen.fill(lunch);
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    await screen.press('ctrl+s');
    await screen.until('This key was used before: nothing was paid again.');
    await later(screen, 'COMPLETED');
    await screen.press('ctrl+s');
    await screen.until(/COMPLETED[^]*used before/);
    assert.equal(keyOn(screen), key);
    assert.equal((await payments()).length, 1);
  });

  it('is a new one for another payment, which needs consent before the first has ended', async () => {
    const { screen, payments } = await openSend();
    const key = keyOn(screen);
    await screen.fill(lunch);
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    await screen.fill({ Amount: '10' });
    await screen.press('ctrl+s');
    await screen.until('Make another payment? y: yes; any other key: no.');
    await screen.type('n');
    assert.equal(keyOn(screen), key);
    await later(screen, 'COMPLETED');
    await screen.press('ctrl+s');
    await screen.until((text) => !text.includes(key) && text.includes('PROCESSING'));
    assert.deepEqual(
      (await payments()).map(({ amount }) => amount),
      ['1234.56', '10.00'],
    );
  });

  it('stays with a payment whose fields are corrected', async () => {
    const { screen, payments } = await openSend();
    const key = keyOn(screen);
    await screen.fill({ ...lunch, Amount: '0' });
    await screen.press('ctrl+s');
    await screen.until('Correct the marked fields.');
    await screen.fill({ Amount: '10' });
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    assert.equal(keyOn(screen), key);
    assert.equal((await payments()).length, 1);
  });

  it('that another request has used leads to the transactions', async () => {
    const { screen, payments } = await openSend();
    const key = keyOn(screen);
    await screen.fill(lunch);
    await screen.press('ctrl+s');
    await later(screen, 'COMPLETED');
    await screen.fill({ Amount: '10', 'Idempotency-Key': 'typed' });
    await screen.press('ctrl+s');
    await later(screen, /COMPLETED[^]*It is paid/);
    await screen.fill({ Amount: '20', 'Idempotency-Key': key });
    await screen.press('ctrl+s');
    await screen.until('Look at the transactions before another payment');
    await screen.until(/› Idempotency-Key \* [0-9a-f-]{36}\n +This key belongs to another request/);
    assert.equal((await payments()).length, 2);
  });
});

describe('a slow payment', () => {
  it('shows that it is in progress, can be cancelled, and is followed by its key', async () => {
    const { screen, payments } = await openSend();
    const key = keyOn(screen);
    await screen.fill({ ...lunch, 'Pix key': 'timeout@ponte.test' });
    await screen.press('ctrl+s');
    await screen.until(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Sending … esc gives up/);
    await eventually(async () => (await payments()).length === 1, 'the payment');
    await screen.type('x');
    await screen.press('escape');
    await screen.until(/It may have been paid\. Send again, with the[^]*You gave up waiting\./);
    assert.match(screen.text, /Pix key \* +timeout@ponte\.test/);
    assert.equal(keyOn(screen), key);
    await screen.press('ctrl+n');
    await screen.until('Make another payment? y: yes; any other key: no.');
    await screen.type('n');
    await screen.press('ctrl+s');
    await later(screen, 'COMPLETED');
    assert.match(screen.text, /This key was used before/);
    assert.equal((await payments()).length, 1);
  });
});

describe('a payment that did not leave, or was refused', () => {
  const cases = [
    ['notfound@ponte.test', '1', 'PIX_KEY_NOT_FOUND'],
    ['unavailable@ponte.test', '1', 'PROVIDER_UNAVAILABLE'],
    ['ratelimited@ponte.test', '1', 'PROVIDER_RATE_LIMITED'],
    ['reject@ponte.test', '1', 'PROVIDER_REJECTED'],
    ['bruno@example.com', '99999', 'INSUFFICIENT_FUNDS'],
  ] as const;
  for (const [pixKey, amount, code] of cases) {
    it(`says why, and what to do next: ${code}`, async () => {
      const { screen } = await openSend();
      await screen.fill({ 'Pix key': pixKey, Amount: amount });
      await screen.press('ctrl+s');
      // Only the provider that is away is tried again. While time passes, a claim runs out.
      const isTriedAgain = code === 'PROVIDER_UNAVAILABLE';
      await (isTriedAgain ? later(screen, `(${code})`) : screen.until(`(${code})`));
      await screen.until('The payment has failed. For another one, ctrl+n makes a new key.');
      assert.ok(!screen.text.includes('PROCESSING'));
    });
  }
});
