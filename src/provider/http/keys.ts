/** The calls about the Pix keys of an account over the provider's HTTP API. */
import type { Provider } from '../provider.ts';
import { refusingFailures, type SendRequest } from './request.ts';
import type { Failures } from './response-mapping.ts';
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
  const ask = refusingFailures(send, failures);
  const remove = refusingFailures(send, { ...failures, endWords: deleted });
  return {
    listKeys: async (request) => {
      const body = translate.keyListBody(ispb, request.account);
      return translate.readPayload(await ask('listKeys', { body }, request));
    },
    createKey: async (request) => {
      const body = translate.newKeyBody(request);
      return translate.readPayload(await ask('createKey', { body }, request));
    },
    deleteKey: async (request) => {
      const input = { body: translate.ownKeyBody(ispb, request), kind: 'key' } as const;
      return translate.readPayload(await remove('deleteKey', input, request));
    },
  };
}
