/** Finds the route for a method and a URL. */
import type { Context } from '../context/context.ts';
import { AppError } from '../errors.ts';
import type { OperationTable, RequiredAccess, WithRefusalHeaders } from '../context/operation.ts';
import type { Contract, OperationContract } from '../contract/contract.ts';
import { createPathTree } from '../contract/path-tree.ts';
import type { Exchange } from './exchange.ts';
import type { Headers, Reply } from './reply.ts';

/** An operation without its types, which the compiler has checked in the table of operations. */
export interface AnyOperation extends WithRefusalHeaders {
  readonly access: RequiredAccess;
  readonly checksSession?: boolean;
  admit?(context: Context, caller: unknown): Promise<void>;
  completeRefusal?(context: Context, call: unknown): Promise<AppError>;
  countRefused?(context: Context, clientAddress: string): Promise<void>;
  checkRefused?(context: Context, input: unknown): void;
  run(context: Context, call: unknown): Promise<AnyReply>;
}

export interface AnyReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Headers;
}

export interface OperationRoute {
  readonly kind: 'operation';
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: AnyOperation;
  readonly contract: OperationContract;
}

/** A route outside the contract, for operators. */
export interface SystemRoute {
  readonly kind: 'system';
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  reply(exchange: Exchange): Reply | Promise<Reply>;
}

export type Route = OperationRoute | SystemRoute;

export interface FoundRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string | undefined>>;
  /** The query string, still encoded. */
  readonly query: string;
}

/** The reply to `OPTIONS`: the methods of a path. */
export interface Options {
  readonly allow: string;
}

export interface Router {
  /**
   * @param url the request's target.
   * @throws AppError BAD_REQUEST for malformed percent-encoding, NOT_FOUND for an unknown path,
   *   METHOD_NOT_ALLOWED for a method that the path does not have.
   */
  find(method: string, url: string): FoundRoute | Options;
}

/** The routes of one path template. */
interface PathEntry {
  readonly allow: string;
  readonly byMethod: ReadonlyMap<string, Route>;
}

/**
 * Joins each operation with its contract.
 * @throws Error that lists the operations that only one side has, and those whose access differs.
 */
export function operationRoutes(table: OperationTable, contract: Contract): OperationRoute[] {
  const operations = new Map(Object.entries(table as Readonly<Record<string, AnyOperation>>));
  const mismatches: string[] = [];
  const routes: OperationRoute[] = [];
  for (const declared of contract.operations) {
    const { id: name, method, path } = declared;
    const operation = operations.get(name);
    operations.delete(name);
    if (operation === undefined) {
      mismatches.push(`${name} is in the contract and has no operation`);
    } else if (contractAccess(operation) !== declared.access) {
      mismatches.push(`${name} is ${operation.access}, in the contract ${declared.access}`);
    } else {
      routes.push({ kind: 'operation', name, method, path, operation, contract: declared });
    }
  }
  mismatches.push(...[...operations.keys()].map((name) => `${name} is not in the contract`));
  if (mismatches.length > 0) {
    throw new Error(`operations and contract differ: ${mismatches.join('; ')}`);
  }
  return routes;
}

/** The contract requires a token for a session; it does not name sessions. */
function contractAccess({ access }: AnyOperation): OperationContract['access'] {
  return access === 'session' ? 'token' : access;
}

/** Creates the router of a server's routes. */
export function createRouter(routes: readonly Route[]): Router {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  const entries = [...byPath].flatMap(([path, same]) => {
    const entry = pathEntry(same);
    const endings = new Set(same.some(isWebhook) ? ['', ...webhookEndings] : ['']);
    return [...endings].map((ending): [string, PathEntry] => [`${path}${ending}`, entry]);
  });
  const tree = createPathTree(new Map(entries));
  const everyMethod = pathEntry(routes).allow;
  return {
    find(method, url) {
      if (method === 'OPTIONS' && url === '*') return { allow: everyMethod };
      const found = tree.find(url);
      if (found === 'unknown') throw new AppError('NOT_FOUND');
      if (found === 'malformed') throw new AppError('BAD_REQUEST');
      const { allow, byMethod } = found.entry;
      if (method === 'OPTIONS') return { allow };
      const route = byMethod.get(method === 'HEAD' ? 'GET' : method);
      if (route === undefined)
        throw new AppError('METHOD_NOT_ALLOWED', { headers: { Allow: allow } });
      return { route, params: found.params, query: found.query };
    },
  };
}

/**
 * The central bank's Pix API appends `/pix` to the address of a webhook. The registered address may
 * end with a slash, or with `/pix` already.
 */
const webhookEndings = ['/', '/pix', '/pix/'].flatMap((registered) =>
  ['', '/', '/pix', '/pix/'].map((appended) => `${registered}${appended}`),
);

function isWebhook(route: Route): boolean {
  return route.kind === 'operation' && route.operation.access === 'secret';
}

function pathEntry(routes: readonly Route[]): PathEntry {
  const byMethod = new Map(routes.map((route) => [route.method, route]));
  const methods = [...byMethod.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name));
  return { allow: [...methods, 'OPTIONS'].join(', '), byMethod };
}
