/** `ponte pix resolve --as failed --overrule`: two persons call a COMPLETED transaction FAILED. */
import type { Context } from './context.ts';
import { exitCodes, UsageError, type ExitCode } from './exit-codes.ts';
import type { ChangeOptions } from './options.ts';

export interface OverruleOptions extends ChangeOptions {
  readonly reason: string;
  readonly confirm?: string;
  readonly despiteStatement?: boolean;
}

/**
 * Requests the overrule, or carries out the request of another operator.
 * @throws UsageError when `--yes` stands without the words of the risk.
 */
export async function overrule(
  { call, confirm, terminal }: Context,
  id: string,
  options: OverruleOptions,
): Promise<ExitCode> {
  const { riskOfFailing } = await import('../src/operator/pix-resolve.ts');
  if (options.yes && options.confirm === undefined) {
    throw new UsageError(
      `--overrule with --yes needs --confirm '${riskOfFailing}': the person could pay twice`,
    );
  }
  const decision = {
    id,
    reason: options.reason,
    confirm: options.confirm ?? riskOfFailing,
    ...(options.despiteStatement && { despiteStatement: true }),
  };
  const { transaction, statement, requestedBy } = await call('pix overrule', {
    ...decision,
    onlyCheck: true,
  });
  const { operation, amount, endToEnd } = transaction;
  terminal.note(
    `A ${operation} of ${amount} reais, COMPLETED by an operator or a statement alone.`,
    `End-to-end id ${endToEnd ?? 'none'}; ${statement.sentence}.`,
    'The reason stays in the timeline: it must not contain personal data.',
  );
  await confirm(
    requestedBy === null
      ? 'Request that it is called FAILED? Another person carries it out.'
      : `Call it FAILED permanently, as ${requestedBy} has requested, although ${riskOfFailing}?`,
    options,
  );
  const result = await call('pix overrule', decision);
  terminal.result(
    result,
    options,
    result.requestedBy === null
      ? 'Requested. Another person runs the same command within a day, with another login of the ' +
          'database.'
      : `${id} is ${result.transaction.status}.`,
  );
  return exitCodes.ok;
}
