/** Values of `numeric`: texts in PostgreSQL's format, with as many decimals as their scale. */
import { refusal } from './errors.ts';

interface Scaled {
  readonly digits: bigint;
  readonly scale: number;
}

const form = /^\s*([+-]?)(\d*)(?:\.(\d*))?\s*$/;

function scaled(text: string): Scaled {
  const [, sign = '', whole = '', part = ''] = form.exec(text) ?? [];
  const digits = BigInt(`${whole}${part}` || '0');
  return { digits: sign === '-' ? -digits : digits, scale: part.length };
}

function written({ digits, scale }: Scaled): string {
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const sign = digits < 0n ? '-' : '';
  return scale === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`;
}

function at(value: Scaled, scale: number): bigint {
  return value.digits * 10n ** BigInt(scale - value.scale);
}

/** Reads a number as it is written in SQL or JSON. */
export function decimalFrom(text: string): string {
  if (!form.test(text) || !/\d/.test(text)) {
    throw refusal(
      'invalid_text_representation',
      `invalid input syntax for type numeric: "${text}"`,
    );
  }
  return written(scaled(text));
}

/** @returns a negative number, 0 or a positive number: `one` is less, equal or greater. */
export function compareDecimals(one: string, other: string): number {
  if (one === other) return 0;
  const [left, right] = [scaled(one), scaled(other)];
  const scale = Math.max(left.scale, right.scale);
  const difference = at(left, scale) - at(right, scale);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

/** Adds two numbers; with the sign -1 it subtracts the second one. */
export function addDecimals(one: string, other: string, sign: 1n | -1n = 1n): string {
  const [left, right] = [scaled(one), scaled(other)];
  const scale = Math.max(left.scale, right.scale);
  return written({ digits: at(left, scale) + sign * at(right, scale), scale });
}

/** Rounds half away from zero to a scale. @throws an SQL error for more digits than `precision`. */
export function limitDecimal(text: string, precision: number, scale: number): string {
  const value = scaled(text);
  let digits = value.digits;
  if (value.scale <= scale) digits = at(value, scale);
  else {
    const unit = 10n ** BigInt(value.scale - scale);
    digits = (digits + (digits < 0n ? -unit : unit) / 2n) / unit;
  }
  if ((digits < 0n ? -digits : digits) >= 10n ** BigInt(precision)) {
    throw refusal('numeric_value_out_of_range', 'numeric field overflow');
  }
  return written({ digits, scale });
}
