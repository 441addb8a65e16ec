/** A reference server as a process: its settings come from the environment. */
import { listen, referenceNames } from './listen.ts';

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

const name = referenceNames.find((one) => one === process.argv[2]) ?? 'plain';
const { url, close } = await listen(name, {
  databaseUrl: setting('DATABASE_URL'),
  privateKeyPem: setting('JWT_PRIVATE_KEY'),
  publicKeyPem: setting('JWT_PUBLIC_KEYS'),
  encryptionKey: Buffer.from(setting('ENCRYPTION_KEY'), 'base64'),
  webhookSecret: setting('WEBHOOK_SECRET'),
  providerUrl: setting('PROVIDER_BASE_URL'),
});
process.once('SIGTERM', () => void close().then(() => process.exit(0)));
console.log(`  API        ${url}/api/v1`);
