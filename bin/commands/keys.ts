/** `ponte keys generate` and `ponte keys rotate-help`. */
import { resolve } from 'node:path';
import { generateKeyFiles, keysInUse, type KeyInUse } from '../../src/operator/keys.ts';
import type { Desk } from '../desk.ts';

interface GenerateOptions {
  readonly bits: number;
  readonly out: string;
  readonly json?: boolean;
}

/** Writes a new pair and tells how it is used. */
export async function keysGenerate({ terminal }: Desk, options: GenerateOptions): Promise<void> {
  const pair = await generateKeyFiles(resolve(options.out), options.bits);
  if (options.json) {
    terminal.json(pair);
    return;
  }
  terminal.print(
    `key id   ${pair.kid}`,
    `private  ${pair.privateKeyFile}`,
    `public   ${pair.publicKeyFile}`,
  );
  terminal.remark(
    'To use it, set:',
    `  JWT_PRIVATE_KEY_FILE=${pair.privateKeyFile}`,
    `  JWT_PUBLIC_KEYS_FILE=${pair.publicKeyFile}`,
    'Where another key is in use, `ponte keys rotate-help` tells how to change it.',
  );
}

/** Prints the steps of a rotation with the keys that are in use now. */
export async function keysRotateHelp(
  { config, terminal }: Desk,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  const settings = config();
  const keys = await keysInUse(settings);
  if (json) {
    terminal.json({ ...keys, tokenSeconds: settings.jwt.ttlSeconds });
    return;
  }
  const { signs, generated, accepts } = keys;
  const where = generated ? 'generated into DATA_DIR' : 'from JWT_PRIVATE_KEY';
  terminal.print(
    `signs    ${signs ? `${nameOf(signs)}, ${where}` : 'a key that the first start generates'}`,
    ...accepts.map((key) => `accepts  ${nameOf(key)}`),
    '',
    ...stepsOf(settings.jwt.ttlSeconds),
  );
}

function nameOf({ kid, bits }: KeyInUse): string {
  return `${kid} (RSA, ${bits} bits)`;
}

/** No instance may meet a token whose key it does not know yet, so the steps are apart. */
function stepsOf(tokenSeconds: number): string[] {
  return [
    'To change the key without logging anybody out:',
    '  1. ponte keys generate --out <folder>',
    '  2. Let JWT_PUBLIC_KEYS hold the public keys of both, the old one and the new one, one after',
    '     the other, and restart every instance. All of them accept both from now on.',
    '  3. Set JWT_PRIVATE_KEY to the new private key, and restart every instance.',
    `  4. Wait ${tokenSeconds} seconds (JWT_TTL_SECONDS): by then the old key's tokens have ended.`,
    '  5. Take the old public key out of JWT_PUBLIC_KEYS, restart, and destroy the old private key.',
  ];
}
