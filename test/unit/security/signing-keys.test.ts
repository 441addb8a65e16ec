import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadEncryptionKeys, loadSigningKeys } from '../../../src/security/signing-keys.ts';

let root: string;

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'ponte-keys-'));
});
after(() => rm(root, { recursive: true }));

function toPem(key: KeyObject): string {
  const type = key.type === 'private' ? 'pkcs8' : 'spki';
  return key.export({ type, format: 'pem' } as { type: 'spki'; format: 'pem' });
}

async function readPermissions(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

describe('configured signing keys', () => {
  const signing = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const older = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const privateKeyPem = toPem(signing.privateKey);

  it('are named by their RFC 7638 thumbprint', async () => {
    const dataDir = join(root, 'unused');
    const keys = await loadSigningKeys({ privateKeyPem, publicKeysPem: [], dataDir });
    const { e, n } = signing.publicKey.export({ format: 'jwk' });
    const canonical = JSON.stringify({ e, kty: 'RSA', n });
    assert.equal(keys.kid, createHash('sha256').update(canonical).digest('base64url'));
  });

  it('verify with the public half of the signing key, listed or not', async () => {
    const dataDir = join(root, 'unused');
    const unlisted = await loadSigningKeys({ privateKeyPem, publicKeysPem: [], dataDir });
    assert.deepEqual([...unlisted.publicKeys.keys()], [unlisted.kid]);
    const publicKeysPem = [toPem(older.publicKey), toPem(signing.publicKey)];
    const listed = await loadSigningKeys({ privateKeyPem, publicKeysPem, dataDir });
    assert.equal(listed.publicKeys.size, 2);
    assert.ok(listed.publicKeys.has(listed.kid));
  });

  it('leave the data folder alone', async () => {
    await loadSigningKeys({ privateKeyPem, publicKeysPem: [], dataDir: join(root, 'unused') });
    await assert.rejects(stat(join(root, 'unused')), { code: 'ENOENT' });
  });
});

describe('generated signing keys', () => {
  const none = { privateKeyPem: undefined, publicKeysPem: [] };

  it('are one key after two first starts at once, and after a third start', async () => {
    const dataDir = join(root, 'twice');
    const [one, two] = await Promise.all([
      loadSigningKeys({ ...none, dataDir }),
      loadSigningKeys({ ...none, dataDir }),
    ]);
    assert.equal(one.kid, two.kid);
    assert.equal((await loadSigningKeys({ ...none, dataDir })).kid, one.kid);
    assert.equal(one.privateKey.asymmetricKeyDetails?.modulusLength, 3072);
    assert.deepEqual(await readdir(dataDir), ['jwt-private.pem']);
    assert.equal(await readPermissions(dataDir), 0o700);
    assert.equal(await readPermissions(join(dataDir, 'jwt-private.pem')), 0o600);
  });

  it('do not replace a file with other content', async () => {
    const dataDir = await mkdtemp(join(root, 'spoilt-'));
    await writeFile(join(dataDir, 'jwt-private.pem'), 'not a key');
    const loading = loadSigningKeys({ ...none, dataDir });
    await assert.rejects(loading, /jwt-private\.pem has no valid key/);
  });
});

describe('the encryption key', () => {
  it('is the configured one', async () => {
    const configured = [randomBytes(32)];
    const keys = await loadEncryptionKeys({ configured, dataDir: join(root, 'unused') });
    assert.deepEqual(keys, configured);
  });

  it('is one key after two first starts at once, and after a third start', async () => {
    const dataDir = join(root, 'sealing');
    const start = async (): Promise<Buffer> => {
      const [key] = await loadEncryptionKeys({ configured: [], dataDir });
      return key;
    };
    const [one, two] = await Promise.all([start(), start()]);
    assert.equal(one.length, 32);
    assert.deepEqual(one, two);
    assert.deepEqual(await start(), one);
    assert.equal(await readPermissions(join(dataDir, 'encryption.key')), 0o600);
  });

  it('does not replace a file with other content', async () => {
    const dataDir = await mkdtemp(join(root, 'spoilt-'));
    await writeFile(join(dataDir, 'encryption.key'), 'c2hvcnQ=');
    const loading = loadEncryptionKeys({ configured: [], dataDir });
    await assert.rejects(loading, /encryption\.key has no valid key/);
  });
});
