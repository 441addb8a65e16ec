/** A server under test with its database and its customers. */
import type pg from 'pg';
import { createPasswords } from '../../src/process/passwords.ts';
import type { Bank, Server } from './processes.ts';

export interface Customer {
  readonly userId: number;
  readonly email: string;
  readonly token: string;
}

export interface Target {
  readonly server: Server;
  readonly bank: Bank;
  readonly client: pg.Client;
  readonly customers: readonly Customer[];
}

export const password = 'correct horse battery';

const customerCount = 32;

let passwordHash: Promise<string> | null = null;

/** Stores the customers; the password is hashed once, at its full cost. */
export async function storeCustomers(client: pg.Client): Promise<void> {
  passwordHash ??= createPasswords().hash(password);
  await client.query(
    `insert into users (name, email, password_hash, created_at, updated_at)
     select 'Maria da Silva', 'customer' || n || '@example.com', $1, now(), now()
       from generate_series(1, $2::int) n`,
    [await passwordHash, customerCount],
  );
}

/** Logs all customers in, each once. */
export async function logInAll(server: Server, client: pg.Client): Promise<readonly Customer[]> {
  const { rows } = await client.query<{ id: number; email: string }>(
    `select id, email from users where email like 'customer%' order by id limit $1`,
    [customerCount],
  );
  const customers: Customer[] = [];
  const waiting = rows.values();
  const lane = async (): Promise<void> => {
    for (const { id, email } of waiting) {
      customers.push({ userId: id, email, token: await logIn(server.url, email) });
    }
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return customers;
}

/** @throws Error when the response to the login has no token. */
async function logIn(url: string, email: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (response.status !== 200 || token === undefined) {
    throw new Error(`a login was answered with ${response.status}`);
  }
  return token;
}
