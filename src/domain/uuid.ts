const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Sorts before every other UUID (RFC 9562, section 5.9: the nil UUID). */
export const nilUuid = '00000000-0000-0000-0000-000000000000';

/** Whether a text is a UUID as the database takes one, in either case; a URN is none. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
