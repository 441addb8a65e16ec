/** Implements the port over the provider's HTTP API: one entry for each call. */
import type { Clock } from '../../clock.ts';
import type { Provider } from '../provider.ts';
import type { HttpClient } from './client.ts';
import { readLogin } from './login-response.ts';
import { createHttpOnboarding } from './onboarding.ts';
import { readReceipt } from './payment-response.ts';
import { createSendRequest, type WireRequest } from './request.ts';
import * as translate from './translate.ts';

export interface HttpProviderOptions {
  readonly client: HttpClient;
  readonly clock: Clock;
  /** The institution's identifier, for listing and deleting keys. */
  readonly ispb: string;
}

const base = '/internal/api/v1';

/** Creates the HTTP provider; its wrappers add time-outs, retries and token refresh. */
export function createHttpProvider({ client, clock, ispb }: HttpProviderOptions): Provider {
  const send = createSendRequest(client);
  return {
    login: async (request) => {
      const { email, password } = request;
      const wire = { ...post('/auth/login', { email, password }), kind: 'login' } as const;
      return readLogin(await send(wire, request), clock.now());
    },
    balance: async (request) => translate.readBalance(await send(get('/account/balance'), request)),
    statement: async (request) => {
      const query = new URLSearchParams({ startDate: request.start, endDate: request.end });
      const wire = get(`/account/statement?${query.toString()}`);
      return translate.readStatement(await send(wire, request));
    },
    lookUpKey: async (request) => {
      const { payerId, key } = request;
      const wire = { ...post('/keys/dict', { payerId, key }), kind: 'key' } as const;
      return translate.readKeyOwner(await send(wire, request), key);
    },
    pay: async (request) => {
      const body = translate.paymentBody(request.order);
      const wire = { ...post('/payments', body), kind: 'payment' } as const;
      return readReceipt(await send(wire, request), request.order);
    },
    createDynamicCharge: async (request) => {
      const wire = post('/payments/qrcode/dynamic', translate.dynamicChargeBody(request.order));
      return translate.readChargeCode(await send(wire, request), request.order, 'dynamic');
    },
    createStaticCharge: async (request) => {
      const wire = post('/payments/qrcode/static', translate.staticChargeBody(request.order));
      return translate.readChargeCode(await send(wire, request), request.order, 'static');
    },
    listKeys: async (request) => {
      const wire = post('/keys/list', translate.keyListBody(ispb, request.account));
      return translate.readPayload(await send(wire, request));
    },
    createKey: async (request) => {
      const wire = post('/keys/create', translate.newKeyBody(request));
      return translate.readPayload(await send(wire, request));
    },
    deleteKey: async (request) => {
      const body = translate.ownKeyBody(ispb, request);
      const wire = { method: 'DELETE', path: `${base}/keys`, body, kind: 'key' } as const;
      return translate.readPayload(await send(wire, request));
    },
    ...createHttpOnboarding(send),
  };
}

function get(path: string): WireRequest {
  return { method: 'GET', path: base + path };
}

function post(path: string, body: unknown): WireRequest {
  return { method: 'POST', path: base + path, body };
}
