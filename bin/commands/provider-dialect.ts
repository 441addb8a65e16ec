/** `ponte provider dialect`: what is read of the provider's messages. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Context, Declare } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { examples } from '../options.ts';

export const declareDialect: Declare = (noun, run) => {
  const dialect = noun.command('dialect').description('check and try the dialects of a provider');
  dialect
    .command('check')
    .description('check a dialect and its samples beside the active ones; exit 1 on a fault')
    .argument('<file>', 'the YAML file; the samples of bank.yaml are in bank.samples.json')
    .addHelpText('after', examples('ponte provider dialect check bank.yaml'))
    .action(run(checkDialect));
  dialect
    .command('read')
    .description('print what the active dialects read in an event from standard input, as JSON')
    .addHelpText('after', examples('ponte provider dialect read < event.json'))
    .action(run(readEvent));
};

async function checkDialect({ environment, terminal }: Context, file: string) {
  const { loadConfig } = await import('../../src/config/config.ts');
  const { openDialects } = await import('../../src/provider/dialect/open.ts');
  const { DialectError } = await import('../../src/provider/dialect/load.ts');
  const active = loadConfig(environment()).provider.dialects;
  // A file that has the name of an active dialect is checked in its place.
  const names = active.names.filter((name) => name !== basename(file, '.yaml'));
  try {
    const { shapes } = openDialects({ names, files: [...new Set([...active.files, file])] });
    terminal.print(`The dialect can be used, beside ${names.join(', ')}: ${shapes.length} shapes.`);
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof DialectError)) throw error;
    terminal.note(...error.faults);
    return exitCodes.failed;
  }
}

async function readEvent({ environment, terminal }: Context) {
  const { loadConfig } = await import('../../src/config/config.ts');
  const { openDialects } = await import('../../src/provider/dialect/open.ts');
  const dialects = openDialects(loadConfig(environment()).provider.dialects);
  terminal.json([...dialects.eachStoredEvent(readFileSync(0))]);
}
