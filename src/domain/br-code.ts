import { centsFromDecimal, decimalFromCents } from './money.ts';
import { foldTypography, stripAccents } from './text.ts';
import { isTxid } from './txid.ts';

interface BrCodeInput {
  /** Centavos, 1 to 999 999 999 999; without it the payer types the amount. */
  readonly amountCents?: number | undefined;
  readonly receiverName: string;
  readonly city: string;
  /** CEP, with or without its hyphen; one that is not eight digits is left out. */
  readonly zipcode?: string | undefined;
  /** Merchant category code; one that is not four digits is written as `0000`. */
  readonly categoryCode?: string | undefined;
}

/** What a static BR Code carries: the key itself, payable any number of times. */
export interface StaticBrCodeInput extends BrCodeInput {
  /** A PIX key, 1 to 77 visible ASCII characters. */
  readonly key: string;
  /** Alphanumerics, of which the first 25 are used; anything else is written as none. */
  readonly txid?: string | undefined;
  /** Cut to the room that the key leaves: none beside a key of 73 characters or more. */
  readonly description?: string | undefined;
}

/** What a dynamic BR Code carries: the address at which the payer's bank reads the charge. */
export interface DynamicBrCodeInput extends BrCodeInput {
  /** With or without `https://`; 1 to 77 visible ASCII characters after it. */
  readonly url: string;
  /** True: payable once. */
  readonly oneTime: boolean;
}

interface BrCodeFields {
  readonly oneTime: boolean;
  readonly categoryCode: string;
  /** Centavos; null: the code carries no amount. */
  readonly amountCents: number | null;
  readonly receiverName: string;
  readonly city: string;
  readonly zipcode: string | null;
  /** Null: the code says `***`, none. */
  readonly txid: string | null;
}

type BrCodeAccount =
  | { readonly kind: 'static'; readonly key: string; readonly description: string | null }
  | { readonly kind: 'dynamic'; readonly url: string };

/** A decoded BR Code of PIX. */
export type BrCode = BrCodeFields & BrCodeAccount;

/** The fields of one template by tag, and what its tags are prefixed with in an error. */
interface Fields {
  readonly within: string;
  readonly tags: ReadonlyMap<string, string>;
}

/**
 * A value that a BR Code cannot carry, or a text that is not a well-formed BR Code. `field` is the
 * tag (`26-01`), `payload` for the whole text, or the name of an encoder's input.
 */
export class BrCodeError extends Error {
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`BR Code ${field}: ${problem}`);
    this.name = 'BrCodeError';
    this.field = field;
  }
}

/** The central bank's PIX API limits the copy-and-paste text to this (`pixCopiaECola`). */
const MAX_PAYLOAD_LENGTH = 512;
/** A length has two digits, so a value (a whole template too) has at most 99 characters. */
const MAX_VALUE_LENGTH = 99;
const GUI = 'br.gov.bcb.pix';
/** Tag 26 less its GUI field, less the tag and length of the field that follows. */
const MAX_KEY_LENGTH = MAX_VALUE_LENGTH - (4 + GUI.length) - 4;
/** Tag 54 has thirteen characters: ten digits, a point and two decimals. */
const MAX_BR_CODE_CENTS = 999_999_999_999;
const NO_TXID = '***';
const ANY = /^/;
const NO_SPACES = /^[^ ]{1,77}$/;

/**
 * Computes CRC-16/CCITT-FALSE (polynomial 0x1021, initial 0xFFFF) over the UTF-8 bytes of a text.
 *
 * @returns four upper-case hexadecimal digits: `123456789` gives `29B1`.
 */
export function crc16Ccitt(text: string): string {
  let crc = 0xffff;
  for (const byte of Buffer.from(text, 'utf8')) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    }
    crc &= 0xffff;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

/**
 * Writes a static BR Code (EMV merchant-presented mode; BCB, Manual de Padrões para Iniciação do
 * Pix). Name and city lose their accents and what is not ASCII, and are upper-cased and cut to 25
 * and 15 characters; a name of which nothing remains becomes `RECEBEDOR`, a city `SAO PAULO`.
 *
 * @returns the copy-and-paste text, ASCII.
 * @throws BrCodeError when the key or the amount cannot be carried.
 */
export function encodeStaticBrCode(input: StaticBrCodeInput): string {
  const key = templateValue('key', input.key);
  const room = Math.max(0, MAX_KEY_LENGTH - key.length - 4);
  const description = asciiText(input.description ?? '', room);
  return payload({
    oneTime: false,
    account: tlv('01', key) + optionalTlv('02', description),
    // The service's own identifiers have 26 characters, one more than the tag may hold.
    txid: /^[A-Za-z0-9]+$/.test(input.txid ?? '') ? (input.txid ?? '').slice(0, 25) : NO_TXID,
    common: input,
  });
}

/**
 * Writes a dynamic BR Code, by the same rules. The txid stands behind the address, so tag 62-05 is
 * `***`.
 *
 * @returns the copy-and-paste text, ASCII.
 * @throws BrCodeError when the address or the amount cannot be carried.
 */
export function encodeDynamicBrCode(input: DynamicBrCodeInput): string {
  const url = templateValue('url', input.url.replace(/^https:\/\//i, ''));
  return payload({
    oneTime: input.oneTime,
    account: tlv('25', url),
    txid: NO_TXID,
    common: input,
  });
}

/**
 * Reads a BR Code of PIX strictly. A right CRC is not enough: a code in circulation declares a
 * wrong length under a CRC that is right, so every length, the required fields and the form of each
 * value are checked. Unreserved templates (80 to 99) and other arrangements' accounts are ignored.
 *
 * @param text the copy-and-paste text, without anything around it.
 * @throws BrCodeError, and nothing else, at the first fault.
 */
export function decodeBrCode(text: string): BrCode {
  checkEnvelope(text);
  const root = parseTlv(text);
  if ([...root.tags.keys()].at(-1) !== '63') throw new BrCodeError('63', 'is not the last field');
  required(root, '00', /^01$/);
  required(root, '53', /^986$/);
  required(root, '58', /^BR$/);
  const amount = optional(root, '54', /^\d{1,10}\.\d{2}$/);
  const txid = required(parseTlv(required(root, '62', ANY), '62'), '05', ANY);
  if (txid !== NO_TXID && !isTxid(txid, 'static')) throw new BrCodeError('62-05', 'is no txid');
  return {
    ...decodeAccount(root),
    oneTime: optional(root, '01', /^1[12]$/) === '12',
    categoryCode: required(root, '52', /^\d{4}$/),
    amountCents: amount === null ? null : centsFromDecimal(amount),
    receiverName: required(root, '59', /^.{1,25}$/),
    city: required(root, '60', /^.{1,15}$/),
    zipcode: optional(root, '61', /^\d{8}$/),
    txid: txid === NO_TXID ? null : txid,
  };
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
    tlv('26', tlv('00', GUI) + parts.account),
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
  if (value.length > MAX_KEY_LENGTH || !/^[\x21-\x7e]+$/.test(value)) {
    throw new BrCodeError(field, `must be 1 to ${MAX_KEY_LENGTH} visible ASCII characters`);
  }
  return value;
}

function amountText(cents: number): string {
  if (!Number.isSafeInteger(cents) || cents < 1 || cents > MAX_BR_CODE_CENTS) {
    throw new BrCodeError('amountCents', `must be a whole number, 1 to ${MAX_BR_CODE_CENTS}`);
  }
  return decimalFromCents(cents);
}

/** Accents are stripped before cutting, so that a length is both of characters and of bytes. */
function asciiText(text: string, maxLength: number): string {
  const printable = stripAccents(foldTypography(text.replace(/\s/g, ' '))).replace(
    /[^\x20-\x7e]/g,
    '',
  );
  return printable.replace(/ {2,}/g, ' ').trim().slice(0, maxLength).trimEnd();
}

/** Upper-casing comes first: it turns letters such as ß into ASCII. Null: no letter or digit. */
function capitals(text: string, maxLength: number): string | null {
  const cut = asciiText(text.toUpperCase(), maxLength);
  return /[A-Z0-9]/.test(cut) ? cut : null;
}

function checkEnvelope(text: string): void {
  if (text.length > MAX_PAYLOAD_LENGTH) throw new BrCodeError('payload', 'is too long');
  if (!/^[\x20-\x7e]*$/.test(text)) throw new BrCodeError('payload', 'is not printable ASCII');
  if (!text.startsWith('000201')) throw new BrCodeError('00', 'is not the first field');
  if (text.slice(-8, -4) !== '6304') throw new BrCodeError('63', 'does not end the text');
  if (text.slice(-4) !== crc16Ccitt(text.slice(0, -4))) throw new BrCodeError('63', 'wrong CRC');
}

/** Reads fields of two-digit tag, two-digit length and value, which must fill the text exactly. */
function parseTlv(text: string, template = ''): Fields {
  const where = template === '' ? 'payload' : template;
  const tags = new Map<string, string>();
  for (let at = 0; at < text.length;) {
    const header = /^(\d{2})(\d{2})$/.exec(text.slice(at, at + 4));
    if (header === null) throw new BrCodeError(where, `no tag and length at ${at}`);
    const [, tag = '', length = ''] = header;
    const value = text.slice(at + 4, at + 4 + Number(length));
    if (value === '' || value.length !== Number(length)) {
      throw new BrCodeError(where, `tag ${tag} does not have the ${length} characters it declares`);
    }
    if (tags.has(tag)) throw new BrCodeError(where, `tag ${tag} stands twice`);
    tags.set(tag, value);
    at += 4 + value.length;
  }
  return { within: template === '' ? '' : `${template}-`, tags };
}

function optional({ within, tags }: Fields, tag: string, form: RegExp): string | null {
  const value = tags.get(tag);
  if (value === undefined) return null;
  if (!form.test(value)) throw new BrCodeError(within + tag, 'has another form');
  return value;
}

function required(fields: Fields, tag: string, form: RegExp): string {
  const value = optional(fields, tag, form);
  if (value === null) throw new BrCodeError(fields.within + tag, 'is missing');
  return value;
}

/** The account may stand in any of the tags 26 to 51; its GUI is accepted in either case. */
function decodeAccount(root: Fields): BrCodeAccount {
  const accounts = [...root.tags]
    .filter(([tag]) => tag >= '26' && tag <= '51')
    .map(([tag, value]) => parseTlv(value, tag))
    .filter(({ tags }) => tags.get('00')?.toLowerCase() === GUI);
  const account = accounts[0];
  if (account === undefined || accounts.length > 1) {
    throw new BrCodeError('26', 'must be the one account of PIX');
  }
  const key = optional(account, '01', NO_SPACES);
  const url = optional(account, '25', NO_SPACES);
  const description = optional(account, '02', ANY);
  if (key !== null && url === null) return { kind: 'static', key, description };
  if (url !== null && key === null) return { kind: 'dynamic', url };
  throw new BrCodeError('26', 'must carry either a key or an address');
}
