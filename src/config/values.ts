/** The types of the settings. */

export const appEnvs = ['local', 'test', 'staging', 'production'] as const;

export type AppEnv = (typeof appEnvs)[number];

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

/** The settings after conversion and defaults; a setting that may be unset is optional. */
export interface Values {
  APP_ENV: AppEnv;
  HOST: string;
  PORT: number;
  ALLOWED_HOSTS?: string;
  DATABASE_URL?: string;
  DATABASE_URL_FILE?: string;
  DATABASE_TLS?: 'off';
  DATA_DIR: string;
  PROVIDER_STUB: boolean;
  PROVIDER_BASE_URL?: string;
  PROVIDER_EMAIL?: string;
  PROVIDER_PASSWORD?: string;
  PROVIDER_PASSWORD_FILE?: string;
  PROVIDER_CA?: string;
  PROVIDER_CA_FILE?: string;
  PROVIDER_CLIENT_CERT?: string;
  PROVIDER_CLIENT_CERT_FILE?: string;
  PROVIDER_CLIENT_KEY?: string;
  PROVIDER_CLIENT_KEY_FILE?: string;
  PROVIDER_API_KEY?: string;
  PROVIDER_API_KEY_FILE?: string;
  PROVIDER_API_KEY_HEADER: string;
  PROVIDER_ISPB: string;
  PROVIDER_TIMEOUT_MS: number;
  PROVIDER_RETRIES: number;
  PROVIDER_STATEMENT_SETTLED_ONLY: boolean;
  STUB_SETTLE_MS: number;
  STUB_JOURNAL: boolean;
  WEBHOOK_SECRET?: string;
  WEBHOOK_SECRET_FILE?: string;
  WEBHOOK_SIGNING_SECRET?: string;
  WEBHOOK_SIGNING_SECRET_FILE?: string;
  WEBHOOK_ALLOWED_ADDRESSES?: string;
  ONBOARDING_LOCAL_ONLY: boolean;
  JWT_ISSUER: string;
  JWT_AUDIENCE: string;
  JWT_PRIVATE_KEY?: string;
  JWT_PRIVATE_KEY_FILE?: string;
  JWT_PUBLIC_KEYS?: string;
  JWT_PUBLIC_KEYS_FILE?: string;
  JWT_TTL_SECONDS: number;
  ENCRYPTION_KEY?: string;
  ENCRYPTION_KEY_FILE?: string;
  UPLOAD_MAX_BYTES: number;
  WEBHOOK_RETENTION_DAYS: number;
  JOB_RETENTION_DAYS: number;
  ONBOARDING_EXPIRY_DAYS: number;
  THROTTLE_LOGIN_PER_MINUTE: number;
  THROTTLE_ADDRESS_PER_MINUTE: number;
  THROTTLE_USER_PER_MINUTE: number;
  TRUST_PROXY_HOPS: number;
  MAX_CONNECTIONS: number;
  MAX_CONNECTIONS_PER_ADDRESS: number;
  JOBS: 'inline' | 'off';
  JOB_LEASE_SECONDS: number;
  METRICS_PORT?: number;
  METRICS_HOST: string;
  LOG_LEVEL: LogLevel;
}
