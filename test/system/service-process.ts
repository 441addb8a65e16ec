/** The service in a separate process, started with the command line of `npm start`. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { settings } from '../../src/config/report.ts';
import { createTestDatabase, type TestDatabase } from '../support/db.ts';

export const root = join(import.meta.dirname, '..', '..');

/** Longer than a first start takes on a busy machine. */
const readyWithinMs = 60_000;

/** `worker` only runs jobs and has no address. */
export type ServiceCommand = 'serve' | 'worker';

export type Environment = Readonly<Record<string, string>>;

/** A process without standard input. */
export type ServiceChild = ChildProcessByStdio<null, Readable, Readable>;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ServiceRequest {
  readonly token?: string | undefined;
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ResponseBody;
}

/** All fields that tests read; the assertions of a test state which of them a response has. */
export interface ResponseBody {
  readonly access_token: string;
  readonly transaction_id: string;
  readonly end_to_end?: string;
  readonly status: string;
  readonly balance: number;
  readonly user: { readonly email: string };
  readonly items: {
    readonly local: readonly { readonly amount: number }[];
    readonly remote: readonly RemoteItem[];
  };
}

interface RemoteItem {
  readonly type: string;
  readonly clientRequestId: string;
  readonly amount: number;
}

/** Starts the service on a free port, and ends it when the test ends. */
export function startService(
  t: TestContext,
  environment: Environment,
  command: ServiceCommand = 'serve',
): ServiceProcess {
  const service = new ServiceProcess(environment, command);
  t.after(() => service.kill());
  return service;
}

/** A running service with its own database. */
export interface OwnService {
  readonly process: ServiceProcess;
  readonly url: string;
  /** Kills the process and drops the database. */
  readonly stop: () => Promise<void>;
}

/** Starts the service on a new database. The caller must call `stop`. */
export async function startOwnService(environment: Environment = {}): Promise<OwnService> {
  const database = await createTestDatabase({ isOwn: true });
  const service = new ServiceProcess({ ...settingsFor(database), ...environment });
  const stop = async (): Promise<void> => {
    await service.kill();
    await database.drop();
  };
  try {
    return { process: service, url: await service.ready(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The settings of a process on this database; the simulated bank settles payments at once. */
export function settingsFor(database: Pick<TestDatabase, 'databaseUrl' | 'dataDir'>): Environment {
  return {
    APP_ENV: 'local',
    DATA_DIR: database.dataDir,
    DATABASE_URL: database.databaseUrl ?? '',
    STUB_SETTLE_MS: '100',
    THROTTLE_LOGIN_PER_MINUTE: '0',
    THROTTLE_ADDRESS_PER_MINUTE: '0',
  };
}

export class ServiceProcess {
  readonly ended: Promise<Ended>;
  readonly #child: ServiceChild;
  readonly #ready = Promise.withResolvers<string>();
  #stdout = '';
  #stderr = '';
  #url = '';

  /**
   * @param from the folder of the code, because another release has another one, or a function that
   *   starts the process.
   */
  constructor(
    environment: Environment,
    command: ServiceCommand = 'serve',
    from: string | (() => ServiceChild) = root,
  ) {
    this.#child = typeof from === 'string' ? launch(environment, command, from) : from();
    this.#child.stdout.on('data', (chunk: Buffer) => this.#read(chunk.toString('utf8')));
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString('utf8')));
    this.ended = once(this.#child, 'close').then(([code, signal]) => {
      const end = { code, signal, stdout: this.#stdout, stderr: this.#stderr } as Ended;
      this.#ready.reject(new Error(`the service ended: ${JSON.stringify(end)}`));
      return end;
    });
    this.#ready.promise.catch(() => undefined);
  }

  /** The standard output so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** The standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Waits until it reports that it is ready. @returns its address; empty for a worker. */
  async ready(): Promise<string> {
    const late = setTimeout(() => {
      this.#ready.reject(new Error(`not ready in ${readyWithinMs} ms: ${this.#stderr}`));
    }, readyWithinMs);
    this.#url = await this.#ready.promise.finally(() => clearTimeout(late));
    return this.#url;
  }

  /** Calls an endpoint under /api/v1 over real HTTP. */
  async call(path: string, request: ServiceRequest = {}): Promise<ServiceResponse> {
    const { token, key, body } = request;
    const response = await fetch(`${this.#url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...request.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, headers } = response;
    return { status, headers, body: (await response.json()) as ResponseBody };
  }

  /** Logs in with the development user's credentials, which the start prints. */
  async logIn(): Promise<string> {
    const [, email, password] = /^ {2}login +(\S+) \/ (\S+)$/m.exec(this.#stdout) ?? [];
    const { status, body } = await this.call('/auth/login', { body: { email, password } });
    assert.equal(status, 200, JSON.stringify(body));
    return body.access_token;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Kills the process with SIGKILL, and waits for its end. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }

  #read(text: string): void {
    this.#stdout += text;
    if (!/^ {2}stop .*$/m.test(this.#stdout)) return;
    const [, url = ''] = /^ {2}API +(\S+)\/api\/v1$/m.exec(this.#stdout) ?? [];
    this.#ready.resolve(url);
  }
}

/** Starts the command line of `npm start` in a folder. */
function launch(environment: Environment, command: ServiceCommand, folder: string): ServiceChild {
  const { PATH = '' } = process.env;
  const env = { ...unset, PATH: `${join(root, 'node_modules', '.bin')}:${PATH}`, PORT: '0' };
  return spawn('/bin/sh', ['-c', startLine(folder).replace(/serve$/, command)], {
    cwd: folder,
    env: { ...env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Empty values count as unset, and keep a `.env` file of the project out of the tests. */
const unset: Environment = Object.fromEntries(settings.map(({ name }) => [name, '']));

function startLine(folder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return (manifest as { scripts: { start: string } }).scripts.start;
}
