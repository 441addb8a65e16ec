/** The environment of all servers: production settings where a bank on this machine allows them. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { settings } from '../../src/config/report.ts';

export type Environment = Readonly<Record<string, string>>;

export const webhookSecret = 'bench-webhook-secret-of-32-characters';

/**
 * `staging`, because `production` refuses a bank without TLS. Otherwise as in production: keys are
 * required, requests but not responses are checked against the contract, logins are counted, and
 * each request is logged (the reference servers log nothing). The rate limits are too high to
 * refuse a request. The address of the bank, `PROVIDER_BASE_URL`, is still missing.
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
    PROVIDER_STUB: 'false',
    PROVIDER_PAYMENTS_PER_SECOND: '0',
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
