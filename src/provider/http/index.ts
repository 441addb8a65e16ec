/** The port over the provider's HTTP API: one line a call; the rest stands in its own place. */
import type { Clock } from '../../clock.ts';
import type { CallOptions, Provider, ProviderSession } from '../provider.ts';
import { asking, type Request } from './asking.ts';
import type { HttpClient } from './client.ts';
import { readLogin } from './login-answer.ts';
import { createHttpOnboarding } from './onboarding.ts';
import { readReceipt } from './payment-answer.ts';
import * as translate from './translate.ts';
import type { Asked } from './verdict.ts';

export interface HttpProviderOptions {
  readonly client: HttpClient;
  readonly clock: Clock;
  /** The institution's identifier, for listing and deleting keys. */
  readonly ispb: string;
}

const base = '/internal/api/v1';

/** Makes the provider that speaks HTTP; time-outs, retries and tokens are left to what wraps it. */
export function createHttpProvider({ client, clock, ispb }: HttpProviderOptions): Provider {
  const ask = asking(client);
  const askFor = (
    { token }: ProviderSession,
    request: Request & { readonly asked?: Asked },
    options?: CallOptions,
  ): Promise<unknown> => {
    const { asked = 'other', ...wire } = request;
    return ask(asked, { ...wire, token }, options);
  };
  return {
    login: async (credentials, options) => {
      const { email, password } = credentials;
      const answer = await ask('login', post('/auth/login', { email, password }), options);
      return readLogin(answer, clock.now());
    },
    balance: async (session, options) =>
      translate.readBalance(await askFor(session, get('/account/balance'), options)),
    statement: async (session, { start, end }, options) => {
      const query = new URLSearchParams({ startDate: start, endDate: end });
      const request = get(`/account/statement?${query.toString()}`);
      return translate.readStatement(await askFor(session, request, options));
    },
    lookUpKey: async (session, { payerId, key }, options) => {
      const request = { ...post('/keys/dict', { payerId, key }), asked: 'key' } as const;
      return translate.readKeyOwner(await askFor(session, request, options), key);
    },
    pay: async (session, order, options) => {
      const request = {
        ...post('/payments', translate.paymentBody(order)),
        asked: 'payment',
      } as const;
      return readReceipt(await askFor(session, request, options), order);
    },
    createDynamicCharge: async (session, order, options) => {
      const request = post('/payments/qrcode/dynamic', translate.dynamicChargeBody(order));
      return translate.readChargeCode(await askFor(session, request, options), order, 'dynamic');
    },
    createStaticCharge: async (session, order, options) => {
      const request = post('/payments/qrcode/static', translate.staticChargeBody(order));
      return translate.readChargeCode(await askFor(session, request, options), order, 'static');
    },
    listKeys: async (session, account, options) => {
      const request = post('/keys/list', translate.keyListBody(ispb, account));
      return translate.readPayload(await askFor(session, request, options));
    },
    createKey: async (session, key, options) => {
      const request = post('/keys/create', translate.newKeyBody(key));
      return translate.readPayload(await askFor(session, request, options));
    },
    deleteKey: async (session, key, options) => {
      const body = translate.ownKeyBody(ispb, key);
      const request = { method: 'DELETE', path: `${base}/keys`, body, asked: 'key' } as const;
      return translate.readPayload(await askFor(session, request, options));
    },
    ...createHttpOnboarding(ask),
  };
}

function get(path: string): Request {
  return { method: 'GET', path: base + path };
}

function post(path: string, body: unknown): Request {
  return { method: 'POST', path: base + path, body };
}
