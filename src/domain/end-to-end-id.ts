import { randomAlphanumerics } from './text.ts';

const ISPB = /^[0-9A-Z]{8}$/;

/** The first part of `yyyyMMddHHmm` is any year; the others are held to their ranges. */
const MINUTE = String.raw`\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d`;

const END_TO_END_ID = new RegExp(`^E[0-9A-Z]{8}${MINUTE}[a-zA-Z0-9]{11}$`);

/**
 * Makes the end-to-end id that names one transfer in the instant payment system (SPI): `E`, the
 * ISPB of the participant that makes it, `yyyyMMddHHmm` in UTC, and eleven random alphanumerics.
 *
 * @param ispb eight digits or capital letters (it derives from the root of a CNPJ, which may carry
 *   letters since July 2026).
 * @param at when the transfer is made; SPI refuses a difference of over twelve hours (FF08).
 * @returns 32 characters.
 * @throws RangeError when `ispb` has another form, or `at` is no date of the years 0 to 9999.
 */
export function newEndToEndId(ispb: string, at: Date): string {
  if (!ISPB.test(ispb)) throw new RangeError(`not an ISPB: ${ispb}`);
  const iso = at.toISOString();
  if (!/^\d{4}-/.test(iso)) throw new RangeError(`outside the years 0 to 9999: ${iso}`);
  const day = iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10);
  const minute = iso.slice(11, 13) + iso.slice(14, 16);
  return `E${ispb}${day}${minute}${randomAlphanumerics(11)}`;
}

/**
 * Tells whether a text has the form of an end-to-end id of a payment, with a possible month, day,
 * hour and minute. The id of a refund begins with `D` and is not one.
 */
export function isEndToEndId(text: string): boolean {
  return END_TO_END_ID.test(text);
}
