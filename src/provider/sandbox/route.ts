/** What a path of the provider is to the sandbox. */
import { type BankAnswer, done } from '../stub/answer.ts';
import type { Bank } from '../stub/bank.ts';
import type { SandboxRequest } from './messages.ts';

/** One call of the provider. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `{id}` stands for any part between two slashes. Fault rules name calls by it. */
  readonly path: string;
  /** JSON unless it says so. */
  readonly takes?: 'form';
  /**
   * Asks the bank.
   *
   * @returns its answer; the value of one that is done is the body to write.
   * @throws BadRequest when the request has another form than was agreed.
   */
  serve(bank: Bank, request: SandboxRequest): Promise<BankAnswer<unknown>>;
}

/** The bank's answer, with the body to write for what is done. */
export function mapped<T>(
  answer: BankAnswer<T>,
  write: (value: T) => unknown,
): BankAnswer<unknown> {
  return answer.outcome === 'done' ? done(write(answer.value)) : answer;
}
