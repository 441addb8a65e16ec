/**
 * A process that floods an address with anonymous requests at a fixed rate: CEPs, registrations,
 * wrong logins, unknown applications and very slow uploads. Its parent sends it the address, and
 * receives the counts of the responses by status.
 */
import { Agent, request } from 'node:http';
import { randomUUID } from 'node:crypto';
import { cpfCheckDigits } from '../../src/domain/tax-id.ts';
import { formType } from '../support/forms.ts';

export interface FloodOrder {
  /** Null: no further request. */
  readonly url: string | null;
}

export type FloodResponses = Readonly<Record<string, number>>;

const rate = 250;

/** Few enough that the limits refuse most requests within seconds. */
const addresses = 3;

const tickMs = 20;

/** The maximum of unanswered requests, each with its own socket. */
const atOnce = 200;

const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
let order: FloodOrder = { url: null };
let responses: Record<string, number> = {};
let sent = 0;
let open = 0;

const kinds = [
  () => ({ method: 'GET', path: '/onboarding/cep/01310100' }),
  () => ({ method: 'GET', path: `/onboarding/${randomUUID()}` }),
  () => json('/auth/login', { email: `unknown${sent}@example.com`, password: 'wrong password' }),
  () => json('/onboarding/pf', person(sent)),
  () => ({ method: 'POST', path: `/onboarding/${randomUUID()}/documents`, isSlow: true }),
] as const;

function json(path: string, body: object) {
  return { method: 'POST', path, body: JSON.stringify(body) };
}

function person(nth: number) {
  const digits = String(100_000_000 + ((process.pid * 1_009 + nth * 7) % 800_000_000));
  const password = 'correct horse battery';
  const email = `flood${process.pid}-${nth}@example.com`;
  const document = digits + cpfCheckDigits(digits);
  const phone = '+5511987654321';
  return { name: 'Ana', email, password, password_confirmation: password, document, phone };
}

function sendOne(url: string): void {
  sent += 1;
  open += 1;
  const kind = kinds[sent % kinds.length] ?? kinds[0];
  const { method, path, body, isSlow } = {
    body: undefined,
    isSlow: false,
    ...kind(),
  };
  const headers = {
    'x-forwarded-for': `198.51.100.${1 + (Math.floor(sent / kinds.length) % addresses)}`,
    ...(isSlow ? { 'content-type': formType, 'content-length': '1000000' } : {}),
    ...(body ? { 'content-type': 'application/json' } : {}),
  };
  const outgoing = request(`${url}/api/v1${path}`, { method, headers, agent });
  const count = (status: string): void => void (responses[status] = (responses[status] ?? 0) + 1);
  outgoing.on('response', (response) => {
    count(String(response.statusCode));
    response.resume();
    // A slow upload stays open although it is refused.
    if (isSlow) setTimeout(() => outgoing.destroy(), 1_000);
  });
  outgoing.on('error', () => undefined);
  outgoing.on('close', () => (open -= 1));
  if (isSlow) outgoing.write('------');
  else outgoing.end(body);
}

setInterval(() => {
  const { url } = order;
  for (let left = (rate * tickMs) / 1_000; url && left > 0 && open < atOnce; left -= 1) {
    sendOne(url);
  }
}, tickMs);

process.on('message', (message: FloodOrder) => {
  order = message;
  process.send?.(responses);
  responses = {};
});
process.once('disconnect', () => process.exit());
