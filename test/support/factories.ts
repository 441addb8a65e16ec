/** Creates users, applications and sessions for tests. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ProviderMethod } from '../../src/provider/provider.ts';
import { createUser, type NewUser } from '../../src/auth/user-repository.ts';
import type { TestApp } from './app.ts';
import { cheapHash } from './cheap-hash.ts';

export const password = 'correct horse battery';

let made = 0;

export interface TestUser {
  readonly id: number;
  readonly email: string;
  readonly token: string;
}

/** Inserts a user, without a login. */
export async function givenUser(
  app: TestApp,
  { password: text = password, ...user }: Partial<NewUser> & { readonly password?: string } = {},
) {
  made += 1;
  const email = user.email ?? `person${made}@example.com`;
  const id = await createUser(app.context, {
    name: 'Maria da Silva',
    email,
    passwordHash: cheapHash(text),
    document: null,
    personType: 'PF',
    phone: '+5511987654321',
    ...user,
  });
  assert.ok(id !== null, 'the e-mail is taken');
  return { id, email };
}

/** Logs a user in over HTTP. @returns the access token. */
export async function logIn(app: TestApp, email: string): Promise<string> {
  const response = await app.call('/auth/login', { body: { email, password } });
  assert.equal(response.status, 200, JSON.stringify(response.body));
  return response.body.access_token;
}

/** Creates a user and logs in; the simulated bank reports a complete account. */
export async function givenCustomer(app: TestApp, user: Partial<NewUser> = {}): Promise<TestUser> {
  const { id, email } = await givenUser(app, user);
  return { id, email, token: await logIn(app, email) };
}

/** Inserts an onboarding application of a user, with a status. */
export async function givenApplication(
  app: TestApp,
  userId: number,
  status: 'IN_PROGRESS' | 'UNDER_ANALYSIS' | 'APPROVED' | 'REJECTED',
): Promise<void> {
  await app.rows(
    `insert into onboarding_applications
            (id, user_id, person_type, status, steps, created_at, updated_at)
     values ($1, $2, 'PF', $3, '[]', $4, $4)`,
    [randomUUID(), userId, status, app.clock.now()],
  );
}

/** The stored row of a banking session. */
export interface StoredSession {
  readonly id: string;
  readonly status: 'ACTIVE' | 'ENDED' | 'EXPIRED';
  readonly sealed_token: Buffer | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

/** All banking sessions of a user, ended ones included, oldest first. */
export function readSessions(app: TestApp, userId: number): Promise<StoredSession[]> {
  return app.rows(
    `select id, status, sealed_token, created_at, ended_at from banking_sessions
      where user_id = $1 order by created_at, ended_at nulls last`,
    [userId],
  );
}

/** The number of attempts that the provider layer has made at a call, read from the metrics. */
export async function providerAttempts(app: TestApp, method: ProviderMethod): Promise<number> {
  const { values } = await app.context.metrics.providerCalls.get();
  return values
    .filter(({ metricName, labels }) => metricName?.endsWith('_count') && labels.method === method)
    .reduce((total, { value }) => total + value, 0);
}
