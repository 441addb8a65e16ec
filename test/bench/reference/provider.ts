/**
 * The provider behind the reference server: the simulated bank that stands behind the service too,
 * in process and without latency, so that both pay the same for what is no part of either.
 */
import { systemClock } from '../../../src/clock.ts';
import type { BankAnswer } from '../../../src/provider/stub/answer.ts';
import { createBank, type Bank } from '../../../src/provider/stub/bank.ts';

export type { Bank };

/** Opens the bank. It reports no payment's end, and its state ends with the process. */
export function openBank(): Bank {
  const notify = (): Promise<void> => Promise.resolve();
  return createBank({ clock: systemClock, ispb: '11165756', settleMs: 0, notify });
}

/**
 * @param answer what the bank was asked.
 * @throws Error when it does not do it.
 */
export async function answerOf<T>(answer: BankAnswer<T> | Promise<BankAnswer<T>>): Promise<T> {
  const said = await answer;
  if (said.outcome === 'done') return said.value;
  throw new Error(`the bank answers ${said.outcome}`);
}
