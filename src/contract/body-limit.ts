/** The size limits of JSON bodies. */

/** The largest limit that an operation may declare, in bytes. */
export const maxBytesOfBody = 256 * 1024;

/**
 * Reads an operation's `x-max-body-bytes`.
 * @returns {@link maxBytesOfBody} where the operation has none.
 * @throws Error that names the operation when it is out of range.
 */
export function maxBodyBytes(value: unknown, id: string): number {
  const limit = value ?? maxBytesOfBody;
  if (Number.isSafeInteger(limit) && Number(limit) > 0 && Number(limit) <= maxBytesOfBody) {
    return Number(limit);
  }
  throw new Error(`${id} has an x-max-body-bytes that is not 1 to ${maxBytesOfBody}`);
}
