/** The calls about the Pix keys of an account over the provider's HTTP API. */
import type { Provider } from '../provider.ts';
import type { SendRequest } from './request.ts';
import { refuseFailure, type Failures } from './response-mapping.ts';
import * as translate from './translate.ts';

/** The words of a registration that has ended as it was asked for. */
const deleted: ReadonlySet<string> = new Set(['CANCELLED', 'CANCELED', 'CANCELADO', 'CANCELADA']);

export interface HttpKeysOptions extends Failures {
  readonly send: SendRequest;
  /** The institution's identifier. */
  readonly ispb: string;
}

/** Creates the calls of the port about keys; a 2xx that says that it failed is a refusal. */
export function createHttpKeys({
  send,
  ispb,
  ...failures
}: HttpKeysOptions): Pick<Provider, 'listKeys' | 'createKey' | 'deleteKey'> {
  return {
    listKeys: async (request) => {
      const body = translate.keyListBody(ispb, request.account);
      const json = await send('listKeys', { body }, request);
      refuseFailure(json, failures);
      return translate.readPayload(json);
    },
    createKey: async (request) => {
      const body = translate.newKeyBody(request);
      const json = await send('createKey', { body }, request);
      refuseFailure(json, failures);
      return translate.readPayload(json);
    },
    deleteKey: async (request) => {
      const input = { body: translate.ownKeyBody(ispb, request), kind: 'key' } as const;
      const json = await send('deleteKey', input, request);
      refuseFailure(json, { ...failures, endWords: deleted });
      return translate.readPayload(json);
    },
  };
}
