/** The format of an end-to-end id, for checks of the ids that the service and the bank create. */

/** `yyyyMMddHHmm`: any year; month, day, hour and minute within their ranges. */
const minute = String.raw`\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d`;

const endToEndId = new RegExp(`^E[0-9A-Z]{8}${minute}[a-zA-Z0-9]{11}$`);

/**
 * Whether a text has the format of the end-to-end id of a payment. The id of a refund, which begins
 * with `D`, has not.
 */
export function isEndToEndId(text: string): boolean {
  return endToEndId.test(text);
}
