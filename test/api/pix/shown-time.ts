/** A time of day that the service sees, without the hours that its jobs would pass until then. */
import type { TestContext } from 'node:test';
import type { TestApp } from '../../support/app.ts';
import { logIn, type TestUser } from '../../support/factories.ts';

/** @returns a function that shows a time, and logs the user in then. */
export function showTime(
  app: TestApp,
  t: TestContext,
): (time: string, user: TestUser) => Promise<TestUser> {
  let now = app.clock.now();
  t.mock.method(app.clock, 'now', () => now);
  return async (time, user) => {
    now = new Date(time);
    return { ...user, token: await logIn(app, user.email) };
  };
}
