/** The rules of every response: it matches the contract, and requires credentials. */
import type { OperationContract } from '../../src/contract/contract.ts';
import { createSchemaCompiler, type ValidateFunction } from '../../src/contract/schemas.ts';
import { resolver } from '../api/http/hostile-bodies.ts';
import type { Draft, Json } from './drafts.ts';
import type { RawResponse } from './line.ts';

/** The statuses of the contract's default response: the request does not match the operation. */
const wireStatuses = new Set([400, 404, 405, 408, 413, 415, 431]);

/**
 * When a message is not read to its end, its route may be unknown. It may be a send, so the
 * response has `Pix-Outcome: unknown`.
 */
const unreadStatuses = new Set([400, 408, 413, 431]);

/** Headers beside those of the contract, as in RFC 9110. */
const usualHeaders = new Set([
  'x-request-id',
  'cache-control',
  'x-content-type-options',
  'referrer-policy',
  'date',
  'content-type',
  'content-length',
  'content-language',
  'connection',
  'keep-alive',
  'vary',
  'www-authenticate',
  'retry-after',
  'allow',
]);

const always = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

type Validate = () => ValidateFunction;

interface Promised {
  readonly body: Validate | null;
  readonly headers: readonly { name: string; isRequired: boolean; validate: Validate }[];
}

export class Oracle {
  readonly #document: Json;
  readonly #schemas;
  readonly #promised = new Map<string, Promised>();
  readonly #mayHaveMoreHeaders: boolean;

  /** @param options.isReleased the contract of an older release: headers may have been added. */
  constructor(document: Json, { isReleased = false } = {}) {
    this.#document = document;
    this.#mayHaveMoreHeaders = isReleased;
    this.#schemas = createSchemaCompiler(document);
  }

  /** @returns the faults of the response to a request, each in a few words. */
  findFaults(draft: Draft, response: RawResponse): string[] {
    const { status } = response;
    const { operation } = draft;
    const faults: string[] = [];
    const isListed = operation.statuses.has(status);
    if (status >= 500 && !(draft.isRouted && isListed && status !== 503)) {
      faults.push(`an undocumented ${status}`);
    }
    if (draft.isForged && status < 400 && draft.method !== 'OPTIONS') {
      faults.push(`${status} without credentials`);
    }
    const isKnown = isListed || wireStatuses.has(status);
    if (draft.isRouted && !isKnown && status < 500)
      faults.push(`status ${status} is not in the contract`);
    for (const [name, value] of Object.entries(always)) {
      if (response.headers.get(name)?.join() !== value) faults.push(`${name} is not ${value}`);
    }
    for (const [name, values] of response.headers) {
      if (values.length > 1) faults.push(`${name} occurs ${values.length} times`);
    }
    if (draft.isRouted) faults.push(...this.#breaches(operation, response, isListed));
    else if (status >= 400 && draft.method !== 'HEAD') faults.push(...messageFaults(response));
    return faults;
  }

  #breaches(operation: OperationContract, response: RawResponse, isListed: boolean): string[] {
    const { status, headers, text } = response;
    const promised = this.#of(operation, isListed ? String(status) : 'default');
    const faults: string[] = [];
    for (const { name, isRequired, validate } of promised.headers) {
      const value = headers.get(name)?.join(', ');
      if (value === undefined && isRequired) faults.push(`${name} is missing on ${status}`);
      if (value === undefined) continue;
      const isValid = [value, Number(value)].some((read) => validate()(read));
      if (!isValid) faults.push(`${name} is ${value}`);
    }
    const known = new Set(promised.headers.map(({ name }) => name));
    const isUnread = unreadStatuses.has(status) && headers.get('pix-outcome')?.join() === 'unknown';
    if (isUnread) known.add('pix-outcome');
    for (const name of headers.keys()) {
      if (this.#mayHaveMoreHeaders || usualHeaders.has(name) || known.has(name)) continue;
      faults.push(`${name} on ${status}`);
    }
    if (promised.body === null)
      return text === '' ? faults : [...faults, 'a body that is not in the contract'];
    const validate = promised.body();
    const value = json(text);
    if (value === undefined) return [...faults, `the body of ${status} is not JSON`];
    if (validate(value)) return faults;
    const [error] = validate.errors ?? [];
    return [...faults, `the body of ${status} at ${error?.instancePath} (${error?.keyword})`];
  }

  #of({ id, method, path }: OperationContract, status: string): Promised {
    const key = `${id} ${status}`;
    const known = this.#promised.get(key);
    if (known) return known;
    const template = path.replace('/api/v1', '');
    const at = ['paths', template, method.toLowerCase(), 'responses', status];
    const { value, pointer } = this.#follow(at);
    const content = ['content', 'application/json', 'schema'];
    const headers = Object.keys((value['headers'] ?? {}) as Json).map((name) => {
      const header = this.#follow([...pointer, 'headers', name]);
      const isRequired = header.value['required'] === true;
      const validate = this.#compiled([...header.pointer, 'schema']);
      return { name: name.toLowerCase(), isRequired, validate };
    });
    const body = value['content'] ? this.#compiled([...pointer, ...content]) : null;
    const promised = { body, headers };
    this.#promised.set(key, promised);
    return promised;
  }

  #compiled(pointer: readonly string[]): Validate {
    return this.#schemas.compile({ $ref: this.#schemas.reference(pointer) });
  }

  /** The value at a pointer of the document, and its pointer after references. */
  #follow(pointer: readonly string[]): { readonly value: Json; readonly pointer: string[] } {
    const value = pointer.reduce((node, key) => (node[key] ?? {}) as Json, this.#document);
    const { $ref } = value;
    if (typeof $ref !== 'string') return { value, pointer: [...pointer] };
    return { value: resolver(this.#document)(value), pointer: $ref.slice(2).split('/') };
  }
}

function messageFaults({ text, status }: RawResponse): string[] {
  const { message } = (json(text) ?? {}) as Json;
  return typeof message === 'string' ? [] : [`the body of ${status} has no message`];
}

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
