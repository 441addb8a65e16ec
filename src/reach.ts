/**
 * How a command's op is reached, in one of three ways: on PostgreSQL, or on the embedded database
 * that nobody has, it runs in the command's own process; on the embedded database of a service that
 * runs, that service runs it, asked through its socket. Input, result and refusals are the same.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pause, type Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { LocalContext } from './context.ts';
import { FolderInUseError } from './db/embedded.ts';
import { pendingMigrations } from './db/migrate.ts';
import { keepAlive } from './keep-alive.ts';
import { openLocal } from './local.ts';
import type { Log } from './log.ts';
import { ops, type OpInput, type OpName, type OpResult } from './ops/index.ts';
import { OpError, type Op, type OpCaller } from './ops/op.ts';
import { socketAddress } from './ops/socket/address.ts';
import { askService, isAnswered, UnansweredError } from './ops/socket/ask.ts';
import { failureOf, UnreachableError } from './unreachable.ts';

export interface Reach {
  /**
   * Runs an op, whichever way it is reached.
   * @throws OpError when the op refuses or the schema is not this version's, UnreachableError when
   *   the database or the service cannot be reached.
   */
  run<Name extends OpName>(asked: Asked<Name>): Promise<OpResult<Name>>;
  /** Lets go of the database until the next run, so that it keeps nobody else waiting. */
  release(): Promise<void>;
}

export interface Asked<Name extends OpName> extends OpCaller {
  readonly name: Name;
  readonly input: OpInput<Name>;
}

export interface ReachOptions {
  readonly clock: Clock;
  readonly log: Log;
}

interface Way {
  run(name: OpName, input: unknown, caller: OpCaller): Promise<unknown>;
  close(): Promise<void>;
}

/** Makes the reach of one command; nothing is opened before the first op. */
export function createReach(config: Config, options: ReachOptions): Reach {
  let way: Promise<Way> | null = null;
  const opened = (): Promise<Way> => {
    way ??= openWay(config, options).catch((error: unknown) => {
      way = null;
      throw error;
    });
    return way;
  };
  const attempt: Way['run'] = async (name, input, caller) => {
    const current = await opened();
    try {
      return await current.run(name, input, caller);
    } catch (error) {
      if (!(error instanceof UnansweredError) || error.wasAsked) throw error;
      // A service that has stopped between two ops of a command leaves the database free.
      way = null;
      return attempt(name, input, caller);
    }
  };
  return {
    async run({ name, input, ...caller }) {
      const { needs = 'schema' }: Op<never, unknown> = ops[name];
      if (needs !== 'nothing' && !isThere(config)) throw schemaMissing();
      try {
        return (await attempt(name, input, caller)) as never;
      } catch (error) {
        throw reachable(error, config.databaseUrl);
      }
    },
    async release() {
      const current = await way?.catch(() => null);
      way = null;
      await current?.close();
    },
  };
}

/** Looking for something must not make an embedded database. */
function isThere({ databaseUrl, dataDir }: Config): boolean {
  return databaseUrl !== undefined || existsSync(join(dataDir, 'postgres'));
}

function schemaMissing(): OpError {
  return new OpError('REFUSED', 'there is no database yet: run `ponte migrate up`');
}

function reachable(error: unknown, databaseUrl: string | undefined): unknown {
  if (error instanceof OpError || error instanceof UnreachableError) return error;
  if (error instanceof UnansweredError) return new UnreachableError(error.message);
  const { message, unreachable } = failureOf(error, databaseUrl);
  return unreachable ? new UnreachableError(message, { cause: error }) : error;
}

/** How long another command, or a service that is about to start, is waited for. */
const patienceMs = 10_000;

const pauseMs = 100;

async function openWay(config: Config, options: ReachOptions): Promise<Way> {
  if (config.databaseUrl !== undefined) return openDirect(config, options);
  return keepAlive(() => openEmbeddedWay(config, options));
}

async function openEmbeddedWay(config: Config, options: ReachOptions): Promise<Way> {
  const { path } = socketAddress(config.dataDir);
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    if (await isAnswered(path)) return throughSocket(path);
    try {
      return await openDirect(config, options);
    } catch (error) {
      if (!(error instanceof FolderInUseError)) throw error;
      if (waitedMs >= patienceMs)
        throw new UnreachableError(`${error.message}, which answers no command`);
    }
    await pause(options.clock, pauseMs);
  }
}

function throughSocket(path: string): Way {
  return {
    run: (op, input, { operator, progress }) => askService(path, { op, input, operator }, progress),
    close: () => Promise.resolve(),
  };
}

async function openDirect(config: Config, { clock, log }: ReachOptions): Promise<Way> {
  await using parts = new AsyncDisposableStack();
  const stopping = new AbortController();
  const context = await openLocal(config, { clock, log, stopping: stopping.signal }, parts);
  const opened = parts.move();
  let isCurrent = false;
  return {
    async run(name, input, caller) {
      const op: Op<never, unknown> = ops[name];
      if ((op.needs ?? 'schema') === 'schema' && !isCurrent) {
        await refuseOldSchema(context);
        isCurrent = true;
      }
      return op.run(context, input as never, caller);
    },
    async close() {
      stopping.abort();
      await opened.disposeAsync();
    },
  };
}

async function refuseOldSchema(context: LocalContext): Promise<void> {
  const pending = await pendingMigrations(context.db);
  if (pending.length === 0) return;
  const what = pending.length === 1 ? 'a migration is' : `${pending.length} migrations are`;
  throw new OpError('REFUSED', `${what} not applied to the database yet: run \`ponte migrate up\``);
}
