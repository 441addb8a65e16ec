/** The environment of both servers: production settings where the simulated bank allows them. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { settings } from '../../src/config/report.ts';

export type Environment = Readonly<Record<string, string>>;

export const webhookSecret = 'bench-webhook-secret';

/**
 * `staging`, because `production` refuses the simulated bank. The rest is as in production: keys
 * are required, requests are checked against the contract and answers are not, logins are counted,
 * and each request is logged (the reference servers log nothing). The limits are so high that they
 * refuse no request. The simulated bank writes nothing to disk, as that of the reference: its
 * writes are not measured.
 */
export function serverEnvironment(): Environment {
  const pem = { type: 'pkcs1', format: 'pem' } as const;
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 3072,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { ...pem, type: 'pkcs8' },
  });
  return {
    // An empty value counts as unset, and keeps a `.env` file out.
    ...Object.fromEntries(settings.map(({ name }) => [name, ''])),
    NODE_ENV: 'production',
    APP_ENV: 'staging',
    PORT: '0',
    PROVIDER_STUB: 'true',
    STUB_SETTLE_MS: '0',
    STUB_JOURNAL: 'false',
    LOG_LEVEL: 'info',
    THROTTLE_LOGIN_PER_MINUTE: '1000000',
    THROTTLE_ADDRESS_PER_MINUTE: '1000000',
    THROTTLE_USER_PER_MINUTE: '0',
    WEBHOOK_SECRET: webhookSecret,
    JWT_PRIVATE_KEY: privateKey,
    JWT_PUBLIC_KEYS: publicKey,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
}
