/**
 * The types of an operation. An operation takes validated, typed input and returns a status, a body
 * and headers, without HTTP objects, so that the server and the simulated bank's webhooks can both
 * call it.
 */
import type { OperationId, Operations } from '../../contract/types.ts';
import type { Context } from './context.ts';
import type { AppError, Locale } from '../errors.ts';
import type { Log } from '../telemetry/log.ts';
import type { CallOptions } from '../provider/provider.ts';
import type { VerifiedToken } from '../process/access-tokens.ts';
import type { Principal } from '../domain/principal.ts';

export type { OperationId };

/**
 * Consumes the bytes of a file as they arrive; reading slowly slows the client down.
 * @throws AppError VALIDATION_FAILED for an invalid file: the reply lists its errors together
 *   with those of the fields, and the rest of the file is discarded.
 */
export type FileConsumer<Result> = (content: AsyncIterable<Buffer>) => Promise<Result>;

/** A form with one file. The operation reads it as a stream, because the file may be large. */
export interface Form<Fields> {
  /**
   * Reads the form to its end, once. The form is valid when the promise resolves; do not use the
   * consumer's result before that, or if the promise rejects.
   *
   * @param consume receives the file, before or after the fields have arrived.
   * @returns the fields, and the consumer's result.
   */
  receive<Result>(
    consume: FileConsumer<Result>,
  ): Promise<{ readonly fields: Fields; readonly file: Result }>;
}

/** The operations whose body is a form. */
type FormOperationId = 'submitDocument';

type Body<Id extends OperationId> = Id extends FormOperationId
  ? Form<Operations[Id]['body']>
  : Operations[Id]['body'];

/** The validated input of an operation, by its place in the request; a form is not read yet. */
export interface Input<Id extends OperationId> {
  readonly path: Operations[Id]['path'];
  readonly query: Operations[Id]['query'];
  readonly headers: Operations[Id]['headers'];
  readonly body: Body<Id>;
}

/** Facts about the request in addition to its input. */
export interface RequestFacts {
  readonly id: string;
  readonly locale: Locale;
  readonly clientAddress: string;
  /** The token of the `Authorization` header as the client has sent it; null without one. */
  readonly bearer: string | null;
  /** Sent with every call to the provider, to correlate both logs. */
  readonly callOptions: Pick<CallOptions, 'requestId' | 'trace'>;
  /**
   * Names the transaction that the request stores, before the first use of `callOptions`
   * and `log`: the transaction's trace then begins with the request.
   */
  traceTransaction?(id: string): void;
  /** The unparsed body, to be stored. */
  readonly rawBody: Buffer;
  /** The bytes that were sent, where `rawBody` is their text in UTF-8: to be hashed. */
  readonly sentBody?: Buffer | undefined;
  /** Aborts when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface Call<Id extends OperationId> {
  readonly input: Input<Id>;
  readonly request: RequestFacts;
}

/** Facts about a request before its body is read. */
export interface PathCaller<Id extends OperationId> extends Pick<Input<Id>, 'path'> {
  readonly clientAddress: string;
}

type Replies<Id extends OperationId> = Operations[Id]['replies'];

/** A reply: one of the statuses that the contract lists for the operation, with its body. */
export type OperationReply<Id extends OperationId> = {
  [Status in keyof Replies<Id> & number]: {
    readonly status: Status;
    readonly body: Replies<Id>[Status];
    readonly headers?: Readonly<Record<string, string>>;
  };
}[keyof Replies<Id> & number];

type Accepted<Part> = { readonly [Name in keyof Part]?: Part[Name] | null };

/** What the contract accepts of a request that it refuses: null where a field is invalid. */
export interface RefusedInput<Id extends OperationId> {
  readonly query: Accepted<Operations[Id]['query']>;
  readonly body: Accepted<NonNullable<Operations[Id]['body']>>;
}

/** Adds headers to every refusal of an operation, whichever stage it comes from. */
export interface WithRefusalHeaders {
  /** Further headers; those of the error itself take precedence. */
  refusalHeaders?(error: AppError): Readonly<Record<string, string>>;
}

/** A request with a valid token that was refused, by validation or by its operation. */
export interface RefusedCall<Id extends OperationId> {
  readonly error: AppError;
  readonly token: VerifiedToken;
  /** Null when the headers that the contract declares are invalid. */
  readonly headers: Operations[Id]['headers'] | null;
}

/** Needs no token. */
export interface PublicOperation<Id extends OperationId> extends WithRefusalHeaders {
  readonly access: 'public';
  /** Refuses a request before its body is read. */
  admit?(context: Context, caller: PathCaller<Id>): Promise<void>;
  /**
   * Counts a request that is refused before it runs. Such an operation counts the others itself,
   * because it tells its customers from strangers at the same address.
   */
  countRefused?(context: Context, clientAddress: string): Promise<void>;
  /**
   * Runs the operation's own checks on a request that the contract refuses, so that its reply names
   * their errors too.
   * @throws AppError VALIDATION_FAILED
   */
  checkRefused?(context: Context, input: RefusedInput<Id>): void;
  run(context: Context, call: Call<Id>): Promise<OperationReply<Id>>;
}

/** Needs the secret of the provider's webhooks, where one is set. */
export interface WebhookOperation<Id extends OperationId> extends WithRefusalHeaders {
  readonly access: 'secret';
  run(context: Context, call: Call<Id>): Promise<OperationReply<Id>>;
}

/** Needs a valid token whose banking session is active. */
export interface SessionOperation<Id extends OperationId> extends WithRefusalHeaders {
  readonly access: 'session';
  /** As {@link PublicOperation.checkRefused}. */
  checkRefused?(
    context: Context,
    input: RefusedInput<Id> & { readonly principal: Principal },
  ): void;
  run(
    context: Context,
    call: Call<Id> & { readonly principal: Principal },
  ): Promise<OperationReply<Id>>;
}

/**
 * Needs a valid token; its banking session may have ended. Prefer `session`: this is for logout,
 * and for an operation whose own statement checks the session, which saves a round trip.
 */
export interface TokenOperation<Id extends OperationId> extends WithRefusalHeaders {
  readonly access: 'token';
  /** Whether the operation refuses an ended session, in a statement that it needs anyway. */
  readonly checksSession: boolean;
  /**
   * Completes a refusal from what is stored, such as the outcome of an earlier request.
   * @throws AppError in place of the refusal.
   */
  completeRefusal?(context: Context, call: RefusedCall<Id>): Promise<AppError>;
  /** As {@link PublicOperation.checkRefused}. */
  checkRefused?(
    context: Context,
    input: RefusedInput<Id> & { readonly token: VerifiedToken },
  ): void;
  run(
    context: Context,
    call: Call<Id> & { readonly token: VerifiedToken },
  ): Promise<OperationReply<Id>>;
}

export type Operation<Id extends OperationId> =
  PublicOperation<Id> | WebhookOperation<Id> | SessionOperation<Id> | TokenOperation<Id>;

/** What an operation requires: what its contract lists, and for `session` an active session too. */
export type RequiredAccess = Operation<OperationId>['access'];

/** Every operation of the contract; a missing one does not compile. */
export type OperationTable = { readonly [Id in OperationId]: Operation<Id> };
