/**
 * The type of an op, one operation for operators. It takes and returns plain JSON, so that the
 * command line can run it in its own process or through the socket of a running service.
 */
import type { LocalContext } from '../context/context.ts';
import { isUuid } from '../domain/text.ts';

/** Receives the progress of a long op: how many parts are done, and of how many. */
export type Progress = (done: number, total: number) => void;

/** The operator who runs an op, and a listener for its progress. */
export interface OpCaller {
  /** The system user and, in brackets, the name of `--by`. */
  readonly operator: string;
  /** Why, for the record; absent when the operator states none. */
  readonly reason?: string | undefined;
  readonly progress: Progress;
}

export interface Op<Input, Result> {
  /**
   * What must exist before it runs: this version's schema (the default), a database with any
   * schema, or nothing, for an op that may create the database.
   */
  readonly needs?: 'schema' | 'database' | 'nothing';
  /** Whether it reads messages or codes of the provider: only then are the dialects opened. */
  readonly needsDialects?: true;
  /** Why it is refused while a service runs on the embedded database, as a sentence. */
  readonly refusedWhileServing?: string;
  /**
   * @param input validated by the options of the command.
   * @throws OpError when it cannot be done.
   */
  run(context: LocalContext, input: Input, caller: OpCaller): Promise<Result>;
}

/**
 * Why an op changed nothing. `INVALID`: the input can never be right, whatever is stored, so the
 * command exits 2 as for other wrong usage; else it exits 1.
 */
export type OpRefusal = 'INVALID' | 'NOT_FOUND' | 'REFUSED';

/** A refusal; its message is a sentence for the operator, without a full stop. */
export class OpError extends Error {
  readonly code: OpRefusal;

  constructor(code: OpRefusal, message: string) {
    super(message);
    this.name = 'OpError';
    this.code = code;
  }
}

/**
 * @param what a row of the ids is, such as `a job`.
 * @throws OpError when one of them is not the number of a row.
 */
export function requireRowIds(ids: readonly string[], what: string): void {
  requireIds(ids, what, (id) => /^\d{1,18}$/.test(id));
}

/** @throws OpError when one of them is not the id of an event. */
export function requireEventIds(ids: readonly string[]): void {
  requireIds(ids, 'an event', isUuid);
}

function requireIds(ids: readonly string[], what: string, has: (id: string) => boolean): void {
  const wrong = ids.find((id) => !has(id));
  if (wrong !== undefined) throw new OpError('INVALID', `${wrong} is not the id of ${what}`);
}
