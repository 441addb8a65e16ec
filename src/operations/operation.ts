/**
 * The form of an operation: what a request of the contract does, without HTTP objects. It takes
 * validated, typed input and returns a status, a body and headers, so that the server, the command
 * line and the simulated bank's webhooks call it alike.
 */
import type { OperationId, Operations } from '../../contract/types.ts';
import type { Context } from '../context.ts';
import type { Locale } from '../errors.ts';
import type { Log } from '../log.ts';
import type { VerifiedToken } from '../security/access-tokens.ts';
import type { Principal } from '../services/principal.ts';

export type { OperationId };

/** The validated input of an operation, by where it came from. */
export interface Input<Id extends OperationId> {
  readonly path: Operations[Id]['path'];
  readonly query: Operations[Id]['query'];
  readonly headers: Operations[Id]['headers'];
  readonly body: Operations[Id]['body'];
}

/** What is known of the request beside its input. */
export interface RequestFacts {
  readonly id: string;
  readonly locale: Locale;
  readonly clientAddress: string;
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

type Replies<Id extends OperationId> = Operations[Id]['replies'];

/** An answer: one of the statuses that the contract lists for the operation, with its body. */
export type Reply<Id extends OperationId> = {
  [Status in keyof Replies<Id> & number]: {
    readonly status: Status;
    readonly body: Replies<Id>[Status];
    readonly headers?: Readonly<Record<string, string>>;
  };
}[keyof Replies<Id> & number];

/** Open to everyone. */
export interface PublicOperation<Id extends OperationId> {
  readonly access: 'public';
  run(context: Context, call: Call<Id>): Promise<Reply<Id>>;
}

/** Needs a valid token whose banking session is active. */
export interface SessionOperation<Id extends OperationId> {
  readonly access: 'session';
  run(context: Context, call: Call<Id> & { readonly principal: Principal }): Promise<Reply<Id>>;
}

/** Needs a valid token, whatever has become of its banking session. */
export interface TokenOperation<Id extends OperationId> {
  readonly access: 'token';
  run(context: Context, call: Call<Id> & { readonly token: VerifiedToken }): Promise<Reply<Id>>;
}

export type Operation<Id extends OperationId> =
  PublicOperation<Id> | SessionOperation<Id> | TokenOperation<Id>;

/** Every operation of the contract; a missing one does not compile. */
export type OperationTable = { readonly [Id in OperationId]: Operation<Id> };
