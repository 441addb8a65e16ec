/** The command lines of the tools for developers, such as `npm run simulate`. */
import { randomInt } from 'node:crypto';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

/** Invalid arguments; the message says what to do. */
export class UsageError extends Error {}

/** @returns the values of the options. @throws UsageError */
export function parseOptions<Config extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Config,
) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

/**
 * @param name of the option.
 * @param min the least value.
 * @throws UsageError
 */
export function wholeNumber(name: string, text: string, min = 0): number {
  if (/^\d{1,15}$/.test(text) && Number(text) >= min) return Number(text);
  throw new UsageError(`--${name} takes a whole number${min > 0 ? ` from ${min}` : ''}`);
}

const randomSeeds = 2 ** 31;

/** @returns a seed, drawn if it is `random`. @throws UsageError */
export function seedNumber(name: string, text: string): number {
  return text === 'random' ? randomInt(randomSeeds) : wholeNumber(name, text);
}

export interface Tool<Options> {
  /** As in `npm run`. */
  readonly name: string;
  readonly help: string;
  /** @returns the options, or null when help is requested. @throws UsageError */
  readonly readOptions: (args: readonly string[], env: NodeJS.ProcessEnv) => Options | null;
  /** @returns whether everything is as it should be. */
  readonly run: (options: Options) => Promise<boolean>;
}

/** Runs a tool, with exit code 1 if not everything is as it should be, and 2 for wrong usage. */
export async function runTool<Options>(tool: Tool<Options>): Promise<void> {
  const { name, help, readOptions, run } = tool;
  try {
    const options = readOptions(process.argv.slice(2), process.env);
    if (options === null) process.stdout.write(help);
    else if (!(await run(options))) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\nSee npm run ${name} -- --help.\n`);
    process.exitCode = 2;
  }
}
