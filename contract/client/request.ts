/** One request to the service, typed by the contract, and its response. */
import { routes, type OperationId, type Operations } from '../types.ts';

/** A response of the service, or of a proxy between the app and the service. */
export interface ServiceResponse {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  /** The parsed JSON; undefined when the body is not JSON. */
  readonly body: unknown;
}

type Replies<Id extends OperationId> = Operations[Id]['replies'];

/**
 * A response that the contract lists: comparing its `status` gives its `body` a type. A status that
 * the contract does not list, such as a proxy's 504, equals none of them.
 */
export type OperationResponse<Id extends OperationId> = {
  [Status in keyof Replies<Id> & number]: {
    readonly status: Status;
    readonly headers: ServiceResponse['headers'];
    readonly body: Replies<Id>[Status];
  };
}[keyof Replies<Id> & number];

/** The parameters of an operation. */
export type OperationRequest<Id extends OperationId> = {
  readonly [Part in keyof AnyRequest]: Operations[Id][Part];
};

/** The parts that a request may have. */
export interface AnyRequest {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * @param url where the service listens, such as `https://api.example.com`.
 * @returns the address of an operation with its path and query parameters.
 */
export function operationUrl(
  url: string,
  id: OperationId,
  { path = {}, query = {} }: AnyRequest,
): string {
  const filled = routes[id].path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? ''),
  );
  const search = new URLSearchParams(query).toString();
  return `${url.replace(/\/+$/, '')}/api/v1${filled}${search && `?${search}`}`;
}

/** The body of a request on the wire: JSON, or a form when it uploads a file. */
export function encodeBody(
  id: OperationId,
  body: unknown,
): { readonly body?: string | FormData; readonly type?: string } {
  if (body === undefined) return {};
  if (id !== 'submitDocument') return { body: JSON.stringify(body), type: 'application/json' };
  const form = new FormData();
  for (const [name, value] of Object.entries(body as Record<string, string | number | Blob>)) {
    form.append(name, typeof value === 'object' ? value : String(value));
  }
  // The platform names the type, with the boundary that it has drawn.
  return { body: form };
}
