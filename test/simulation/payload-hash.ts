import { createHash } from 'node:crypto';

/** Identifies an event as the service does: by the hash of its bytes. */
export function computeHash(payload: Buffer): string {
  return createHash('sha256').update(payload).digest('hex');
}
