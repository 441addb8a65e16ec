import { argon2Sync, randomBytes } from 'node:crypto';

/**
 * Hashes a password for a test at the lowest cost. The stored text contains the cost, so a login
 * checks it at this cost too.
 */
export function cheapHash(password: string): string {
  const cost = { memory: 8, passes: 1, parallelism: 1 };
  const nonce = randomBytes(16);
  const message = password.normalize('NFKC');
  const tag = argon2Sync('argon2id', { ...cost, message, nonce, tagLength: 32 });
  const [storedNonce, storedTag] = [nonce, tag].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  return `$argon2id$v=19$m=8,t=1,p=1$${storedNonce}$${storedTag}`;
}
