/**
 * How many uploads a process takes at once. Each holds some memory for as long as its client sends,
 * and the database is needed for more urgent things than documents.
 */
import { bulkhead, isBulkheadRejectedError } from 'cockatiel';
import { AppError } from '../errors.ts';

/** With all that is on its way in between, an upload takes about a megabyte. */
const UPLOADS = 100;

/** Nobody who sends slowly on purpose takes them all. */
const UPLOADS_PER_ADDRESS = 20;

const RETRY = { headers: { 'Retry-After': '5' } };

export interface UploadPlaces {
  /**
   * Gives an upload a place until it has ended.
   * @param clientAddress where it comes from.
   * @throws AppError THROTTLED when that address holds its share, BUSY when no place is free.
   */
  hold<T>(clientAddress: string, upload: () => Promise<T>): Promise<T>;
  /** Writes a chunk in its turn: whoever else needs the database waits for a few at most. */
  write<T>(chunk: () => Promise<T>): Promise<T>;
}

/**
 * Makes the places of one process.
 * @param writers how many chunks may be written at once: fewer than the database has connections.
 */
export function createUploadPlaces(writers: number): UploadPlaces {
  const uploads = bulkhead(UPLOADS);
  const turns = bulkhead(writers, UPLOADS);
  const heldBy = new Map<string, number>();
  const add = (clientAddress: string, places: number): void => {
    const held = (heldBy.get(clientAddress) ?? 0) + places;
    if (held === 0) heldBy.delete(clientAddress);
    else heldBy.set(clientAddress, held);
  };
  return {
    async hold(clientAddress, upload) {
      const held = heldBy.get(clientAddress) ?? 0;
      if (held >= UPLOADS_PER_ADDRESS) throw new AppError('THROTTLED', RETRY);
      add(clientAddress, 1);
      try {
        return await uploads.execute(upload);
      } catch (error) {
        throw isBulkheadRejectedError(error) ? new AppError('BUSY', RETRY) : error;
      } finally {
        add(clientAddress, -1);
      }
    },
    write: (chunk) => turns.execute(chunk),
  };
}
