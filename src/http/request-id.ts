/** The id by which a request is found again in both sides' logs. */
import { randomUUID } from 'node:crypto';

const USABLE_ID = /^[\x21-\x7e]{1,128}$/;

/** The caller's id when it is 1 to 128 visible ASCII characters, otherwise a new UUID. */
export function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && USABLE_ID.test(given) ? given : randomUUID();
}
