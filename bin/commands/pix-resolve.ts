/** `ponte pix resolve`: an operator decides what became of a payment. */
import { riskOfFailing } from '../../src/operator/pix-resolve.ts';
import type { Desk } from '../desk.ts';
import { exitCodes, UsageError, type ExitCode } from '../exit-codes.ts';

export interface Options {
  readonly as: 'completed' | 'failed';
  readonly reason: string;
  readonly confirm?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Says what is about to be decided, asks, and writes it down with who has decided. */
export async function pixResolve(desk: Desk, id: string, options: Options): Promise<ExitCode> {
  const { as, reason, yes = false, json = false } = options;
  const { terminal } = desk;
  if (as === 'failed' && yes && options.confirm === undefined) {
    throw new UsageError(
      `--as failed with --yes needs --confirm '${riskOfFailing}': if it has, the person pays twice`,
    );
  }
  const decision = {
    ...{ id, as, reason },
    ...(as === 'failed' && { confirm: options.confirm ?? riskOfFailing }),
  };
  const { transaction } = await desk.run('pix resolve', { ...decision, onlyCheck: true });
  const { amount, phase, endToEnd } = transaction;
  terminal.remark(
    `A send of ${amount} reais that stands in ${phase}, end-to-end id ${endToEnd ?? 'none'}.`,
    'The reason stays in the timeline: no personal data belongs in it.',
  );
  if (!(await desk.confirm(questionOf(as), { yes }))) return exitCodes.bad;
  const resolved = await desk.run('pix resolve', decision);
  if (json) terminal.json(resolved);
  else terminal.print(`${id} is ${resolved.transaction.status}.`);
  return exitCodes.done;
}

function questionOf(as: Options['as']): string {
  return as === 'completed'
    ? 'Call it COMPLETED, for good?'
    : `Call it FAILED, for good, although ${riskOfFailing}? The app will offer to pay again.`;
}
