/** An embedded database that stays open when a service closes it, for the next service to open. */
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { openEmbedded } from '../../src/db/embedded.ts';
import { MemoryFiles } from './memory-files.ts';

/** Opens each lent database, by its folder. */
const lenders = new Map<string, (options: object) => Promise<PGlite>>();

const create = PGlite.create.bind(PGlite);

Object.assign(PGlite, {
  create: (folder: string, options: object): Promise<PGlite> =>
    lenders.get(folder)?.(options) ?? create(folder, options),
});

export interface LentEmbedded {
  /** Whether a service has it open. */
  isOpen(): boolean;
  sql<Row>(statements: string): Promise<readonly Row[]>;
  /** Closes the database itself. */
  close(): Promise<void>;
}

/** Opens the embedded database of a data folder as a service does, and keeps it open. */
export async function lendEmbedded(dataDir: string): Promise<LentEmbedded> {
  const folder = join(dataDir, 'postgres');
  let postgres: PGlite | null = null;
  let users = 0;
  lenders.set(folder, async (options) => {
    postgres ??= await create({ ...options, fs: new MemoryFiles(folder) });
    users += 1;
    return lent(postgres, () => (users -= 1));
  });
  const first = await openEmbedded(dataDir);
  await first.close();
  const opened = postgres as unknown as PGlite;
  return {
    isOpen: () => users > 0,
    sql: async <Row>(statements: string) => (await opened.exec(statements)).at(-1)?.rows as Row[],
    async close() {
      lenders.delete(folder);
      await opened.close();
    },
  };
}

/** The part of PGlite that a service uses. Its `close` only ends the session, as on a server. */
function lent(postgres: PGlite, onClose: () => void): PGlite {
  let isClosed = false;
  const stops: (() => void)[] = [];
  const used: Pick<PGlite, 'waitReady' | 'execProtocolStream' | 'onNotification' | 'close'> = {
    waitReady: postgres.waitReady,
    async execProtocolStream(...message) {
      if (isClosed) throw new Error('PGlite is closed');
      return postgres.execProtocolStream(...message);
    },
    onNotification(listener) {
      const stop = postgres.onNotification(listener);
      stops.push(stop);
      return stop;
    },
    async close() {
      if (isClosed) throw new Error('PGlite is closed');
      isClosed = true;
      for (const stop of stops) stop();
      await postgres.exec('rollback');
      await postgres.exec('discard all');
      onClose();
    },
  };
  return used as PGlite;
}
