/** The form of an end-to-end id, to hold what the service and the simulated bank make against. */

/** The first part of `yyyyMMddHHmm` is any year; the others are held to their ranges. */
const MINUTE = String.raw`\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d`;

const END_TO_END_ID = new RegExp(`^E[0-9A-Z]{8}${MINUTE}[a-zA-Z0-9]{11}$`);

/**
 * Tells whether a text has the form of an end-to-end id of a payment, with a possible month, day,
 * hour and minute. The id of a refund begins with `D` and is not one.
 */
export function isEndToEndId(text: string): boolean {
  return END_TO_END_ID.test(text);
}
