/** Passwords and sealed tokens of the reference server, with the parameters of the service. */
import {
  argon2,
  createCipheriv,
  createDecipheriv,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** @returns whether the password matches a PHC string; argon2id runs in the thread pool. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, m, t, p, nonce, tag] = phc.exec(stored) ?? [];
  if (nonce === undefined || tag === undefined) return false;
  const known = Buffer.from(tag, 'base64');
  const parameters = {
    message: Buffer.from(password.normalize('NFKC')),
    nonce: Buffer.from(nonce, 'base64'),
    memory: Number(m),
    passes: Number(t),
    parallelism: Number(p),
    tagLength: known.length,
  };
  const derived = await new Promise<Buffer>((resolve, reject) => {
    argon2('argon2id', parameters, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  });
  return timingSafeEqual(derived, known);
}

/** AES-256-GCM with the row's owner as additional data. */
export function createSealer(key: Buffer) {
  return {
    seal(text: string, owner: string): Buffer {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      cipher.setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
    },
    open(sealed: Buffer, owner: string): string {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12));
      decipher.setAAD(Buffer.from(owner));
      decipher.setAuthTag(sealed.subarray(12, 28));
      return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString();
    },
  };
}

export type Sealer = ReturnType<typeof createSealer>;
