/**
 * The operator client: it runs the op of a command. On PostgreSQL, and on an embedded database that
 * no process has open, the op runs in this process. While a service has the embedded database open,
 * that service runs the op, called through its socket. Input, result and refusals are the same.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, keepAlive, pause } from '../clock.ts';
import { openMovedClock } from '../process/moved-clock.ts';
import type { Config } from '../config/config.ts';
import type { LocalContext } from '../context/context.ts';
import { pendingMigrations } from '../db/migrate.ts';
import { openLocal } from '../context/local.ts';
import type { Log } from '../telemetry/log.ts';
import { uncounted } from '../telemetry/uncounted.ts';
import type { Dialects } from '../provider/dialect/dialects.ts';
import { requireReason } from './decision.ts';
import { loadOp, type OpInput, type OpName, type OpResult } from './index.ts';
import { OpError, type Op, type OpCaller } from './op.ts';
import { socketAddress } from './socket/protocol.ts';
import { callService, isListening, socketRefusal, UnansweredError } from './socket/client.ts';
import { describeFailure, UnreachableError } from './failure-message.ts';

export interface OperatorClient {
  /**
   * Runs an op.
   * @throws OpError when the op refuses or the schema is not this version's, UnreachableError when
   *   the database or the service cannot be reached.
   */
  run<Name extends OpName>(call: OpCall<Name>): Promise<OpResult<Name>>;
  /** Closes the database until the next run, so that other processes can open it. */
  release(): Promise<void>;
}

export interface OpCall<Name extends OpName> extends OpCaller {
  readonly name: Name;
  readonly input: OpInput<Name>;
}

export interface OperatorClientOptions {
  readonly clock: Clock;
  readonly log: Log;
}

interface Transport {
  run(name: OpName, input: unknown, caller: OpCaller): Promise<unknown>;
  close(): Promise<void>;
}

/** Creates the client of one command; it opens nothing before the first op. */
export function createOperatorClient(
  config: Config,
  options: OperatorClientOptions,
): OperatorClient {
  let transport: Promise<Transport> | null = null;
  const opened = (): Promise<Transport> => {
    transport ??= openTransport(config, options).catch((error: unknown) => {
      transport = null;
      throw error;
    });
    return transport;
  };
  const attempt: Transport['run'] = async (name, input, caller) => {
    const current = await opened();
    try {
      return await current.run(name, input, caller);
    } catch (error) {
      if (!(error instanceof UnansweredError) || error.wasSent) throw error;
      // A service that stops between two ops of a command releases the database.
      transport = null;
      return attempt(name, input, caller);
    }
  };
  return {
    async run({ name, input, ...caller }) {
      if (caller.reason !== undefined) requireReason(caller.reason);
      const { needs = 'schema' } = await loadOp(name);
      if (needs !== 'nothing' && !databaseExists(config)) throw databaseMissing(config);
      try {
        return (await attempt(name, input, caller)) as never;
      } catch (error) {
        throw reachable(error, config.databaseUrl);
      }
    },
    async release() {
      const current = await transport?.catch(() => null);
      transport = null;
      await current?.close();
    },
  };
}

/** A read must not create an embedded database. */
function databaseExists({ databaseUrl, dataDir }: Config): boolean {
  return databaseUrl !== undefined || existsSync(join(dataDir, 'postgres'));
}

function databaseMissing({ dataDir }: Config): OpError {
  const where =
    'DATA_DIR is relative to the current folder: run this where the service was started';
  const otherwise = 'or create a database by `ponte migrate up`';
  return new OpError('REFUSED', `there is no database in ${dataDir}; ${where}, ${otherwise}`);
}

function reachable(error: unknown, databaseUrl: string | undefined): unknown {
  if (error instanceof OpError || error instanceof UnreachableError) return error;
  if (error instanceof UnansweredError) return new UnreachableError(error.message);
  const { message, unreachable } = describeFailure(error, databaseUrl);
  return unreachable ? new UnreachableError(message, { cause: error }) : error;
}

/** The maximum wait for another command, or for a service that is starting. */
const maxWaitMs = 10_000;

const pauseMs = 100;

async function openTransport(config: Config, options: OperatorClientOptions): Promise<Transport> {
  if (config.databaseUrl !== undefined) return openDirect(config, options);
  return keepAlive(() => openEmbedded(config, options));
}

async function openEmbedded(config: Config, options: OperatorClientOptions): Promise<Transport> {
  const { FolderInUseError } = await import('../db/embedded.ts');
  const { path } = socketAddress(config.dataDir);
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    if (await isListening(path)) return socketTransport(path);
    try {
      return await openDirect(config, options);
    } catch (error) {
      if (!(error instanceof FolderInUseError)) throw error;
      const refusal = socketRefusal(path);
      if (refusal !== null) throw new UnreachableError(`${error.message}; ${refusal}`);
      if (waitedMs >= maxWaitMs)
        throw new UnreachableError(`${error.message}, which does not accept commands`);
    }
    await pause(options.clock, pauseMs);
  }
}

function socketTransport(path: string): Transport {
  return {
    run: (op, input, { operator, reason, progress }) =>
      callService(path, { op, input, operator, reason }, progress),
    close: () => Promise.resolve(),
  };
}

/** In place of the dialects, for an op that does not need them. */
const unopened = undefined as unknown as Dialects;

async function openDirect(
  config: Config,
  { clock: base, log }: OperatorClientOptions,
): Promise<Transport> {
  await using parts = new AsyncDisposableStack();
  const stopping = new AbortController();
  const clock = openMovedClock(config, base) ?? base;
  const options = { clock, log, metrics: uncounted, dialects: unopened, stopping: stopping.signal };
  const context = await openLocal(config, options, parts);
  const opened = parts.move();
  let isCurrent = false;
  return {
    async run(name, input, caller) {
      const op = await loadOp(name);
      if ((op.needs ?? 'schema') === 'schema' && !isCurrent) {
        await refuseOldSchema(context);
        isCurrent = true;
      }
      return op.run(await addDialects(context, op), input as never, caller);
    },
    async close() {
      stopping.abort();
      await opened.disposeAsync();
    },
  };
}

async function addDialects(
  context: LocalContext,
  { needsDialects }: Op<never, unknown>,
): Promise<LocalContext> {
  if (!needsDialects) return context;
  const { configuredDialects } = await import('../provider/configured-dialects.ts');
  return { ...context, dialects: configuredDialects(context.config) };
}

async function refuseOldSchema(context: LocalContext): Promise<void> {
  const pending = await pendingMigrations(context.db);
  if (pending.length === 0) return;
  const what = pending.length === 1 ? 'a migration is' : `${pending.length} migrations are`;
  throw new OpError('REFUSED', `${what} not applied to the database yet: run \`ponte migrate up\``);
}
