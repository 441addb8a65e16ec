/** contract/provider.yaml as what is sent both ways is held against it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { PostedEvent } from '../../../contract/provider-types.ts';
import { contractBreaches } from '../../../src/contract/reply-check.ts';
import { createSchemaCompiler } from '../../../src/contract/schemas.ts';
import type { HttpResponse, HttpClient, HttpRequest } from '../../../src/provider/http/client.ts';
import { createRouter } from '../../../src/provider/sandbox/contract.ts';
import { BadRequest, checkRequest } from '../../../src/provider/sandbox/request.ts';

export interface CheckedClient extends HttpClient {
  /** What was sent, or answered, and is not in the contract. */
  readonly breaches: readonly string[];
}

const router = createRouter(true);

/** A client that compares each request and each response with the contract. */
export function checkedClient(client: HttpClient): CheckedClient {
  const breaches: string[] = [];
  return {
    breaches,
    async send(request) {
      const name = `${request.method} ${request.path}`;
      breaches.push(...requestBreaches(request).map((breach) => `${name}: ${breach}`));
      const response = await client.send(request);
      breaches.push(...findBreaches(request, response).map((breach) => `${name}: ${breach}`));
      return response;
    },
    close: () => client.close(),
  };
}

function toRoute({ method, path }: HttpRequest) {
  const found = router.find(path);
  if (typeof found === 'string') return null;
  const operation = found.entry.find((one) => one.contract.method === method);
  return operation ? { ...found, contract: operation.contract } : null;
}

function requestBreaches(request: HttpRequest): string[] {
  const route = toRoute(request);
  if (route === null) return ['no operation of the contract'];
  const { contract, params, query } = route;
  const hasToken = request.token !== undefined;
  const { body } = request;
  const breaches = [
    ...(hasToken === (contract.access === 'token') ? [] : ['a token where none belongs, or none']),
    ...(contract.body === null && body !== undefined ? ['a body where none belongs'] : []),
  ];
  // A form is checked where it is read: the sandbox answers 400, which the contract does not list.
  if (request.upload !== undefined) return breaches;
  const queried = Object.fromEntries(new URLSearchParams(query));
  try {
    checkRequest(contract, { token: '', path: params, query: queried, body });
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    breaches.push(error.message);
  }
  return breaches;
}

/** The one key whose payment is answered with a page in place of JSON. */
const htmlKey = 'html@ponte.test';

function findBreaches(request: HttpRequest, { status, json }: HttpResponse): string[] {
  const route = toRoute(request);
  const isPage = json === undefined && JSON.stringify(request.body)?.includes(htmlKey);
  return route === null || isPage ? [] : contractBreaches(route.contract, { status, body: json });
}

const document = JSON.parse(
  readFileSync(new URL('../../../contract/provider.generated.json', import.meta.url), 'utf8'),
) as object;

const schemas = createSchemaCompiler(document);

const validateEvent = schemas.compile({
  $ref: schemas.reference(['components', 'schemas', 'PostedEvent']),
})();

/** Reads a webhook. @throws AssertionError when it is no event of the contract. */
export function readEvent(payload: string): PostedEvent {
  const event: unknown = JSON.parse(payload);
  assert.ok(validateEvent(event), payload);
  return event as PostedEvent;
}
