/**
 * The provider of the reference server: the same simulated bank as that of the service, in process
 * and without latency, so that its cost is the same for both.
 */
import { systemClock } from '../../../src/clock.ts';
import type { BankAnswer } from '../../../src/provider/sandbox/bank/answer.ts';
import { createBank, type Bank } from '../../../src/provider/sandbox/bank/bank.ts';

export type { Bank };

/** Opens the bank. It reports no final status of a payment, and its state ends with the process. */
export function openBank(): Bank {
  const notify = (): Promise<void> => Promise.resolve();
  return createBank({ clock: systemClock, ispb: '11165756', settleMs: 0, notify });
}

/**
 * @param answer the answer of the bank.
 * @throws Error when the bank refuses or fails.
 */
export async function answerOf<T>(answer: BankAnswer<T> | Promise<BankAnswer<T>>): Promise<T> {
  const said = await answer;
  if (said.outcome === 'done') return said.value;
  throw new Error(`the bank answers ${said.outcome}`);
}
