/** Passes the time while logins wait: the clock moves to the next timer when all of them wait. */
import type { TestApp, TestResponse } from './app.ts';

/** What a test types into a login. */
export interface TypedLogin {
  readonly email: string;
  readonly address: string;
  readonly typed?: string | undefined;
  /** The access token that the device shows. */
  readonly token?: string | undefined;
}

export interface WaitingLogins {
  /** Sends a login, with a wrong password unless another one is given. */
  attempt(login: TypedLogin): Promise<TestResponse>;
  /** Moves the clock from timer to timer until a result is there; only while all logins wait. */
  pass<T>(result: Promise<T>): Promise<T>;
}

/** The event-loop turns between two steps of a login. */
const turnsOfRest = 5;

/** Watches the logins of a service, and the statements of those that wait for their turn. */
export function watchLogins({ call, clock, context }: TestApp): WaitingLogins {
  let [logins, statements] = [0, 0];
  const { db } = context;
  const query: (...parameters: Parameters<typeof db.query>) => Promise<unknown> = db.query.bind(db);
  Object.assign(db, {
    async query(...parameters: Parameters<typeof db.query>) {
      statements += 1;
      try {
        return await query(...parameters);
      } finally {
        statements -= 1;
      }
    },
  });
  const doAllWait = (): boolean => statements === 0 && logins === context.loginLines.count();
  const comeToRest = async (): Promise<void> => {
    for (let turns = 0; turns < turnsOfRest; turns = doAllWait() ? turns + 1 : 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    async attempt({ email, address, typed = 'a wrong one', token }) {
      const headers = { 'x-forwarded-for': address };
      const body = { email, password: typed };
      logins += 1;
      try {
        return await call('/auth/login', { body, headers, ...(token !== undefined && { token }) });
      } finally {
        logins -= 1;
      }
    },
    async pass(result) {
      let isThere = false;
      const noted = result.finally(() => (isThere = true));
      for (;;) {
        await comeToRest();
        if (isThere) return noted;
        await clock.advanceToNext();
      }
    },
  };
}
