/** The access tokens of the grouped server: RS256, each signature verified once. */
import { createPrivateKey, createPublicKey, randomUUID, sign, verify } from 'node:crypto';

export interface Claims {
  readonly sub: string;
  readonly sid: string;
}

interface Payload extends Claims {
  readonly iss: string;
  readonly aud: string;
  readonly exp: number;
}

const maxTokens = 10_000;
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export function createTokens(privateKeyPem: string, publicKeyPem: string) {
  const privateKey = createPrivateKey(privateKeyPem);
  const publicKey = createPublicKey(publicKeyPem);
  const header = encode({ alg: 'RS256', typ: 'JWT' });
  const verified = new Map<string, Payload>();

  function read(token: string): Payload | null {
    const [head, body = '', signature = ''] = token.split('.');
    if (head !== header) return null;
    const signed = Buffer.from(`${head}.${body}`);
    if (!verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))) return null;
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as Payload;
    return payload.iss === 'ponte' && payload.aud === 'ponte-app' ? payload : null;
  }

  return {
    sign(claims: Claims): string {
      const times = { iat: Math.floor(Date.now() / 1_000), jti: randomUUID() };
      const own = { iss: 'ponte', aud: 'ponte-app', exp: times.iat + 3_600 };
      const signed = `${header}.${encode({ ...claims, ...times, ...own })}`;
      const signature = sign('sha256', Buffer.from(signed), privateKey).toString('base64url');
      return `${signed}.${signature}`;
    },

    /** @returns null for a token that is invalid or has ended. */
    verify(token: string): Claims | null {
      let payload = verified.get(token);
      if (!payload) {
        payload = read(token) ?? undefined;
        if (!payload) return null;
        if (verified.size >= maxTokens) verified.clear();
        verified.set(token, payload);
      }
      return payload.exp * 1_000 > Date.now() ? payload : null;
    },
  };
}
