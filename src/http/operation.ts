/**
 * The form of an operation: what a request of the contract does, without HTTP objects. It takes
 * validated, typed input and returns a status, a body and headers, so that the server, the command
 * line and the simulated bank's webhooks call it alike.
 */
import type { OperationId, Operations } from '../../contract/types.ts';
import type { Context } from '../context.ts';
import type { AppError, Locale } from '../errors.ts';
import type { Log } from '../log.ts';
import type { CallOptions } from '../provider/provider.ts';
import type { VerifiedToken } from '../auth/access-tokens.ts';
import type { Principal } from '../auth/principal.ts';

export type { OperationId };

/**
 * Takes the bytes of a file as they come, and may let the client wait.
 * @throws AppError VALIDATION_FAILED for what is wrong with the file: it is told together with what
 *   is wrong with the fields, and the rest of the file is not kept.
 */
export type FileTaker<Taken> = (content: AsyncIterable<Buffer>) => Promise<Taken>;

/** A form with one file. It is read while the operation runs, because nobody can hold it. */
export interface Form<Fields> {
  /**
   * Reads the form to its end, once. It is validated when this has resolved: until then, and when
   * it rejects, what was taken of the file is good for nothing.
   *
   * @param take gets the file, before or after the fields have come.
   * @returns the fields, and what the file was taken as.
   */
  receive<Taken>(
    take: FileTaker<Taken>,
  ): Promise<{ readonly fields: Fields; readonly taken: Taken }>;
}

/** The operations whose body is a form. */
type FormOperationId = 'submitDocument';

type Body<Id extends OperationId> = Id extends FormOperationId
  ? Form<Operations[Id]['body']>
  : Operations[Id]['body'];

/** The validated input of an operation, by where it came from; a form has still to be read. */
export interface Input<Id extends OperationId> {
  readonly path: Operations[Id]['path'];
  readonly query: Operations[Id]['query'];
  readonly headers: Operations[Id]['headers'];
  readonly body: Body<Id>;
}

/** What is known of the request beside its input. */
export interface RequestFacts {
  readonly id: string;
  readonly locale: Locale;
  readonly clientAddress: string;
  /** Goes with every call to the provider, so that both logs tell of one request. */
  readonly callOptions: Pick<CallOptions, 'requestId' | 'trace'>;
  /** The body's bytes as they came, for what is hashed or stored as it is. */
  readonly rawBody: Buffer;
  /** Aborts when the client has gone or the server closes. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface Call<Id extends OperationId> {
  readonly input: Input<Id>;
  readonly request: RequestFacts;
}

/** What is known of a request before its body is read. */
export interface PathCaller<Id extends OperationId> extends Pick<Input<Id>, 'path'> {
  readonly clientAddress: string;
}

type Replies<Id extends OperationId> = Operations[Id]['replies'];

/** An answer: one of the statuses that the contract lists for the operation, with its body. */
export type Reply<Id extends OperationId> = {
  [Status in keyof Replies<Id> & number]: {
    readonly status: Status;
    readonly body: Replies<Id>[Status];
    readonly headers?: Readonly<Record<string, string>>;
  };
}[keyof Replies<Id> & number];

/** What an operation says with every refusal, whichever stage of the request it comes from. */
export interface Refusing {
  /** Headers beside those that the error has itself, which win. */
  refusalHeaders?(error: AppError): Readonly<Record<string, string>>;
}

/** Open to everyone. */
export interface PublicOperation<Id extends OperationId> extends Refusing {
  readonly access: 'public';
  /** Refuses a request before its body is read. */
  admit?(context: Context, caller: PathCaller<Id>): Promise<void>;
  run(context: Context, call: Call<Id>): Promise<Reply<Id>>;
}

/** Needs a valid token whose banking session is active. */
export interface SessionOperation<Id extends OperationId> extends Refusing {
  readonly access: 'session';
  run(context: Context, call: Call<Id> & { readonly principal: Principal }): Promise<Reply<Id>>;
}

/** Needs a valid token, whatever has become of its banking session. */
export interface TokenOperation<Id extends OperationId> extends Refusing {
  readonly access: 'token';
  /** It checks the banking session all the same, in a statement that it makes anyway. */
  readonly checksSession?: true;
  run(context: Context, call: Call<Id> & { readonly token: VerifiedToken }): Promise<Reply<Id>>;
}

export type Operation<Id extends OperationId> =
  PublicOperation<Id> | SessionOperation<Id> | TokenOperation<Id>;

/** Every operation of the contract; a missing one does not compile. */
export type OperationTable = { readonly [Id in OperationId]: Operation<Id> };
