/**
 * The embedded database: PostgreSQL compiled to WebAssembly, in this process. It is for evaluation
 * and development: it survives the death of the process but never forces its writes to
 * disk, so it does not survive a loss of power.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { nextTurn } from '../clock.ts';
import type { Connection } from './pool.ts';

/** Another process has the folder open: two processes would lose rows silently. */
export class FolderInUseError extends Error {
  constructor(folder: string) {
    super(`the embedded database in ${folder} is in use by another process`);
    this.name = 'FolderInUseError';
  }
}

/**
 * A prepared statement keeps one plan, as the frequent ones do on a server: to plan one with ten
 * common table expressions takes longer in WebAssembly than to execute it.
 */
const settings = ['shared_buffers=16MB', 'plan_cache_mode=force_generic_plan'].flatMap(
  (setting) => ['-c', setting],
);

export interface EmbeddedDatabase {
  readonly postgres: PGlite;
  readonly connection: Connection;
  close(): Promise<void>;
}

/**
 * Opens the embedded database under `dataDir`, exclusively.
 * @throws FolderInUseError while another process has it open.
 */
export async function openEmbedded(dataDir: string): Promise<EmbeddedDatabase> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = takeLock(dataDir);
  try {
    const postgres = await PGlite.create(join(dataDir, 'postgres'), {
      startParams: [...PGlite.defaultStartParams, ...settings],
    });
    return {
      postgres,
      connection: connectionTo(postgres),
      async close() {
        await postgres.close();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** PGlite has no lock. An exclusive SQLite transaction is a lock that ends with the process. */
function takeLock(dataDir: string): DatabaseSync {
  const lock = new DatabaseSync(join(dataDir, 'lock'));
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch {
    lock.close();
    throw new FolderInUseError(dataDir);
  }
}

/**
 * PGlite has one session, so the pool has one connection. It yields to the event loop between its
 * users, because a busy embedded database would otherwise delay timers and sockets.
 */
function connectionTo(postgres: PGlite): Connection {
  return {
    ...createPgConfig(collectMessages(postgres)),
    connectionTimeoutMillis: 10_000,
    max: 1,
    onReserve: nextTurn,
  };
}

/** Parse, Bind, Describe, Execute, Close (PostgreSQL, "Message Formats"). */
const waitsForSync: ReadonlySet<number> = new Set(Buffer.from('PBDEC'));

/**
 * Runs the messages of a statement in one call, at the Sync that ends them. The driver sends them
 * one by one, and a call into WebAssembly takes as long as a small statement.
 */
function collectMessages(postgres: PGlite): PGlite {
  let messages: Uint8Array[] = [];
  const used: Pick<PGlite, 'waitReady' | 'execProtocolStream'> = {
    waitReady: postgres.waitReady,
    async execProtocolStream(message, options) {
      messages.push(message);
      if (waitsForSync.has(message[0] ?? 0)) return [];
      const statement = Buffer.concat(messages);
      messages = [];
      return postgres.execProtocolStream(statement, options);
    },
  };
  return used as PGlite;
}
