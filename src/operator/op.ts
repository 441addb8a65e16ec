/**
 * The form of an op: one thing that an operator asks of the service. It takes and gives plain JSON,
 * so that the command line reaches it alike in its own process and through the socket of a server
 * that runs.
 */
import type { LocalContext } from '../context.ts';

/** Told while a long work goes on: how many parts are done, of how many. */
export type Progress = (done: number, total: number) => void;

/** The operator who runs an op, and a listener for its progress. */
export interface OpCaller {
  /** The operator: the user of the system and, in brackets, the name that was given (`--by`). */
  readonly operator: string;
  readonly progress: Progress;
}

export interface Op<Input, Result> {
  /**
   * What has to be there before it runs: the schema that this code knows (the default), a database
   * with any schema, or nothing, for an op that may make the database.
   */
  readonly needs?: 'schema' | 'database' | 'nothing';
  /** It is refused while a service runs on the embedded database, in one sentence. */
  readonly refusedWhileServing?: string;
  /**
   * @param input checked by the caller's own options; an op refuses what it cannot find or do.
   * @throws OpError with a sentence for the operator.
   */
  run(context: LocalContext, input: Input, caller: OpCaller): Promise<Result>;
}

/** Why an op did nothing: what it was asked about is not there, or may not be done. */
export type OpRefusal = 'NOT_FOUND' | 'REFUSED';

/** A refusal in a sentence that the operator reads as it is; it ends without a full stop. */
export class OpError extends Error {
  readonly code: OpRefusal;

  constructor(code: OpRefusal, message: string) {
    super(message);
    this.name = 'OpError';
    this.code = code;
  }
}
