/** `ponte doctor`: checks everything that the service needs. */
import { ConfigError, type Environment } from '../../src/config/config.ts';
import type { Finding } from '../../src/operator/doctor.ts';
import type { Context, Declare } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { examples, withJson, type JsonOption } from '../options.ts';
import { readPage } from '../post.ts';
import { plainText, type Colour } from '../table.ts';

export const declare: Declare = (noun, run) => {
  withJson(noun)
    .addHelpText('after', examples('ponte doctor', 'ponte doctor --json'))
    .action(run(checkAll));
};

const marks: Readonly<Record<Finding['state'], readonly [Colour, string]>> = {
  ok: ['green', 'ok  '],
  doubtful: ['yellow', 'warn'],
  bad: ['red', 'bad '],
};

/** Exit 2 when the configuration is invalid, 1 when another check fails. */
async function checkAll(context: Context, options: JsonOption) {
  const { clock, call, terminal } = context;
  const { examine } = await import('../../src/operator/doctor.ts');
  const findings = await examine({
    environment: findEnvironment(context),
    clock,
    inspectDatabase: () => call('inspect database', {}),
    readMetrics: (url) => readPage(context, url),
  });
  const lines = findings.flatMap(({ name, state, says, todo }) => {
    const [colour, mark] = marks[state];
    const line = `${terminal.colour(colour, mark)} ${name}: ${plainText(says)}`;
    return todo === null ? [line] : [line, `     → ${todo}`];
  });
  const failed = findings.filter(({ state }) => state === 'bad');
  const ok = failed.length === 0;
  terminal.result({ ok, findings }, options, ...lines);
  if (ok) return exitCodes.ok;
  return failed.some(({ kind }) => kind === 'usage') ? exitCodes.usage : exitCodes.failed;
}

/** With faults, what is configured: the findings name them. */
function findEnvironment(context: Context): Environment {
  try {
    return context.serviceEnvironment();
  } catch (error) {
    if (error instanceof ConfigError) return context.environment();
    throw error;
  }
}
