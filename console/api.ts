/** The service over HTTP, typed by the contract. */
import { routes, type OperationId, type Operations } from '../contract/types.ts';
import type { Faults } from './model/form.ts';
import { uploadOf, type Upload } from './upload.ts';

type Replies<Id extends OperationId> = Operations[Id]['replies'];

/** An answer that the contract lists, by its status. */
export type Answer<Id extends OperationId> = {
  [Status in keyof Replies<Id> & number]: {
    readonly status: Status;
    readonly body: Replies<Id>[Status];
    readonly headers: Headers;
  };
}[keyof Replies<Id> & number];

/** Any answer, for what reads all of them alike. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A part of a request, where the operation has one; optional where nothing of it is required. */
type Part<Name extends string, Value> = [Value] extends [Record<string, never> | undefined]
  ? unknown
  : Record<string, never> extends Value
    ? Partial<Readonly<Record<Name, Value>>>
    : undefined extends Value
      ? Partial<Readonly<Record<Name, Value>>>
      : Readonly<Record<Name, Value>>;

/** What an operation is given. */
export type Input<Id extends OperationId> = Part<'path', Operations[Id]['path']> &
  Part<'query', Operations[Id]['query']> &
  Part<'headers', Operations[Id]['headers']> &
  Part<'body', Operations[Id]['body']>;

interface AnyInput {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** There was no answer that can be read, in a sentence for whoever sits at the console. */
class NoAnswer extends Error {
  constructor(url: string, cause: unknown) {
    super(`No answer from ${url}. Is the service running?`, { cause });
    this.name = 'NoAnswer';
  }
}

/** A client of one service. The access token stays in memory. */
export class Api {
  readonly url: string;
  token: string | null = null;
  /** Told when the service takes the token no more; it is forgotten by then. */
  onRefused: (outcome: string | null) => void = () => undefined;

  /** @param url where the service listens, such as `http://127.0.0.1:3000`. */
  constructor(url: string) {
    this.url = url.replace(/\/+$/, '');
  }

  /**
   * Calls an operation.
   * @throws NoAnswer when there is none; the signal's reason when it aborts.
   */
  async call<Id extends OperationId>(
    id: Id,
    input: Input<Id>,
    signal: AbortSignal,
  ): Promise<Answer<Id>> {
    // Every part of an operation's input is one of these.
    const { headers: given, body, ...address } = input as AnyInput;
    const headers = new Headers(given);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    return this.#answer<Id>(this.#address(id, address), {
      method: routes[id].method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    });
  }

  /**
   * Uploads a document from a file, as a stream.
   * @throws UnreadableFile before anything leaves; otherwise as `call` does.
   */
  async upload(upload: Upload, signal: AbortSignal): Promise<Answer<'submitDocument'>> {
    const { body, headers } = await uploadOf(upload);
    const path = { applicationId: upload.applicationId };
    return this.#answer<'submitDocument'>(this.#address('submitDocument', { path }), {
      method: routes.submitDocument.method,
      headers: new Headers(headers),
      body,
      // A request whose body is a stream says so.
      duplex: 'half',
      signal,
    });
  }

  /**
   * The contract that the service itself serves, as YAML.
   * @throws NoAnswer when nobody answers, or somebody who has none.
   */
  async contract(signal: AbortSignal): Promise<string> {
    const answer = await this.#fetch(`${this.url}/openapi.yaml`, { signal });
    if (answer.status !== 200) throw new NoAnswer(this.url, answer.status);
    return answer.text();
  }

  #address(id: OperationId, { path = {}, query = {} }: AnyInput): string {
    const filled = routes[id].path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(path[name] ?? ''),
    );
    const search = new URLSearchParams(query).toString();
    return `${this.url}/api/v1${filled}${search && `?${search}`}`;
  }

  async #answer<Id extends OperationId>(url: string, init: Sent): Promise<Answer<Id>> {
    const { token } = this;
    if (token !== null) init.headers.set('Authorization', `Bearer ${token}`);
    const answer = await this.#fetch(url, init);
    const { status, headers } = answer;
    const body = await this.#json(answer, init);
    if (status === 401 && token !== null && token === this.token) {
      this.token = null;
      this.onRefused(headers.get('pix-outcome'));
    }
    // What the service answers is what its contract says; the console checks no more.
    return { status, headers, body } as Answer<Id>;
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (error) {
      throw this.#failure(error, init);
    }
  }

  async #json(answer: Response, init: RequestInit): Promise<unknown> {
    try {
      const text = await answer.text();
      return text === '' ? undefined : JSON.parse(text);
    } catch (error) {
      throw this.#failure(error, init);
    }
  }

  #failure(error: unknown, { signal }: RequestInit): unknown {
    return signal?.aborted ? error : new NoAnswer(this.url, error);
  }
}

type Sent = Omit<RequestInit, 'headers'> & { readonly headers: Headers };

interface Refusal {
  readonly message?: string;
  readonly code?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** What an answer refuses: by field, and the whole under the empty name. */
export function refusalsOf(answer: Answered): Faults {
  if (answer.status < 400) return {};
  const { message = '', code, errors = {} } = (answer.body ?? {}) as Refusal;
  const seconds = answer.headers.get('retry-after');
  const wait = seconds === null ? '' : ` (in ${seconds} s)`;
  const whole = `${message}${code === undefined ? '' : ` (${code})`}${wait}`;
  const byField = Object.entries(errors).map(([name, texts]) => [name, texts.join(' ')] as const);
  return { '': whole || `The service answered ${answer.status}.`, ...Object.fromEntries(byField) };
}
