/** The provider's API (contract/provider.yaml) over the simulated bank, without a transport. */
import { toSandboxResponse, problem, type SandboxResponse, type Silence } from './responses.ts';
import type { Bank } from './bank/bank.ts';
import { createRouter, type ProviderOperation } from './contract.ts';
import { operations, type Operation } from './operations.ts';
import { BadRequest, checkRequest, readBody, type ApiRequest } from './request.ts';
import type { OperationId } from '../../../contract/provider-types.ts';

export interface ApiOptions {
  readonly bank: Bank;
  /** Whether it serves the onboarding paths, which tested hosts do not; true by default. */
  readonly hasOnboarding?: boolean;
  /** Receives the errors of the bank itself: the call is answered with 500. */
  readonly onFault?: (fault: unknown) => void;
}

/** A request, and its operation. */
export interface Call {
  readonly operation: ProviderOperation;
  readonly request: ApiRequest;
  /** The path's parameters. */
  readonly path: Readonly<Record<string, string | undefined>>;
  /** Still encoded. */
  readonly query: string;
}

/** Answers requests: each has an operation, whose body is read, checked and executed. */
export class Api {
  readonly #options: ApiOptions;
  readonly #router: ReturnType<typeof createRouter>;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#router = createRouter(options.hasOnboarding ?? true);
  }

  /**
   * Answers a request.
   *
   * @throws the error of the request's body when it cannot be read to its end.
   */
  async respond(request: ApiRequest): Promise<SandboxResponse | Silence> {
    const call = this.find(request);
    if ('status' in call) return call;
    try {
      return await this.execute(call, await readBody(request, call.operation.contract.body));
    } catch (error) {
      return toRefusal(error);
    }
  }

  /** @returns the call, or the response to a path or a method that the API does not have. */
  find(request: ApiRequest): Call | SandboxResponse {
    const found = this.#router.find(request.url);
    if (typeof found === 'string') return problem(404, { code: 'NotFound' });
    const { entry, params: path, query } = found;
    const operation = entry.find(({ contract }) => contract.method === request.method);
    return operation ? { operation, request, path, query } : notAllowed(entry);
  }

  /** @throws BadRequest when the request breaks the contract. */
  async execute(
    { operation, request, path, query: search }: Call,
    body: unknown,
  ): Promise<SandboxResponse | Silence> {
    const { authorization } = request.headers;
    const token = /^Bearer (.+)$/i.exec(String(authorization))?.[1] ?? '';
    const query = search === '' ? {} : Object.fromEntries(new URLSearchParams(search));
    const unchecked = { token, path, query, body };
    checkRequest(operation.contract, unchecked);
    const run = operations[operation.id] as Operation<OperationId>;
    try {
      return toSandboxResponse(
        await run(this.#options.bank, unchecked as Parameters<typeof run>[1]),
      );
    } catch (fault) {
      this.#options.onFault?.(fault);
      return problem(500);
    }
  }
}

/** The response to a request that is not executed. @throws every other error. */
export function toRefusal(error: unknown): SandboxResponse {
  if (!(error instanceof BadRequest)) throw error;
  return problem(error.status, { code: 'InvalidRequest', detail: error.message });
}

function notAllowed(others: readonly ProviderOperation[]): SandboxResponse {
  const response = problem(405, { code: 'MethodNotAllowed' });
  const allow = others.map(({ contract }) => contract.method).join(', ');
  return { ...response, headers: { ...response.headers, allow } };
}
