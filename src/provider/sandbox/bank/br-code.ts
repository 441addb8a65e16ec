import transliterate from '@sindresorhus/transliterate';
import { crc16Ccitt } from '../../../domain/br-code.ts';
import { decimalFromCents } from '../../../domain/money.ts';
import { foldTypography, stripAccents } from '../../../domain/text.ts';

interface BrCodeInput {
  /** Centavos, 1 to 999 999 999 999; if absent, the payer enters the amount. */
  readonly amountCents?: number | undefined;
  readonly receiverName: string;
  readonly city: string;
  /** CEP, with or without its hyphen; omitted if it does not have eight digits. */
  readonly zipcode?: string | undefined;
  /** Merchant category code; written as `0000` if it does not have four digits. */
  readonly categoryCode?: string | undefined;
}

/** The content of a static BR Code: a Pix key, payable any number of times. */
export interface StaticBrCodeInput extends BrCodeInput {
  /** A Pix key, 1 to 77 visible ASCII characters. */
  readonly key: string;
  /** Alphanumerics, of which the first 25 are used; omitted if it contains anything else. */
  readonly txid?: string | undefined;
  /** Truncated to the space that the key leaves; omitted beside a key of 73 characters or more. */
  readonly description?: string | undefined;
}

/** The content of a dynamic BR Code: the URL at which the payer's bank reads the charge. */
export interface DynamicBrCodeInput extends BrCodeInput {
  /** With or without `https://`; 1 to 77 visible ASCII characters after it. */
  readonly url: string;
  /** Whether the code can be paid only once. */
  readonly oneTime: boolean;
}

/** A value that a BR Code cannot contain; `field` is the name of the input. */
export class BrCodeError extends Error {
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`BR Code ${field}: ${problem}`);
    this.name = 'BrCodeError';
    this.field = field;
  }
}

/** A length has two digits, so a value (a whole template too) has at most 99 characters. */
const maxValueLength = 99;
const gui = 'br.gov.bcb.pix';
/** Tag 26 less its GUI field, less the tag and length of the field that follows. */
const maxKeyLength = maxValueLength - (4 + gui.length) - 4;
/** Tag 54 has thirteen characters: ten digits, a point and two decimals. */
const maxBrCodeCents = 999_999_999_999;
const noTxid = '***';

/**
 * Encodes a static BR Code (EMV merchant-presented mode; BCB, Manual de Padrões para Iniciação do
 * Pix). Name and city are reduced to ASCII without accents, upper-cased, and truncated to 25 and 15
 * characters. An empty name becomes `RECEBEDOR`, an empty city `SAO PAULO`.
 *
 * @returns the copy-and-paste text, ASCII.
 * @throws BrCodeError for an invalid key or amount.
 */
export function encodeStaticBrCode(input: StaticBrCodeInput): string {
  const key = templateValue('key', input.key);
  const room = Math.max(0, maxKeyLength - key.length - 4);
  const description = asciiText(input.description ?? '', room);
  return payload({
    oneTime: false,
    account: tlv('01', key) + optionalTlv('02', description),
    // The service's own identifiers have 26 characters, one more than the tag allows.
    txid: /^[A-Za-z0-9]+$/.test(input.txid ?? '') ? (input.txid ?? '').slice(0, 25) : noTxid,
    common: input,
  });
}

/**
 * Encodes a dynamic BR Code by the same rules. The txid is at the URL, so tag 62-05 is `***`.
 *
 * @returns the copy-and-paste text, ASCII.
 * @throws BrCodeError for an invalid URL or amount.
 */
export function encodeDynamicBrCode(input: DynamicBrCodeInput): string {
  const url = templateValue('url', input.url.replace(/^https:\/\//i, ''));
  return payload({
    oneTime: input.oneTime,
    account: tlv('25', url),
    txid: noTxid,
    common: input,
  });
}

function payload(parts: {
  oneTime: boolean;
  account: string;
  txid: string;
  common: BrCodeInput;
}): string {
  const { receiverName, city, categoryCode = '', amountCents } = parts.common;
  const zipcode = (parts.common.zipcode ?? '').replace('-', '');
  const body = [
    tlv('00', '01'),
    parts.oneTime ? tlv('01', '12') : '',
    tlv('26', tlv('00', gui) + parts.account),
    tlv('52', /^\d{4}$/.test(categoryCode) ? categoryCode : '0000'),
    tlv('53', '986'),
    amountCents === undefined ? '' : tlv('54', amountText(amountCents)),
    tlv('58', 'BR'),
    tlv('59', capitals(receiverName, 25) ?? 'RECEBEDOR'),
    tlv('60', capitals(city, 15) ?? 'SAO PAULO'),
    /^\d{8}$/.test(zipcode) ? tlv('61', zipcode) : '',
    tlv('62', tlv('05', parts.txid)),
    '6304',
  ].join('');
  return body + crc16Ccitt(body);
}

function tlv(tag: string, value: string): string {
  return `${tag}${String(value.length).padStart(2, '0')}${value}`;
}

function optionalTlv(tag: string, value: string): string {
  return value === '' ? '' : tlv(tag, value);
}

function templateValue(field: string, value: string): string {
  if (value.length > maxKeyLength || !/^[\x21-\x7e]+$/.test(value)) {
    throw new BrCodeError(field, `must be 1 to ${maxKeyLength} visible ASCII characters`);
  }
  return value;
}

function amountText(cents: number): string {
  if (!Number.isSafeInteger(cents) || cents < 1 || cents > maxBrCodeCents) {
    throw new BrCodeError('amountCents', `must be a whole number, 1 to ${maxBrCodeCents}`);
  }
  return decimalFromCents(cents);
}

/** How much of a text is read; values have at most 99 characters. */
const maxReadLength = 512;

/** Reduces to ASCII before truncating, so that characters and bytes count alike. */
function asciiText(text: string, maxLength: number): string {
  const start = text.slice(0, maxReadLength);
  const plain = stripAccents(foldTypography(start.replace(/\s/g, ' ')));
  // Letters such as Ø and Ł are no letter with an accent, and have a spelling of their own.
  const printable = transliterate(plain).replace(/[^\x20-\x7e]/g, '');
  return printable.replace(/ {2,}/g, ' ').trim().slice(0, maxLength).trimEnd();
}

/**
 * Upper-cases first, which turns letters such as ß into ASCII.
 * @returns null when no letter or digit remains.
 */
function capitals(text: string, maxLength: number): string | null {
  const cut = asciiText(text.toUpperCase(), maxLength);
  return /[A-Z0-9]/.test(cut) ? cut : null;
}
