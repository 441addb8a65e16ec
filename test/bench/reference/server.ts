/** The reference server as a process: its settings come from the environment. */
import { createReference } from './app.ts';

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

const app = await createReference({
  databaseUrl: setting('DATABASE_URL'),
  privateKeyPem: setting('JWT_PRIVATE_KEY'),
  publicKeyPem: setting('JWT_PUBLIC_KEYS'),
  encryptionKey: Buffer.from(setting('ENCRYPTION_KEY'), 'base64'),
  webhookSecret: setting('WEBHOOK_SECRET'),
  ...(process.env['REFERENCE_POOL'] && { poolSize: Number(process.env['REFERENCE_POOL']) }),
  cachesTokens: process.env['REFERENCE_TOKEN_CACHE'] !== 'false',
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));
console.log(`  API        ${url}/api/v1`);
