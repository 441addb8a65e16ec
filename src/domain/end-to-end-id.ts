import { randomAlphanumerics } from './text.ts';

const ISPB = /^[0-9A-Z]{8}$/;

/**
 * Creates an end-to-end id, which identifies one transfer in the instant payment system (SPI): `E`,
 * the ISPB of the issuing participant, `yyyyMMddHHmm` in UTC, and eleven random alphanumerics.
 *
 * @param ispb eight digits or capital letters (it derives from the root of a CNPJ, which may carry
 *   letters since July 2026).
 * @param at the time of the transfer; SPI refuses a difference of over twelve hours (FF08).
 * @returns 32 characters.
 * @throws RangeError when `ispb` is malformed, or `at` is outside the years 0 to 9999.
 */
export function newEndToEndId(ispb: string, at: Date): string {
  if (!ISPB.test(ispb)) throw new RangeError(`not an ISPB: ${ispb}`);
  const iso = at.toISOString();
  if (!/^\d{4}-/.test(iso)) throw new RangeError(`outside the years 0 to 9999: ${iso}`);
  const day = iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10);
  const minute = iso.slice(11, 13) + iso.slice(14, 16);
  return `E${ispb}${day}${minute}${randomAlphanumerics(11)}`;
}
