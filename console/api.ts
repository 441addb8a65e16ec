/** The client of the service, typed by the contract. */
import {
  operationUrl,
  type AnyRequest,
  type OperationRequest,
  type OperationResponse,
  type ServiceResponse,
} from '../contract/client/request.ts';
import { routes, type OperationId, type SubmitDocumentRequest } from '../contract/types.ts';
import { withoutPasswords, type Exchange } from './state/exchange.ts';
import type { Faults } from './state/form.ts';
import { uploadForm } from './upload.ts';

export type { OperationResponse, ServiceResponse };

/** A value that makes the simulated bank misbehave. */
export interface Scenario {
  /** The kind of input for the value. */
  readonly input: string;
  readonly value: string;
  readonly effect: string;
}

/** A client of one service. The access token stays in memory. */
export class Api {
  readonly url: string;
  token: string | null = null;
  /** The last request, except those that follow a transaction; null before the first. */
  last: Exchange | null = null;
  /** Called when `last` has changed. */
  onNoted: () => void = () => undefined;
  /** Called once the service refuses the token. */
  onRefused: () => void = () => undefined;

  /** @param url where the service listens, such as `http://127.0.0.1:3000`. */
  constructor(url: string) {
    this.url = url.replace(/\/+$/, '');
  }

  /**
   * Calls an operation.
   * @throws Error with a sentence for a person when there is no response, or when the file of a
   * document cannot be read; the reason of the signal when it aborts.
   */
  async call<Id extends OperationId>(
    id: Id,
    request: OperationRequest<Id>,
    signal: AbortSignal,
  ): Promise<OperationResponse<Id>> {
    // Every part of an operation's request is one of these.
    const { headers: given, body, ...address } = request as AnyRequest;
    const headers = new Headers(given);
    const method = routes[id].method;
    const init = { ...(await this.#body(id, headers, body)), method, headers };
    const { token } = this;
    if (token !== null) headers.set('Authorization', `Bearer ${token}`);
    const response = await this.#noted(operationUrl(this.url, id, address), { ...init, signal });
    if (response.status === 401 && token !== null && token === this.token) {
      this.token = null;
      this.onRefused();
    }
    // The service checks its responses against the contract; the console does not.
    return response as OperationResponse<Id>;
  }

  /** @throws Error when no Ponte answers at the address. */
  async ping(signal: AbortSignal): Promise<void> {
    const { status } = await this.#fetch(`${this.url}/health/live`, { signal });
    if (status !== 200) throw this.#noResponse(status);
  }

  /** Makes a request, and keeps it for a person who wants to see it. */
  async #noted(
    url: string,
    init: RequestInit & { readonly headers: Headers },
  ): Promise<ServiceResponse> {
    const { method = 'GET', headers, body } = init;
    const text = typeof body === 'string' ? withoutPasswords(body) : null;
    const request = { method, url, headers: Object.fromEntries(headers), body: text };
    // The requests that follow a transaction would hide the person's last action.
    const note = ({ status, response }: Pick<Exchange, 'status' | 'response'>): void => {
      if (headers.has('prefer')) return;
      this.last = { ...request, status, response };
      this.onNoted();
    };
    note({ status: null, response: undefined });
    const answered = await this.#fetch(url, init);
    note({ status: answered.status, response: answered.body });
    return answered;
  }

  /**
   * Makes the simulated bank of a service in development do something.
   * @returns the bank's response, as a sentence.
   * @throws Error with what it refuses, or as `call` does.
   */
  async actAtBank(
    act: string,
    values: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string> {
    const url = `${this.url}/dev/bank/${act}?${new URLSearchParams(values).toString()}`;
    const headers = { 'x-ponte-bank': 'console' };
    const response = await this.#fetch(url, { method: 'POST', headers, signal });
    if (response.status === 404)
      throw new Error('Only the simulated bank of APP_ENV=local does it.');
    if (response.status !== 200) throw new Error(Object.values(readFaults(response)).join(' '));
    return (response.body as { readonly message: string }).message;
  }

  /** @returns the inputs that make the simulated bank misbehave; none with another provider. */
  async readScenarios(signal: AbortSignal): Promise<readonly Scenario[]> {
    const { status, body } = await this.#fetch(`${this.url}/dev/scenarios.json`, { signal });
    return status === 200 ? (body as readonly Scenario[]) : [];
  }

  async #body(
    id: OperationId,
    headers: Headers,
    body: unknown,
  ): Promise<Pick<RequestInit, 'body'>> {
    if (body === undefined) return {};
    if (id === 'submitDocument') return { body: await uploadForm(body as SubmitDocumentRequest) };
    headers.set('Content-Type', 'application/json');
    return { body: JSON.stringify(body) };
  }

  async #fetch(url: string, init: RequestInit): Promise<ServiceResponse> {
    try {
      const response = await fetch(url, init);
      const text = await response.text();
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      throw init.signal?.aborted ? error : this.#noResponse(error);
    }
  }

  #noResponse(cause: unknown): Error {
    return new Error(`No response from ${this.url}. Is the service running?`, { cause });
  }
}

/** The body of a response that refuses a request. */
interface Refusal {
  readonly message?: string;
  readonly code?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** The faults that a response names: by field, and for the whole request under the empty name. */
export function readFaults(response: ServiceResponse): Faults {
  if (response.status < 400) return {};
  const { message = '', code, errors = {} } = (response.body ?? {}) as Refusal;
  const seconds = response.headers.get('retry-after');
  const wait = seconds === null ? '' : ` (in ${seconds} s)`;
  const whole = `${message}${code === undefined ? '' : ` (${code})`}${wait}`;
  const byField = Object.entries(errors).map(([name, texts]) => [name, texts.join(' ')] as const);
  const faults = Object.fromEntries(byField);
  // The message of a request with one fault is that fault's sentence.
  if (byField.some(([, text]) => text === message)) return faults;
  return { '': whole || `The service answered ${response.status}.`, ...faults };
}
