const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The nil UUID, which sorts before every other (RFC 9562, section 5.9). */
export const nilUuid = '00000000-0000-0000-0000-000000000000';

/** Whether a text is a UUID without URN prefix, in either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
