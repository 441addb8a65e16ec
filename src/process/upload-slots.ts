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

const retry = { headers: { 'Retry-After': '5' } };

export interface UploadSlots {
  /**
   * Runs an upload in a slot.
   * @param clientAddress the address that it comes from.
   * @throws AppError THROTTLED when the address holds its share of slots, BUSY when none is free.
   */
  hold<T>(clientAddress: string, upload: () => Promise<T>): Promise<T>;
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
  const add = (clientAddress: string, slots: number): void => {
    const held = (heldBy.get(clientAddress) ?? 0) + slots;
    if (held === 0) heldBy.delete(clientAddress);
    else heldBy.set(clientAddress, held);
  };
  return {
    async hold(clientAddress, upload) {
      const held = heldBy.get(clientAddress) ?? 0;
      if (held >= uploadsPerAddress) throw new AppError('THROTTLED', retry);
      add(clientAddress, 1);
      try {
        return await uploads.execute(upload);
      } catch (error) {
        throw isBulkheadRejectedError(error) ? new AppError('BUSY', retry) : error;
      } finally {
        add(clientAddress, -1);
      }
    },
    write: (chunk) => turns.execute(chunk),
  };
}
