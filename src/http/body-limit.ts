/** The size limits of JSON bodies. */

/** The largest limit that an operation may declare, in bytes. */
export const MAX_BODY_BYTES = 256 * 1024;

/**
 * Reads an operation's `x-max-body-bytes`.
 * @throws Error that names the operation when it is missing or out of range.
 */
export function maxBodyBytes(value: unknown, id: string): number {
  const isLimit = Number.isSafeInteger(value) && Number(value) > 0;
  if (isLimit && Number(value) <= MAX_BODY_BYTES) return Number(value);
  throw new Error(`${id} takes JSON without x-max-body-bytes of 1 to ${MAX_BODY_BYTES}`);
}
