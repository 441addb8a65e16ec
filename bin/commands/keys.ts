/** `ponte keys`: the keys that sign access tokens. */
import { resolve } from 'node:path';
import type { KeyInUse } from '../../src/operator/keys.ts';
import type { Context, Declare } from '../context.ts';
import { examples, parseInteger, withJson, type JsonOption } from '../options.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText(
    'after',
    examples('ponte keys generate --out secrets', 'ponte keys rotate-help'),
  );

  withJson(noun.command('generate'))
    .description('write a new key pair as PEM, readable by its owner only; never overwrite one')
    .option('--bits <number>', 'RSA key length, 2048 to 8192', parseInteger(2048, 8192), 3072)
    .option('--out <folder>', 'folder of the files', '.')
    .addHelpText('after', examples('ponte keys generate --out secrets/2026-11'))
    .action(run(generate));

  withJson(noun.command('rotate-help'))
    .description('print the steps that replace the key without logging anyone out')
    .addHelpText('after', examples('ponte keys rotate-help'))
    .action(run(printRotation));
};

interface GenerateOptions extends JsonOption {
  readonly bits: number;
  readonly out: string;
}

async function generate({ terminal }: Context, options: GenerateOptions) {
  const { generateKeyFiles } = await import('../../src/operator/keys.ts');
  const pair = await generateKeyFiles(resolve(options.out), options.bits);
  const { kid, privateKeyFile, publicKeyFile } = pair;
  const lines = [`key id   ${kid}`, `private  ${privateKeyFile}`, `public   ${publicKeyFile}`];
  terminal.result(pair, options, ...lines);
  if (options.json) return;
  terminal.note(
    'To use this pair, set:',
    `  JWT_PRIVATE_KEY_FILE=${privateKeyFile}`,
    `  JWT_PUBLIC_KEYS_FILE=${publicKeyFile}`,
    'To replace a key that is in use, follow `ponte keys rotate-help`.',
  );
}

async function printRotation({ config, terminal }: Context, options: JsonOption) {
  const { keysInUse } = await import('../../src/operator/keys.ts');
  const settings = config();
  const { ttlSeconds } = settings.jwt;
  const keys = await keysInUse(settings);
  const { signs, generated, accepts } = keys;
  const source = generated ? 'generated into DATA_DIR' : 'from JWT_PRIVATE_KEY';
  terminal.result(
    { ...keys, tokenSeconds: ttlSeconds },
    options,
    `signs    ${signs ? `${formatKey(signs)}, ${source}` : 'a key that the first start generates'}`,
    ...accepts.map((key) => `accepts  ${formatKey(key)}`),
    '',
    ...rotationSteps(ttlSeconds),
  );
}

function formatKey({ kid, bits }: KeyInUse): string {
  return `${kid} (RSA, ${bits} bits)`;
}

/** The steps are separate, so that no instance receives a token whose key it does not know. */
function rotationSteps(tokenSeconds: number): string[] {
  return [
    'To replace the key without logging anyone out:',
    '  1. Run ponte keys generate --out <folder>.',
    '  2. Set JWT_PUBLIC_KEYS to the old public key followed by the new one, and restart every',
    '     instance. From then on all instances accept both keys.',
    '  3. Set JWT_PRIVATE_KEY to the new private key, and restart every instance.',
    `  4. Wait ${tokenSeconds} seconds (JWT_TTL_SECONDS), until the tokens of the old key expire.`,
    '  5. Remove the old public key from JWT_PUBLIC_KEYS, restart, and destroy the old private key.',
  ];
}
