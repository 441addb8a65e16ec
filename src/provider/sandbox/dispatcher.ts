/**
 * The API without a socket: carries the HTTP client's requests to the bank in the same process. The
 * client sees what it sees over a connection. None is refused, and one breaks only when the body of
 * its request does.
 */
import type { HttpDispatcher } from '../http/client.ts';
import { encodeResponse } from './responses.ts';
import type { Api } from './api.ts';
import type { ApiRequest } from './request.ts';

type Request = Parameters<HttpDispatcher['dispatch']>[0];
type Handler = Parameters<HttpDispatcher['dispatch']>[1];
type Controller = Parameters<NonNullable<Handler['onRequestStart']>>[0];

/** Creates a dispatcher for one client. The client's signal ends a call that is never answered. */
export function createDispatcher(api: Api): HttpDispatcher {
  return {
    dispatch(request, handler) {
      void exchange(api, request, handler);
      return true;
    },
    destroy: () => Promise.resolve(),
  };
}

async function exchange(api: Api, request: Request, handler: Handler): Promise<void> {
  let isAborted = false;
  // undici's controller can also pause and resume a connection.
  const controller = { abort: () => (isAborted = true) } as unknown as Controller;
  try {
    // Throws when the caller has stopped waiting: then nothing is sent.
    handler.onRequestStart?.(controller, {});
    const { path: url, ...sent } = request;
    const response = await api.respond({ ...sent, url } as ApiRequest);
    if (isAborted || response === 'hang') return;
    const { status, headers, bytes } = encodeResponse(response);
    handler.onResponseStart?.(controller, status, headers);
    handler.onResponseData?.(controller, bytes);
    handler.onResponseEnd?.(controller, {});
  } catch (error) {
    handler.onResponseError?.(controller, error as Error);
  }
}
