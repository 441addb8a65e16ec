/** `ponte provider dialect`: what is read of the provider's messages. */
import { accessSync, constants } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { Context, Declare } from '../context.ts';
import { exitCodes, UsageError } from '../exit-codes.ts';
import { examples } from '../options.ts';
import { errorCode } from '../post.ts';

export const declareDialect: Declare = (noun, run) => {
  const dialect = noun.command('dialect').description('check and try the dialects of a provider');
  dialect.addHelpText('after', examples('ponte provider dialect check bank.yaml'));
  dialect
    .command('check')
    .description('check a dialect and its samples beside the active ones; exit 1 on a fault')
    .argument('<file>', 'the YAML file; the samples of bank.yaml are in bank.samples.json')
    .addHelpText('after', examples('ponte provider dialect check bank.yaml'))
    .action(run(checkFile));
  dialect
    .command('read')
    .description('print what is read in an event from standard input, as its sample has it')
    .argument('[file]', 'a dialect to read it by, beside the active ones; it needs no samples yet')
    .option('--statement', 'it is a statement')
    .addHelpText(
      'after',
      examples(
        'ponte provider dialect read < event.json',
        'ponte provider dialect read bank.yaml < event.json',
      ),
    )
    .action(run(readInput));
};

/** @throws UsageError when the file cannot be read; what is wrong in it is a fault. */
function requireFile(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new UsageError(`${file} cannot be read${errorCode(error)}`);
  }
}

async function checkFile({ environment, terminal }: Context, file: string) {
  requireFile(file);
  const { loadConfig } = await import('../../src/config/config.ts');
  const { checkDialect } = await import('../../src/operator/provider-dialect.ts');
  const check = checkDialect(loadConfig(environment()).provider.dialects, file);
  if (!check.isUsable) {
    terminal.note(...check.faults);
    return exitCodes.failed;
  }
  const { beside, shapes } = check;
  const others = beside.length > 0 ? `beside ${beside.join(', ')}` : 'alone';
  terminal.print(`The dialect can be used, ${others}: ${shapes} shapes.`);
  return exitCodes.ok;
}

async function readInput(
  { environment, terminal }: Context,
  file: string | undefined,
  { statement: isStatement = false }: { readonly statement?: boolean },
) {
  if (file !== undefined) requireFile(file);
  const { loadConfig } = await import('../../src/config/config.ts');
  const { readByDialects } = await import('../../src/operator/provider-dialect.ts');
  const { dialects } = loadConfig(environment()).provider;
  const bytes = await buffer(terminal.streams.stdin as AsyncIterable<Buffer>);
  terminal.json(readByDialects(dialects, { bytes, file, isStatement }));
}
