/**
 * Limits the concurrent uploads of a process. Each holds memory while its client sends, and the
 * database must remain available for more urgent work.
 */
import { bulkhead, isBulkheadRejectedError } from 'cockatiel';
import { AppError } from '../errors.ts';

/** An upload takes about a megabyte of memory, including buffers. */
const maxUploads = 100;

/** Prevents a single slow client from holding all slots. */
const uploadsPerAddress = 20;

/**
 * A network holds no more slots than are left, or this many: one that has many addresses leaves as
 * many to others as it holds.
 */
const littleUploads = 5;

const retry = { headers: { 'Retry-After': '5' } };

export interface UploadSender {
  readonly address: string;
  /** The widest network of the address. */
  readonly network: string;
}

export interface UploadSlots {
  /**
   * Runs an upload in a slot.
   * @throws AppError THROTTLED when the address or the network holds its share of slots, BUSY when
   *   none is free.
   */
  hold<T>(sender: UploadSender, upload: () => Promise<T>): Promise<T>;
  /** Writes a chunk when it is its turn, so that other statements wait for a few chunks at most. */
  write<T>(chunk: () => Promise<T>): Promise<T>;
}

/**
 * Creates the slots of one process.
 * @param writers how many chunks may be written concurrently; fewer than the pool's connections.
 */
export function createUploadSlots(writers: number): UploadSlots {
  const uploads = bulkhead(maxUploads);
  const turns = bulkhead(writers, maxUploads);
  const heldBy = new Map<string, number>();
  const count = (name: string): number => heldBy.get(name) ?? 0;
  const add = (names: readonly string[], slots: number): void => {
    for (const name of names) {
      const held = count(name) + slots;
      if (held === 0) heldBy.delete(name);
      else heldBy.set(name, held);
    }
  };
  return {
    async hold({ address, network }, upload) {
      const left = maxUploads - count('all');
      if (count(address) >= uploadsPerAddress || count(network) >= Math.max(littleUploads, left)) {
        throw new AppError('THROTTLED', retry);
      }
      const names = ['all', address, network];
      add(names, 1);
      try {
        return await uploads.execute(upload);
      } catch (error) {
        throw isBulkheadRejectedError(error) ? new AppError('BUSY', retry) : error;
      } finally {
        add(names, -1);
      }
    },
    write: (chunk) => turns.execute(chunk),
  };
}
