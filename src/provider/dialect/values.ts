/** Reads the values of a message's fields in the units and forms that a dialect declares. */
import { normalisePixKey } from '../../domain/pix-key.ts';
import { readCentavos, readCode, readId, readReais } from '../wire-reading.ts';

/** The units of amounts; `reais_text` is a decimal text only, as in the central bank's API. */
export const amountUnits = ['reais', 'reais_text', 'centavos'] as const;

export type AmountUnit = (typeof amountUnits)[number];

/** The forms of times; `brasilia` is a time without its offset from UTC. */
export const timeForms = ['offset', 'brasilia', 'epoch_s', 'epoch_ms'] as const;

export type TimeForm = (typeof timeForms)[number];

/**
 * Reads an amount.
 * @param isSigned whether a minus sign is part of the format; it is dropped.
 * @returns centavos, or null unless it is a positive amount in that unit.
 */
export function readAmount(value: unknown, unit: AmountUnit, isSigned: boolean): number | null {
  if (unit === 'reais_text' && typeof value !== 'string') return null;
  const amount = isSigned ? withoutSign(value) : value;
  return unit === 'centavos' ? readCentavos(amount) : readReais(amount);
}

/** Whether an amount has a minus sign. */
export function isNegative(value: unknown): boolean {
  return typeof value === 'number' ? value < 0 : /^\s*-/.test(String(value));
}

function withoutSign(value: unknown): unknown {
  if (typeof value === 'number') return Math.abs(value);
  return typeof value === 'string' ? value.trim().replace(/^-/, '') : value;
}

/** The reader of each identifier of a payee. */
export const payeeReaders = {
  key: readId,
  document: readDocument,
  agency: readAgency,
  account: readCode,
} as const;

/** A document that is written as a number has lost its leading zeros. */
function readDocument(value: unknown): string | null {
  const code = readCode(value);
  const isWhole = code === null || typeof value !== 'number';
  return isWhole ? code : code.padStart(code.length > 11 ? 14 : 11, '0');
}

/** The digit after the hyphen only checks the number before it: others leave it out. */
function readAgency(value: unknown): string | null {
  return readCode(typeof value === 'string' ? value.replace(/^(\s*\d+)-[\dX]\s*$/i, '$1') : value);
}

export type PayeeField = keyof typeof payeeReaders;

/** Returns the form of a payee's identifier in which two spellings of it are equal. */
export function comparable(field: PayeeField, value: string): string {
  return field === 'key' ? normalisePixKey(value).key : value;
}

const maxTimeLength = 40;
const offset = /T.*(?:Z|[+-]\d\d:?\d\d)$/i;
const withoutOffset = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/;

/** Times of other years are no time of a payment, and the database does not read their form. */
const [firstYearMs, lastYearMs] = [Date.parse('0001-01-01T00:00:00Z'), Date.UTC(9_999, 11, 31)];

/** Reads a time; null when it is not in the declared form, because it could be hours off. */
export function readTime(value: unknown, form: TimeForm): Date | null {
  const at = new Date(epochOrText(value, form));
  return at.getTime() >= firstYearMs && at.getTime() < lastYearMs ? at : null;
}

function epochOrText(value: unknown, form: TimeForm): number | string {
  if (form === 'epoch_s' || form === 'epoch_ms') {
    return typeof value === 'number' ? value * (form === 'epoch_s' ? 1_000 : 1) : Number.NaN;
  }
  if (typeof value !== 'string' || value.length > maxTimeLength) return Number.NaN;
  if (offset.test(value)) return value;
  return form === 'brasilia' && withoutOffset.test(value) ? `${value}-03:00` : Number.NaN;
}
