/** The service for a test: real HTTP, a real database, and a clock that the test controls. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { startApp, type App } from '../../src/app/app.ts';
import { readServedContract } from '../../src/app/contract-file.ts';
import { loadConfig, type Config } from '../../src/config/config.ts';
import type { Contract } from '../../src/contract/contract.ts';
import type { Passwords } from '../../src/process/passwords.ts';
import { createLog, type Log } from '../../src/telemetry/log.ts';
import { configuredDialects } from '../../src/provider/configured-dialects.ts';
import type { Dialects } from '../../src/provider/dialect/dialects.ts';
import type { Bank } from '../../src/provider/sandbox/bank/bank.ts';
import { cheapHash } from './cheap-hash.ts';
import { manualClock, type ManualClock } from './clock.ts';
import { createTestDatabase, onServer, type TestDatabase } from './db.ts';
import { afterFile } from './suite.ts';
import { passUntil } from './passing-time.ts';

export interface TestApp extends App {
  readonly bank: Bank;
  readonly clock: ManualClock;
  readonly database: TestDatabase;
  /** The log: each line is a JSON object. */
  readonly logLines: readonly string[];
  /** Calls an endpoint under /api/v1. */
  call(path: string, request?: TestRequest): Promise<TestResponse>;
  /** Runs a statement with the service's role, for state that HTTP does not show. */
  rows<Row = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Runs a statement as the owner of the schema, for what the service's role may not do. */
  ownerRows: TestApp['rows'];
}

export interface TestRequest {
  readonly method?: string;
  readonly token?: string;
  /** The Idempotency-Key. */
  readonly key?: string;
  /** Sent as JSON; a string or a Buffer is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Bodies have many shapes: the assertions of a test state the shape. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface TestAppOptions {
  /** Settings that differ from `testConfig`. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly database?: TestDatabase;
  /** A clock that the service shares with another part of the test; default: a new one. */
  readonly clock?: ManualClock;
  /** The bank that the service reaches over HTTP; default: a simulated bank inside the service. */
  readonly bank?: Bank;
  /** Whether passwords are hashed at the full cost, and a login replaces the cheap test hashes. */
  readonly hashesInFull?: boolean;
}

/** Starts a service for a test file, and stops it after the file's tests. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database ?? (await createTestDatabase());
  const clock = options.clock ?? manualClock();
  const logLines: string[] = [];
  const config = testConfig(database, options.environment);
  const app = await startApp(config, {
    clock,
    log: capturedLog(logLines),
    dialects: sharedDialects(config),
    contract: await sharedContract(),
  });
  afterFile(async () => {
    // A stop waits on the service's clock: for idle connections, and for unstored outcomes.
    await passUntil(clock, app.stop(), 500);
    if (!options.database) await database.drop();
  });
  if (!options.hashesInFull) {
    Object.assign(app.context.passwords, cheapened(app.context.passwords));
  }
  const bank = app.bank ?? options.bank;
  assert.ok(bank, 'tests run on the simulated bank');
  const rows: TestApp['rows'] = (sql, parameters = []) =>
    app.context.db.query({ name: '', text: sql }, parameters);
  return {
    ...app,
    bank,
    clock,
    database,
    logLines,
    call: (path, request = {}) => call(app.url, path, request),
    rows,
    ownerRows: (sql, parameters) =>
      database.ownerUrl ? onServer(database.ownerUrl, sql, parameters) : rows(sql, parameters),
  };
}

/** The same at the lowest cost, also for a user who does not exist. */
function cheapened({ verify }: Passwords): Pick<Passwords, 'hash' | 'verify' | 'isOld'> {
  const nobody = cheapHash(randomUUID());
  return {
    hash: async (password) => cheapHash(password),
    verify: (password, stored, options) => verify(password, stored ?? nobody, options),
    isOld: () => false,
  };
}

/** Turns off rate limits and shortens the provider's time-out; `environment` overrides both. */
export function testConfig(database: TestDatabase, environment: Record<string, string> = {}) {
  return loadConfig({
    APP_ENV: 'test',
    PORT: '0',
    DATA_DIR: database.dataDir,
    ...(database.databaseUrl && { DATABASE_URL: database.databaseUrl }),
    PROVIDER_TIMEOUT_MS: '100',
    THROTTLE_LOGIN_PER_MINUTE: '0',
    THROTTLE_ADDRESS_PER_MINUTE: '0',
    THROTTLE_USER_PER_MINUTE: '0',
    ...environment,
  });
}

const opened = new Map<string, Dialects>();

/** Dialects are opened once in a process: to read and check their files takes 50 ms of a start. */
export function sharedDialects(config: Config): Dialects {
  const { names, files } = config.provider.dialects;
  const key = names.join();
  const known = files.length > 0 ? undefined : opened.get(key);
  const dialects = known ?? configuredDialects(config);
  if (files.length === 0) opened.set(key, dialects);
  return dialects;
}

let contract: Promise<Contract> | null = null;

/** The contract is loaded once in a process: to read it and to compile validators takes 50 ms. */
function sharedContract(): Promise<Contract> {
  contract ??= readServedContract();
  return contract;
}

function capturedLog(lines: string[]): Log {
  return createLog({
    level: 'debug',
    pretty: false,
    destination: { write: (line: string) => void lines.push(line) },
  });
}

async function call(url: string, path: string, request: TestRequest): Promise<TestResponse> {
  const { token, key, body } = request;
  const asIs = typeof body === 'string' || Buffer.isBuffer(body);
  const response = await fetch(`${url}/api/v1${path}`, {
    method: request.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...request.headers,
    },
    ...(body !== undefined && { body: asIs ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
}
