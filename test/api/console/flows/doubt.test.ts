/** What protects a payment that may have been made: from a second one, and from being forgotten. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { startTestApp } from '../../../support/app.ts';
import { givenUser } from '../../../support/factories.ts';
import { passUntil } from '../../../support/passing-time.ts';
import { consoleFor, lastingTokens } from '../customers.ts';
import type { Screen } from '../screen.ts';

const app = await startTestApp({ environment: { ...lastingTokens, STUB_SETTLE_MS: '60000' } });
const openFor = consoleFor(app);

interface Doubtful {
  readonly screen: Screen;
  /** The idempotency key of the payment in doubt. */
  readonly key: string;
  payments(): Promise<readonly { readonly status: string }[]>;
}

function keyOn({ text }: Screen): string {
  return /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(text)?.[0] ?? '';
}

/** Sends a payment whose response is lost. */
async function openDoubt(): Promise<Doubtful> {
  const user = await givenUser(app);
  const payments: Doubtful['payments'] = () =>
    app.rows('select status from pix_transactions where user_id = $1', [user.id]);
  const screen = await openFor(user, { rows: 26 });
  await screen.type('p');
  await screen.until(/Idempotency-Key \* [0-9a-f-]{36}/);
  const key = keyOn(screen);
  await screen.fill({ 'Pix key': 'lost@ponte.test', Amount: '10' });
  await screen.press('ctrl+s');
  await passUntil(app.clock, screen.until('It is being paid, or has been.'));
  return { screen, key, payments };
}

const question = 'Make another payment? y: yes; any other key: no.';
const atEnd = /A payment or a return may have been\s+made:\s+its\s+end\s+is\s+not\s+known/;

describe('a second payment, while one is in doubt,', () => {
  it('needs consent for its key, and a person who declines keeps the safe one', async () => {
    const { screen, key, payments } = await openDoubt();
    await screen.press('ctrl+n');
    await screen.until(question);
    await screen.press('ctrl+s');
    await screen.until((text) => !text.includes('Make another payment?'));
    assert.equal(keyOn(screen), key);
    await screen.press('ctrl+n');
    await screen.until(question);
    await screen.type('y');
    await screen.until((text) => !text.includes(key));
    await screen.fill({ 'Pix key': 'bruno@example.com' });
    await screen.press('ctrl+s');
    await screen.until(/PROCESSING[^]*bruno|bruno[^]*PROCESSING/);
    assert.equal((await payments()).length, 2);
  });

  it('needs consent for a key that was typed, too, and the safe one comes back', async () => {
    const { screen, key, payments } = await openDoubt();
    await screen.press('escape');
    await screen.until('Ponte › home');
    await screen.type('p');
    await screen.until('It is being paid, or has been.');
    await screen.fill({ 'Idempotency-Key': 'another-key' });
    await screen.press('ctrl+s');
    await screen.until(question);
    await screen.type('n');
    await screen.until(key);
    assert.equal((await payments()).length, 1);
  });

  it('needs none once the end of the first is known', async () => {
    const { screen, key } = await openDoubt();
    await passUntil(app.clock, screen.until('COMPLETED'));
    await screen.press('ctrl+n');
    await screen.until((text) => !text.includes(key));
    assert.ok(!screen.text.includes('Make another'));
    await screen.press('ctrl+c');
    await screen.ended();
  });
});

describe('the key of a payment in doubt', () => {
  it('is not forgotten without a question: q, ctrl+c, and logging out', async () => {
    const { screen, key } = await openDoubt();
    await screen.press('ctrl+c');
    await screen.until(atEnd);
    assert.equal(keyOn(screen), key);
    await screen.press('escape');
    await screen.until(/Ponte › send a Pix[^]+lost@ponte\.test/);
    await screen.press('escape');
    await screen.until('Ponte › home');
    await screen.type('x');
    await screen.until(/its key would be\s+forgotten\.\s+Log\s+out\?/);
    await screen.type('n');
    await screen.type('q');
    await screen.until(atEnd);
    await screen.type('n');
    await screen.until('Ponte › home');
    await screen.type('x');
    await screen.until('Log out?');
    await screen.type('y');
    await screen.until('You are logged out');
    await screen.type('q');
    await screen.ended();
  });

  it('is asked about no longer once the payment has ended, on whatever screen', async () => {
    const { screen } = await openDoubt();
    await screen.press('escape');
    await screen.until('Ponte › home');
    await screen.type('q');
    await screen.until(atEnd);
    await passUntil(app.clock, screen.until('It has ended; the statement shows how.'));
    await screen.type('n');
    await screen.until('Ponte › home');
    await screen.type('q');
    await screen.ended();
  });

  it('is given up by ctrl+c twice, in a window that is too small as well', async () => {
    const { screen } = await openDoubt();
    screen.resize(40, 10);
    await screen.until('The console needs a window');
    await screen.press('ctrl+c', 'ctrl+c');
    await screen.ended();
  });
});

describe('a payment without a response', () => {
  /** Sends a payment whose request is lost on its way. */
  async function loseRequest(t: TestContext) {
    const user = await givenUser(app);
    const screen = await openFor(user);
    await screen.type('p');
    await screen.until(/Idempotency-Key \* [0-9a-f-]{36}/);
    const key = keyOn(screen);
    await screen.fill({ 'Pix key': 'bruno@example.com', Amount: '10' });
    const lost = () => Promise.reject(new Error('lost'));
    const { mock } = t.mock.method(globalThis, 'fetch', lost, { times: 1 });
    await screen.press('ctrl+s');
    await screen.until(/It may have been paid\. Send again[^]*ctrl\+g give it up/);
    mock.restore();
    return { user, screen, key };
  }

  it('can be given up: its key is closed, and the next payment takes a new one', async (t) => {
    const { user, screen, key } = await loseRequest(t);
    await screen.press('ctrl+g');
    await screen.until(
      'The payment has failed (CANCELLED). You gave this payment up, and nothing was sent.',
    );
    await screen.until('For another one, ctrl+n makes a new key.');
    assert.ok(!screen.text.includes('give it up'));
    await screen.press('ctrl+s');
    await screen.until('This key was used before: nothing was paid again.');
    await screen.press('ctrl+n');
    await screen.until((text) => !text.includes(key) && !text.includes('Make another'));
    const stored = await app.rows('select status from pix_transactions where user_id = $1', [
      user.id,
    ]);
    assert.deepEqual(stored, [{ status: 'FAILED' }]);
  });

  it('is still there after a look elsewhere, and is sent again with its key', async (t) => {
    const { screen, key } = await loseRequest(t);
    await screen.press('escape');
    await screen.until('Ponte › home');
    await screen.type('p');
    await screen.until(/It may have been paid\. Send again[^]*ctrl\+g give it up/);
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
    assert.equal(keyOn(screen), key);
  });
});
