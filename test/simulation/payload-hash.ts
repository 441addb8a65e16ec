import { createHash } from 'node:crypto';

/** Names an event as the service does: by its bytes. */
export function hashOf(payload: Buffer): string {
  return createHash('sha256').update(payload).digest('hex');
}
