/** People for tests, each in a database of their own making. */
import assert from 'node:assert/strict';
import { createUser, type NewUser } from '../../src/services/users.ts';
import type { TestApp } from './app.ts';

export const password = 'correct horse battery';

let made = 0;

export interface TestUser {
  readonly id: number;
  readonly email: string;
  readonly token: string;
}

/** Makes a user in the store, without logging in. */
export async function givenUser(app: TestApp, user: Partial<NewUser> = {}) {
  made += 1;
  const email = user.email ?? `person${made}@example.com`;
  const id = await createUser(app.context, {
    name: 'Maria da Silva',
    email,
    password,
    document: null,
    personType: 'PF',
    phone: '+5511987654321',
    ...user,
  });
  assert.ok(id !== null, 'the e-mail is taken');
  return { id, email };
}

/** Logs a user in over HTTP. */
export async function logIn(app: TestApp, email: string): Promise<string> {
  const answer = await app.call('/auth/login', { body: { email, password } });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.access_token;
}

/** Makes a user and logs in: the simulated bank gives a complete account. */
export async function givenCustomer(app: TestApp, user: Partial<NewUser> = {}): Promise<TestUser> {
  const { id, email } = await givenUser(app, user);
  return { id, email, token: await logIn(app, email) };
}
