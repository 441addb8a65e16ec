/** One request to the service, typed by the contract. */
import { routes, type OperationId, type Operations } from '../types.ts';

/** A response of the service, or of a proxy between the app and the service. */
export interface ServiceResponse {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  /** The parsed JSON; undefined when the body is not JSON. */
  readonly body: unknown;
}

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
