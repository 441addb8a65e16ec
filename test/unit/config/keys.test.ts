import { generateKeyPairSync } from 'node:crypto';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { loadConfig } from '../../../src/config/config.ts';
import { assertFaults, findFaults, production as complete, rsaPems } from '../../support/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'ponte-config-'));
after(() => rmSync(folder, { recursive: true }));

const { privatePem, publicPem } = rsaPems(2048);
const older = rsaPems(2048);

const production = { ...complete, JWT_PRIVATE_KEY: '', JWT_PUBLIC_KEYS: publicPem };

describe('the keys of the access tokens', () => {
  const elliptic = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const weak = rsaPems(1024);

  function file(name: string, content: string): string {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  }

  it('are several public keys, one PEM after the other', () => {
    const { jwt } = loadConfig({ JWT_PUBLIC_KEYS: `${publicPem}\n${older.publicPem}` });
    assert.deepEqual(jwt.publicKeysPem, [publicPem.trim(), older.publicPem.trim()]);
  });

  it('may have their line ends written as two characters', () => {
    const { jwt } = loadConfig({ JWT_PRIVATE_KEY: privatePem.replaceAll('\n', '\\n') });
    assert.equal(jwt.privateKeyPem, privatePem);
  });

  it('may come from files', () => {
    const { jwt } = loadConfig({
      ...production,
      JWT_PUBLIC_KEYS: '',
      JWT_PRIVATE_KEY_FILE: file('private.pem', privatePem),
      JWT_PUBLIC_KEYS_FILE: file('public.pem', publicPem),
    });
    assert.equal(jwt.privateKeyPem, privatePem);
    assert.deepEqual(jwt.publicKeysPem, [publicPem.trim()]);
  });

  it('are refused when the private one is no RSA key of 2048 bits without a pass phrase', () => {
    const locked = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: {
        type: 'pkcs8',
        format: 'pem',
        cipher: 'aes-256-cbc',
        passphrase: 'x',
      },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey;
    for (const pem of ['x', publicPem, elliptic.privateKey, weak.privatePem, locked]) {
      assertFaults({ JWT_PRIVATE_KEY: pem }, 'JWT_PRIVATE_KEY');
    }
  });

  it('are refused when a public one is private, weak, of another kind or followed by text', () => {
    const texts = [
      'x',
      privatePem,
      elliptic.publicKey,
      weak.publicPem,
      `${publicPem}x`,
      `${publicPem}${weak.publicPem}`,
      publicPem.replace(/M/, '-'),
    ];
    for (const text of texts) assertFaults({ JWT_PUBLIC_KEYS: text }, 'JWT_PUBLIC_KEYS');
  });

  it('are a fault of the file that cannot be read, and of nothing else', () => {
    const faults = findFaults({ ...production, JWT_PRIVATE_KEY_FILE: join(folder, 'none') });
    assert.deepEqual(faults, {
      JWT_PRIVATE_KEY_FILE: 'names a file that cannot be read (ENOENT)',
    });
  });

  it('are a fault of the file that holds something else', () => {
    const faults = findFaults({ JWT_PUBLIC_KEYS_FILE: file('wrong.pem', 'wrong') });
    assert.deepEqual(Object.keys(faults), ['JWT_PUBLIC_KEYS_FILE']);
    assert.match(faults['JWT_PUBLIC_KEYS_FILE'] ?? '', /^must name a file with RSA public keys/);
  });

  it('are refused when they come twice', () => {
    const jwtPrivateKeyFile = file('private.pem', privatePem);
    const faults = findFaults({
      JWT_PRIVATE_KEY: privatePem,
      JWT_PRIVATE_KEY_FILE: jwtPrivateKeyFile,
    });
    assert.deepEqual(faults, {
      JWT_PRIVATE_KEY_FILE: 'must not be set together with JWT_PRIVATE_KEY',
    });
  });
});
