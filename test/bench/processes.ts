/** Runs the servers as separate processes. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { authority } from '../api/db/certificates.ts';
import type { ReferenceName } from './reference/listen.ts';
import type { Environment } from './settings.ts';

const root = join(import.meta.dirname, '..', '..');

/** The service, and the reference servers. */
export type ServerName = 'ponte' | ReferenceName;

const referenceServer = join(import.meta.dirname, 'reference', 'server.ts');

/** The command line of each server. */
const commands: Readonly<Record<ServerName, readonly [string, ...string[]]>> = {
  ponte: ['sh', join(root, 'bin', 'ponte'), 'serve'],
  plain: [process.execPath, referenceServer, 'plain'],
  grouped: [process.execPath, referenceServer, 'grouped'],
  least: [process.execPath, referenceServer, 'least'],
};

const probe = join(import.meta.dirname, 'event-loop-probe.js');

/** The last characters of a server's output to keep, for the error if it ends unexpectedly. */
const keptOutput = 16_384;

export interface StartOptions {
  readonly env: Environment;
  /** Further arguments of Node. */
  readonly nodeArgs?: readonly string[];
  /** Whether its event loop is watched. */
  readonly isWatched?: boolean;
}

export interface Server {
  readonly name: ServerName;
  readonly pid: number;
  readonly url: string;
  /** The time from the start of the process to its first "ready", in milliseconds. */
  readonly readyMs: number;
  watchEventLoop(): void;
  /** The longest delay since the watch began, in milliseconds. */
  maxDelayMs(): Promise<number>;
  /** Sends a request to the probe in the process of the server. */
  request(message: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a server and waits until it is ready. */
export async function startServer(name: ServerName, options: StartOptions): Promise<Server> {
  const { env, nodeArgs = [], isWatched = true } = options;
  const startedAt = performance.now();
  const nodeOptions = [...nodeArgs, ...(isWatched ? [`--import=${probe}`] : [])].join(' ');
  const [command, ...args] = commands[name];
  const { PATH, HOME } = process.env;
  const child = spawn(command, args, {
    cwd: root,
    env: { PATH, HOME, NODE_OPTIONS: nodeOptions, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  let isListening = false;
  const address = Promise.withResolvers<string>();
  const read = (chunk: Buffer): void => {
    // Keep only the end: the request log would fill the memory.
    output = (output + chunk.toString()).slice(-keptOutput);
    if (isListening) return;
    const url = /^ {2}API +(\S+)\/api\/v1$/m.exec(output)?.[1];
    isListening = url !== undefined;
    if (url !== undefined) address.resolve(url);
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  const ended = once(child, 'close');
  void ended.then(() => address.reject(new Error(`${name} ended: ${output}`)));
  const url = await address.promise;
  await untilReady(url);
  const readyMs = performance.now() - startedAt;
  const request = async (message: string): Promise<unknown> => {
    const pending = once(child, 'message');
    child.send(message);
    const broken = ended.then(() => {
      throw new Error(`${name} ended: ${output}`);
    });
    const [response] = (await Promise.race([pending, broken])) as [unknown];
    return response;
  };
  return {
    name,
    pid: child.pid ?? 0,
    url,
    readyMs,
    request,
    watchEventLoop: () => void child.send('reset'),
    maxDelayMs: async () => ((await request('read')) as { maxMs: number }).maxMs,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function untilReady(url: string): Promise<void> {
  for (;;) {
    const { status } = await fetch(`${url}/health/ready`);
    if (status === 200) return;
  }
}

/** How the bank is reached: over HTTP, or over TLS with HTTP/1.1, or with HTTP/2 as well. */
export const transports = ['http', 'tls', 'h2'] as const;

export type Transport = (typeof transports)[number];

export interface Bank {
  readonly url: string;
  /** @returns how many payments it has executed. */
  executed(): Promise<number>;
  stop(): void;
}

/** Starts the simulated bank as a process of its own. */
export async function startBank(transport: Transport): Promise<Bank> {
  const isPlain = transport === 'http';
  if (!isPlain) setDefaultCACertificates([...getCACertificates(), authority]);
  const bank = join(import.meta.dirname, 'reference', 'bank.ts');
  const child = fork(isPlain ? bank : join(import.meta.dirname, 'secure-bank.ts'), [transport]);
  const [{ url: plainUrl }] = (await once(child, 'message')) as [{ url: string }];
  const url = isPlain ? plainUrl : plainUrl.replace('http:', 'https:');
  return {
    url,
    async executed() {
      const response = await fetch(`${url}/payments`);
      return ((await response.json()) as { count: number }).count;
    },
    stop: () => void child.kill(),
  };
}
