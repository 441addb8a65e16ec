/**
 * The simulated bank of every server under test, a process of its own: logins, balances, look-ups
 * of keys, payments. It accepts each payment once by its end-to-end id and reports no final status.
 * `GET /payments` tells how many it has executed. Its parent receives its address.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Customer {
  readonly agency: string;
  readonly accountNumber: string;
  readonly digitAccount: string;
  readonly document: string;
  cents: number;
}

type Fields = Readonly<Record<string, unknown>>;
type Response = readonly [status: number, body: object];

const ispb = '11165756';
const openingCents = 100_000_000;

const customers = new Map<string, Customer>();
const sessions = new Map<string, Customer>();
/** The bank's ids of the payments, by their end-to-end ids. */
const payments = new Map<string, string>();

/** The check digits of a CPF (modulo 11). */
function checkDigits(base9: string): string {
  const digit = (digits: string): string => {
    const sum = [...digits].reduce(
      (total, one, place) => total + Number(one) * (digits.length + 1 - place),
      0,
    );
    return String(((sum * 10) % 11) % 10);
  };
  const first = digit(base9);
  return first + digit(base9 + first);
}

function logIn({ email }: Fields): Response {
  const name = String(email).toLowerCase();
  let customer = customers.get(name);
  if (!customer) {
    const number = String(100_000_000 + customers.size * 1_117);
    const document = number + checkDigits(number);
    const account = { agency: '0001', accountNumber: number, digitAccount: '7', document };
    customer = { ...account, cents: openingCents };
    customers.set(name, customer);
  }
  const token = randomBytes(24).toString('base64url');
  sessions.set(token, customer);
  const { cents: _cents, ...account } = customer;
  return [200, { access_token: token, token_type: 'Bearer', ...account }];
}

function lookUp({ key }: Fields): Response {
  const now = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 12);
  const endToEnd = `E${ispb}${now}${randomBytes(6).toString('hex').slice(0, 11)}`;
  const account = {
    participant: ispb,
    branch: '0001',
    accountNumber: '1234567',
    accountType: 'CACC',
  };
  const owner = { name: 'Bruno Lima', taxIdNumber: '***.456.789-**' };
  return [200, { endToEnd, key, keyType: 'EMAIL', account, owner }];
}

function pay(customer: Customer, { endToEnd, clientRequestId, amount }: Fields): Response {
  const known = payments.get(String(endToEnd));
  const id = known ?? randomUUID();
  if (known === undefined) {
    payments.set(String(endToEnd), id);
    customer.cents -= Math.round(Number(amount) * 100);
  }
  return [200, { id, status: 'PROCESSING', endToEnd, clientRequestId }];
}

function respond(request: IncomingMessage, body: Fields): Response {
  const { method, url, headers } = request;
  const path = url?.replace('/internal/api/v1', '');
  if (method === 'POST' && path === '/auth/login') return logIn(body);
  if (method === 'GET' && path === '/payments') return [200, { count: payments.size }];
  const customer = sessions.get(headers.authorization?.replace(/^Bearer /, '') ?? '');
  if (!customer) return [401, { message: 'the token is unknown' }];
  if (method === 'GET' && path === '/account/balance') {
    return [200, { balance: customer.cents / 100 }];
  }
  if (method === 'POST' && path === '/keys/dict') return lookUp(body);
  if (method === 'POST' && path === '/payments') return pay(customer, body);
  return [404, { message: 'there is no such thing' }];
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const sent = Buffer.concat(chunks).toString();
    const [status, body] = respond(request, (sent === '' ? {} : JSON.parse(sent)) as Fields);
    const text = JSON.stringify(body);
    response.writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
  });
});
// Longer than any pause between two rounds.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.once('disconnect', () => process.exit());
