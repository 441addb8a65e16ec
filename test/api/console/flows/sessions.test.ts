/** What outlasts a look elsewhere and the end of a session at the console, and what does not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestApp } from '../../../support/app.ts';
import { givenUser, password } from '../../../support/factories.ts';
import { consoleFor } from '../customers.ts';
import type { Screen } from '../screen.ts';

const app = await startTestApp();
const openFor = consoleFor(app);

const lunch = { 'Pix key': 'bruno@example.com', Amount: '10', Description: 'Lunch' };

async function endSession(userId: number): Promise<void> {
  await app.rows(
    `update banking_sessions set status = 'ENDED', sealed_token = null, ended_at = now()
      where user_id = $1`,
    [userId],
  );
}

interface Lost {
  readonly screen: Screen;
  /** The idempotency key of what was sent. */
  readonly key: string;
}

/** Types a payment and sends it into a session that has ended. */
async function loseSession(): Promise<Lost> {
  const user = await givenUser(app);
  const screen = await openFor(user);
  await screen.type('p');
  await screen.until(/Idempotency-Key \* [0-9a-f-]{36}/);
  const [, key = ''] = /Idempotency-Key \* ([0-9a-f-]{36})/.exec(screen.text) ?? [];
  await screen.fill(lunch);
  await endSession(user.id);
  await screen.press('ctrl+s');
  await screen.until(/Ponte › log in[^]*Your session has ended\. Log in again/);
  return { screen, key };
}

describe('a session that is lost', () => {
  it('leads to the login, back to what was typed, and on', async () => {
    const { screen, key } = await loseSession();
    await screen.press('ctrl+s');
    await screen.until(/Ponte › send a Pix[^]*bruno@example\.com[^]*10[^]*Lunch/);
    assert.ok(screen.text.includes(key), 'the key is the same');
    assert.ok(!screen.text.includes('ended'), 'what was said to the session before is gone');
    await screen.press('ctrl+s');
    await screen.until('PROCESSING');
  });

  it('leaves nothing for the next user', async () => {
    const { screen } = await loseSession();
    const { email } = await givenUser(app, { name: 'Bruno Lima' });
    await screen.fill({ 'E-mail': email, Password: password });
    await screen.press('ctrl+s');
    await screen.until(/Ponte › home[^]*Name +Bruno Lima/);
    await screen.type('p');
    await screen.until(/Idempotency-Key \* [0-9a-f-]{36}/);
    assert.doesNotMatch(screen.text, /bruno@example\.com|Lunch/);
  });

  it('is found out while one looks on, too', async () => {
    const user = await givenUser(app);
    const screen = await openFor(user);
    await screen.type('b');
    await screen.until('R$ 10.000,00');
    await endSession(user.id);
    await screen.type('r');
    await screen.until(/Ponte › log in[^]*Your session has ended\./);
    await screen.press('ctrl+s');
    await screen.until(/Ponte › balance[^]*R\$ 10\.000,00/);
  });
});

describe('what was typed', () => {
  const forms = [
    { key: 'p', screen: 'send a Pix', typed: lunch },
    { key: 'c', screen: 'charge', typed: { Amount: '89,9', City: 'Recife', CEP: '50030230' } },
    { key: 'n', screen: 'onboarding', typed: { Name: 'Carla', 'E-mail': 'carla@example.com' } },
  ] as const;
  for (const { key, screen: title, typed } of forms) {
    it(`is still there after a look elsewhere: ${title}`, async () => {
      const screen = await openFor(await givenUser(app));
      await screen.type(key);
      await screen.until(`Ponte › ${title}`);
      await screen.fill(typed);
      await screen.until((text) => Object.values(typed).every((value) => text.includes(value)));
      const before = screen.text;
      await screen.press('escape');
      await screen.until('Ponte › home');
      await screen.type('b');
      await screen.until('R$ 10.000,00');
      await screen.press('escape');
      await screen.until('Ponte › home');
      await screen.type(key);
      await screen.until((text) => text === before);
    });
  }

  it('is gone with the one who logs out', async () => {
    const screen = await openFor(await givenUser(app));
    await screen.type('p');
    await screen.until('Idempotency-Key *');
    await screen.fill(lunch);
    await screen.press('escape');
    await screen.until('Ponte › home');
    await screen.type('x');
    await screen.until('You are logged out.');
    await screen.type('l');
    await screen.until('[ Log in ]');
    await screen.press('ctrl+s');
    await screen.until('Statement');
    await screen.type('p');
    await screen.until(/Idempotency-Key \* [0-9a-f-]{36}/);
    assert.doesNotMatch(screen.text, /bruno@example\.com|Lunch/);
  });
});
