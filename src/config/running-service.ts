/** Where the service of a data folder listens, so that commands find one with a port of its own. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config, Environment } from './config.ts';

interface Place {
  readonly host: string;
  readonly port: number;
  /** The process that listens. */
  readonly pid: number;
}

const fileOf = (dataDir: string): string => join(dataDir, 'listening.json');

/**
 * Writes down where a service listens.
 *
 * @param port the port that it has, also where the configured one is 0.
 * @returns removes the file, unless another service has replaced it.
 */
export function announceService({ dataDir, host }: Config, port: number): () => void {
  const text = JSON.stringify({ host, port, pid: process.pid } satisfies Place);
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(fileOf(dataDir), text);
  return () => {
    if (read(dataDir) === text) rmSync(fileOf(dataDir), { force: true });
  };
}

/**
 * Returns the environment of the service that runs with this data folder in `local`: its address
 * counts where the environment sets no `PORT`.
 *
 * @param config what the environment says.
 */
export function withRunningService(environment: Environment, config: Config): Environment {
  if (config.appEnv !== 'local' || environment['PORT']) return environment;
  const place = parse(read(config.dataDir));
  if (place === null || !isAlive(place.pid)) return environment;
  return { ...environment, HOST: environment['HOST'] || place.host, PORT: String(place.port) };
}

function read(dataDir: string): string | null {
  try {
    return readFileSync(fileOf(dataDir), 'utf8');
  } catch {
    return null;
  }
}

function parse(text: string | null): Place | null {
  try {
    const { host, port, pid } = JSON.parse(text ?? '') as Place;
    const isPlace = typeof host === 'string' && Number.isInteger(port) && Number.isInteger(pid);
    return isPlace && pid > 0 ? { host, port, pid } : null;
  } catch {
    return null;
  }
}

/** A process of another user lives as well: it may only not be signalled. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
