/** Implements the port over the provider's HTTP API: one entry for each call. */
import type { Clock } from '../../clock.ts';
import { notUnderstood } from '../errors.ts';
import type { Dialects } from '../dialect/dialects.ts';
import type { Provider } from '../provider.ts';
import type { HttpClient } from './client.ts';
import { readCodeCharge } from './code-charge.ts';
import { hasFurtherPages } from './paging.ts';
import { readResponse, refuseLookUp, saysFailure } from './response-mapping.ts';
import { createHttpDisputes } from './disputes.ts';
import { createHttpKeys } from './keys.ts';
import { readLogin } from './login.ts';
import { createHttpOnboarding } from './onboarding.ts';
import { readPaymentResponse, readRefundResponse } from './payment-response.ts';
import { createExchange, createSendRequest, refusingFailures } from './request.ts';
import * as translate from './translate.ts';

export interface HttpProviderOptions {
  readonly client: HttpClient;
  readonly clock: Clock;
  /** The institution's identifier, for listing and deleting keys. */
  readonly ispb: string;
  readonly dialects: Dialects;
  /** Whether a line of its statement without a status is COMPLETED; no by default. */
  readonly statementSettledOnly?: boolean;
  /** Whether a line of its statement is final when it appears; no by default. */
  readonly statementIsFinal?: boolean;
}

/** Creates the HTTP provider; its wrappers add time-outs, retries and token refresh. */
export function createHttpProvider(options: HttpProviderOptions): Provider {
  const { client, clock, ispb, dialects } = options;
  const { signs, refusals } = dialects;
  const { statementSettledOnly = false, statementIsFinal: isFinal = false } = options;
  const send = createSendRequest(client);
  const exchange = createExchange(client);
  const ask = refusingFailures(send, dialects);
  return {
    login: async (request) => {
      const { email, password } = request;
      const input = { body: { email, password }, kind: 'login' } as const;
      return readLogin(await send('login', input, request), clock.now());
    },
    balance: async (request) => translate.readBalance(await ask('balance', {}, request)),
    statement: async (request) => {
      const query = { startDate: request.start, endDate: request.end };
      const response = await exchange('statement', { query }, request);
      const json = readResponse(response, 'other');
      // Fewer days may succeed, as after a response that is too large.
      if (saysFailure(json, dialects)) throw notUnderstood(new Error('a statement that failed'));
      const statement = dialects.readStatement(json, statementSettledOnly, clock.now());
      if (statement === null) throw notUnderstood(new Error('a statement without a list'));
      const isWhole = statement.isWhole && !hasFurtherPages(response, statement.items.length);
      return { ...statement, isWhole, isFinal };
    },
    lookUpKey: async (request) => {
      const { payerId, key } = request;
      const input = { body: { payerId, key }, kind: 'key' } as const;
      const json = await ask('lookUpKey', input, request);
      refuseLookUp(json, dialects, 'key');
      return translate.readKeyOwner(json, key);
    },
    readCode: async (request) => {
      const { payerId, text } = request;
      const json = await ask('readCode', { body: { payerId, emv: text } }, request);
      refuseLookUp(json, dialects, 'code');
      return readCodeCharge(json);
    },
    pay: async (request) => {
      const body = translate.paymentBody(request.order);
      const response = await exchange('pay', { body, isAlone: true }, request);
      return readPaymentResponse(response, request.order, { dialects, now: clock.now() });
    },
    refund: async (request) => {
      const body = translate.refundBody(request.order);
      const response = await exchange('refund', { body, isAlone: true }, request);
      return readRefundResponse(response, request.order, { dialects, now: clock.now() });
    },
    createDynamicCharge: async (request) => {
      const body = translate.dynamicChargeBody(request.order);
      const json = await ask('createDynamicCharge', { body }, request);
      return translate.readChargeCode(json, request.order, 'dynamic');
    },
    createStaticCharge: async (request) => {
      const body = translate.staticChargeBody(request.order);
      const json = await ask('createStaticCharge', { body }, request);
      return translate.readChargeCode(json, request.order, 'static');
    },
    ...createHttpKeys({ send, ispb, signs, refusals }),
    ...createHttpDisputes(send),
    ...createHttpOnboarding(send),
  };
}
