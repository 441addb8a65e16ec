import { examples, integer, jsonOption } from '../declare.ts';
import type { Describe } from '../frame.ts';

/** `keys …`: what signs the access tokens. */
export const describeKeys: Describe = ({ program, action }) => {
  const keys = program
    .command('keys')
    .description('the keys that sign access tokens')
    .addHelpText('after', examples('ponte keys generate --out secrets', 'ponte keys rotate-help'));

  keys
    .command('generate')
    .description('write a new pair as PEM, readable by its owner only; nothing is overwritten')
    .option(
      '--bits <number>',
      'length of the RSA key, from 2048 to 8192',
      integer(2048, 8192),
      3072,
    )
    .option('--out <folder>', 'where they are written', '.')
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte keys generate --out secrets/2026-11'))
    .action(action(async () => (await import('../commands/keys.ts')).keysGenerate));

  keys
    .command('rotate-help')
    .description('tell how to change the key without logging anybody out, with the keys in use')
    .addOption(jsonOption())
    .addHelpText('after', examples('ponte keys rotate-help'))
    .action(action(async () => (await import('../commands/keys.ts')).keysRotateHelp));
};
