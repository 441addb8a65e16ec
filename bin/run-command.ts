/** Runs one command at its desk, and turns however it ends into words and an exit code. */
import { ConfigError } from '../src/config/config.ts';
import { OpError } from '../src/operator/op.ts';
import { startFailure } from '../src/operator/failure-message.ts';
import { createDesk, type Desk, type DeskOptions } from './desk.ts';
import { exitCodes, InterruptedError, UsageError, type ExitCode } from './exit-codes.ts';
import type { Run } from './frame.ts';

/** @returns the exit code; it never rejects. */
export async function runCommand(
  options: DeskOptions,
  run: Run,
  typed: readonly unknown[],
): Promise<ExitCode> {
  const desk = createDesk({ ...options, by: nameGiven(typed) });
  try {
    const code = await run(desk, ...(typed as never[]));
    return code ?? exitCodes.done;
  } catch (error) {
    return explain(desk, error);
  } finally {
    await desk.close();
  }
}

/** The value of `--by` among what was typed: the options come last. */
function nameGiven(typed: readonly unknown[]): string | undefined {
  const last = typed.at(-1);
  const by = typeof last === 'object' && last !== null && 'by' in last ? last.by : undefined;
  return typeof by === 'string' ? by : undefined;
}

function explain(desk: Desk, error: unknown): ExitCode {
  const { remark } = desk.terminal;
  if (error instanceof InterruptedError) return exitCodes.interrupted;
  if (error instanceof ConfigError) {
    remark('ponte cannot run, because its configuration is not valid:');
    remark(...error.faults.map(({ name, message }) => `  ${name} ${message}`));
    return exitCodes.usage;
  }
  if (error instanceof UsageError) {
    remark(...error.lines.map((line) => `ponte: ${line}`));
    return exitCodes.usage;
  }
  if (error instanceof OpError) {
    remark(`ponte: ${error.message}`);
    return exitCodes.bad;
  }
  remark(`ponte: ${startFailure(error)}`);
  if (isVerbose(desk) && error instanceof Error) remark(error.stack ?? '');
  return error instanceof Error && error.name === 'UnreachableError'
    ? exitCodes.unreachable
    : exitCodes.bad;
}

/** A command that has got so far mostly has a configuration; one that has none is not verbose. */
function isVerbose(desk: Desk): boolean {
  try {
    return ['debug', 'trace'].includes(desk.config().logLevel);
  } catch {
    return false;
  }
}
