/** The service as the client of the contract meets it: the real operations behind HTTP. */
import type { SendPixRequest } from '../../../contract/types.ts';
import type { Context } from '../../../src/context/context.ts';
import { asAppError, errorReply, type Headers } from '../../../src/http/reply.ts';
import { cancelPix } from '../../../src/pix/cancel-pix.ts';
import { getPixTransaction } from '../../../src/pix/get-pix-transaction.ts';
import { sendPix } from '../../../src/pix/send-pix.ts';
import type { VerifiedToken } from '../../../src/process/access-tokens.ts';
import { DatabaseFault } from '../database-faults.ts';
import type { Oracle } from '../oracle/oracle.ts';
import type { AppRequest, AppResponse } from '../oracle/requests.ts';
import { readRefusal, type Phone } from '../phone.ts';
import { completeRefusal, type SendOperation } from '../sends.ts';
import { ProcessGone, requestFacts } from '../service.ts';
import type { StoredCustomer } from '../store.ts';

/** A request of the client, as it leaves the device. */
export interface WireRequest {
  readonly method: string;
  /** The path below `/api/v1`. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
  /** The step at which it was sent. */
  readonly sentAt: number;
}

/** A response of the service on the wire. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface AppServiceOptions {
  readonly customer: StoredCustomer;
  readonly phone: Phone;
  readonly oracle: Oracle;
  readonly send: SendOperation;
  /** Called when the service refuses a payment by a rule. */
  readonly refused: (key: string, requestedAt: number) => void;
  /** The key of a transaction that a response to this customer has named; null: none has. */
  readonly keyWith: (transactionId: string) => string | null;
}

type Reply = Pick<WireResponse, 'status'> & {
  readonly headers?: Headers | undefined;
  readonly body?: unknown;
};

export class AppService {
  readonly #options: AppServiceOptions;

  constructor(options: AppServiceOptions) {
    this.#options = options;
  }

  /** Runs the operation of a request, in a process that it has reached. */
  async serve(context: Context, request: WireRequest): Promise<WireResponse> {
    const { method, path } = request;
    if (path === '/auth/login') return this.#logIn(context);
    if (method === 'POST' && path === '/pix/send') return this.#send(context, request);
    if (path === '/pix/send/cancel') return this.#cancel(context, request);
    const [, transactionId = ''] = /^\/pix\/([^/]+)$/.exec(path) ?? [];
    return this.#view(context, { request, transactionId });
  }

  async #logIn(context: Context): Promise<WireResponse> {
    try {
      await this.#options.phone.openSession(context);
    } catch {
      return { status: 502, headers: {}, text: '{"message":"The bank did not answer."}' };
    }
    return wire({ status: 200, body: { access_token: this.#options.phone.sessionId } });
  }

  #send(context: Context, request: WireRequest): Promise<WireResponse> {
    const { send } = this.#options;
    const key = request.headers['Idempotency-Key'] ?? '';
    const headers = { 'Idempotency-Key': key };
    const input = { path: {}, query: {}, headers, body: request.body as SendPixRequest };
    const token = this.#token(context, request);
    return this.#answer(this.#requestOf(key, request), sendPix.refusalHeaders, async () => {
      const facts = requestFacts(context);
      const sent = send.run(context, { input, token, request: facts });
      const reply = await sent.catch((error: unknown) =>
        completeRefusal(context, { error, token, headers }),
      );
      if (reply.status !== 200) throw new Error(`a send was answered ${reply.status}`);
      const { transaction_id: transactionId, status, end_to_end: endToEnd = null } = reply.body;
      return { reply, pix: { transactionId, status, endToEnd } };
    });
  }

  #cancel(context: Context, request: WireRequest): Promise<WireResponse> {
    const headers = { 'Idempotency-Key': request.headers['Idempotency-Key'] ?? '' };
    const input = { path: {}, query: {}, headers, body: undefined };
    const of = this.#requestOf(headers['Idempotency-Key'], request);
    return this.#answer(of, cancelPix.refusalHeaders, async () => {
      const token = this.#token(context, request);
      const reply = await cancelPix.run(context, { input, token, request: requestFacts(context) });
      if (reply.status !== 200) throw new Error(`a cancellation was answered ${reply.status}`);
      const { transaction_id: transactionId, status, end_to_end: endToEnd = null } = reply.body;
      return { reply, pix: { transactionId, status, endToEnd } };
    });
  }

  #view(
    context: Context,
    { request, transactionId }: { readonly request: WireRequest; readonly transactionId: string },
  ): Promise<WireResponse> {
    const { customer, oracle, keyWith } = this.#options;
    const key = keyWith(transactionId);
    const app = key === null ? null : this.#requestOf(key, request);
    const prefer = request.headers['Prefer'];
    const headers = prefer === undefined ? {} : { Prefer: prefer };
    const input = { path: { transactionId }, query: {}, headers, body: undefined };
    return this.#answer(app, undefined, async () => {
      const token = this.#token(context, request);
      const facts = requestFacts(context);
      const reply = await getPixTransaction.run(context, { input, token, request: facts });
      if (reply.status !== 200) throw new Error(`a view was answered ${reply.status}`);
      const endToEnd = key === null ? null : oracle.findAttempt(customer, key);
      return { reply, pix: { transactionId, status: reply.body.status, endToEnd } };
    });
  }

  /** Makes a response of a result or an error, as the server does, and shows it to the oracle. */
  async #answer(
    request: AppRequest | null,
    refusalHeaders: typeof sendPix.refusalHeaders,
    work: () => Promise<{ readonly reply: Reply; readonly pix: AppResponse['pix'] }>,
  ): Promise<WireResponse> {
    const { oracle, refused } = this.#options;
    try {
      const { reply, pix } = await work();
      const outcome = reply.headers?.['Pix-Outcome'] ?? null;
      if (request) oracle.answered(request, { status: reply.status, outcome, pix });
      return wire(reply);
    } catch (thrown) {
      if (thrown instanceof ProcessGone) throw thrown;
      const error = asAppError(thrown);
      if (error.code === 'INTERNAL' || (error !== thrown && !(thrown instanceof DatabaseFault))) {
        oracle.violated(`a defect: ${String(thrown)}`);
      }
      const { status, headers, content } = errorReply(error, 'en');
      const refusal = readRefusal(error) ?? { status, outcome: null };
      if (request) oracle.answered(request, { ...refusal, pix: null });
      // With an unknown outcome nothing is stored, and the same tap may go on.
      const isRefused = status === 422 && refusal.outcome !== 'unknown';
      if (request && isRefused) refused(request.key, request.requestedAt);
      const text = content === null ? '' : String(content.bytes);
      return { status, headers: { ...refusalHeaders?.(error), ...headers }, text };
    }
  }

  #requestOf(key: string, { sentAt }: WireRequest): AppRequest {
    return { customer: this.#options.customer, key, requestedAt: sentAt };
  }

  #token({ clock }: Context, { headers }: WireRequest): VerifiedToken {
    const { customer } = this.#options;
    return {
      userId: customer.id,
      sessionId: sessionIn(headers),
      tokenId: 'simulation',
      expiresAt: clock.now(),
    };
  }
}

/** The banking session whose token a request has. */
export function sessionIn(headers: Headers): string {
  return (headers['Authorization'] ?? '').replace(/^Bearer /, '');
}

function wire({ status, headers = {}, body }: Reply): WireResponse {
  return { status, headers, text: JSON.stringify(body) };
}
