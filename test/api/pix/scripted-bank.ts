/** A provider over HTTP whose responses a test writes, byte by byte. */
import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { cpfCheckDigits } from '../../../src/domain/tax-id.ts';
import { unhurriedTimeoutMs } from '../../support/passing-time.ts';
import { listening } from '../../unit/provider/http/raw-server.ts';

export interface PaymentRequest {
  readonly endToEnd: string;
  readonly clientRequestId: string;
  readonly amount: number;
}

export interface ScriptedResponse {
  readonly status: number;
  /** JSON by default. */
  readonly type?: string;
  /** Written as it is if it is a text of another type than JSON. */
  readonly body: unknown;
}

export interface ScriptedBank {
  /** The settings of a service that calls this provider. */
  readonly environment: Readonly<Record<string, string>>;
  /** The payments that arrived, in order. */
  readonly payments: PaymentRequest[];
  /** How a payment is answered; by default it is accepted. */
  onPayment(payment: PaymentRequest): ScriptedResponse;
  /** How the statement of some days is answered; by default it is empty. */
  onStatement(days: URLSearchParams): ScriptedResponse | Promise<ScriptedResponse>;
}

/** The receipt of an accepted payment. */
export function acceptance({ endToEnd, clientRequestId }: PaymentRequest): ScriptedResponse {
  return { status: 200, body: { id: `p-${endToEnd}`, endToEnd, clientRequestId } };
}

/** The account of the nth customer. */
function makeAccount(nth: number) {
  const base = String(100_000_000 + nth);
  return { agency: '0001', accountNumber: `${1_000 + nth}`, document: base + cpfCheckDigits(base) };
}

/** Starts a provider on a free port; it is closed after the file's tests. */
export async function startScriptedBank(): Promise<ScriptedBank> {
  let requests = 0;
  const customers: string[] = [];
  const payments: PaymentRequest[] = [];
  const respondTo = async (request: IncomingMessage): Promise<ScriptedResponse> => {
    requests += 1;
    const body = request.method === 'POST' ? await json(request) : null;
    const url = new URL(request.url ?? '', 'http://bank');
    switch (url.pathname) {
      case '/internal/api/v1/auth/login': {
        const { email } = body as { readonly email: string };
        if (!customers.includes(email)) customers.push(email);
        const account = makeAccount(customers.indexOf(email));
        return { status: 200, body: { access_token: `token-${requests}`, account } };
      }
      case '/internal/api/v1/keys/dict': {
        const nth = String(requests).padStart(11, '0');
        return { status: 200, body: { endToEnd: `E11165756202605241200${nth}` } };
      }
      case '/internal/api/v1/payments':
        payments.push(body as PaymentRequest);
        return bank.onPayment(body as PaymentRequest);
      case '/internal/api/v1/account/statement':
        return bank.onStatement(url.searchParams);
      default:
        return { status: 404, body: {} };
    }
  };
  const server = createServer((request, response) => {
    void respondTo(request).then(({ status, type = 'application/json', body }) => {
      const isText = typeof body === 'string' && type !== 'application/json';
      response.writeHead(status, { 'content-type': type });
      response.end(isText ? body : JSON.stringify(body));
    });
  });
  const port = await listening(server);
  const bank: ScriptedBank = {
    environment: {
      PROVIDER_STUB: 'false',
      PROVIDER_BASE_URL: `http://127.0.0.1:${port}`,
      PROVIDER_TIMEOUT_MS: String(unhurriedTimeoutMs),
    },
    payments,
    onPayment: acceptance,
    onStatement: () => ({ status: 200, body: [] }),
  };
  return bank;
}
