/** The client for apps as tests use it: a device, a customer, and a network that fails. */
import assert from 'node:assert/strict';
import { PonteClient, type ClientOptions, type Storage } from '../../../contract/client/index.ts';
import type { TestApp } from '../../support/app.ts';
import { givenUser, password, type TestUser } from '../../support/factories.ts';

export type Fetch = NonNullable<ClientOptions['fetch']>;

/** The storage of a device. */
export class Memory implements Storage {
  text: string | null = null;
  /** How many values it still keeps. */
  room = Infinity;
  getItem(): string | null {
    return this.text;
  }
  setItem(_name: string, value: string): void {
    this.room -= 1;
    if (this.room < 0) throw new Error('disk full');
    this.text = value;
  }
}

/** A client whose device has stored nothing. */
export function newClient(app: TestApp, options: Partial<ClientOptions> = {}): PonteClient {
  return new PonteClient({
    url: app.url,
    storage: new Memory(),
    clock: app.clock,
    ...options,
  });
}

/** A customer who has logged in by the client. */
export async function givenPayer(app: TestApp, options: Partial<ClientOptions> = {}) {
  const { email, id } = await givenUser(app);
  const client = newClient(app, options);
  assert.equal((await client.logIn({ email, password })).status, 200);
  const user = { id, email, token: client.session?.accessToken } as TestUser;
  return { client, email, user };
}

const isOrder = (url: string): boolean => /\/(?:send|refund)$/.test(url);

/** Passes requests on, and loses the responses to orders while `isLost` says so. */
export function losing(isLost: () => boolean): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (isOrder(url) && isLost()) throw new TypeError('connection reset');
    return response;
  };
}

/** Answers sends, or requests to other addresses, in place of the service. */
export function responding(respond: () => Response | null, to = /\/pix\/send$/): Fetch {
  return async (url, init) => {
    const response = to.test(url) ? respond() : null;
    return response ?? fetch(url, init);
  };
}

/** Answers sends as a service that cannot close a key: it does not know the path. */
export function older(respond: () => Response | null): Fetch {
  const notFound = (): Response => Response.json({ message: 'Not found.' }, { status: 404 });
  const sends = responding(respond);
  return (url, init) => (url.endsWith('/cancel') ? Promise.resolve(notFound()) : sends(url, init));
}

/** A response of a service that refuses an order. */
export const refuse = (status: number, outcome: string, errors = {}): Response =>
  Response.json({ message: 'No.', errors }, { status, headers: { 'Pix-Outcome': outcome } });
