/**
 * Reads BR Codes: the text of a Pix QR code ("copia e cola"), in EMV's merchant-presented mode
 * (BCB, Manual de Padrões para Iniciação do Pix).
 */
import { centsFromDecimal } from './money.ts';
import type { Text } from '../errors.ts';

interface BrCodeFields {
  /** Whether the code can be paid only once. */
  readonly oneTime: boolean;
  readonly categoryCode: string;
  /** Centavos; null: the payer enters the amount. */
  readonly amountCents: number | null;
  readonly receiverName: string;
  readonly city: string;
  readonly zipcode: string | null;
  /** Identifies the charge for the payee; null for `***`, which means no id. */
  readonly txid: string | null;
}

type BrCodeAccount =
  | { readonly kind: 'static'; readonly key: string; readonly description: string | null }
  | { readonly kind: 'dynamic'; readonly url: string };

/** The content of a BR Code: a PIX key (static), or the URL of the charge (dynamic). */
export type BrCode = BrCodeFields & BrCodeAccount;

/** The longest BR Code: `pixCopiaECola` of the central bank's PIX API, in characters. */
const maxBrCodeLength = 512;

/** A text that is not a well-formed BR Code. */
export class BrCodeFault extends Error {
  /** The tag at fault, such as `26-01`; `payload` for the whole text. */
  readonly field: string;
  /** The reason, for people. */
  readonly text: Text;

  constructor(field: string, text: Text) {
    super(`BR Code ${field}: ${text.en}`);
    this.name = 'BrCodeFault';
    this.field = field;
    this.text = text;
  }
}

const NOT_A_CODE: Text = {
  en: 'This is not a Pix code. It begins with 000201.',
  pt: 'Este não é um código Pix. Ele começa com 000201.',
};

const NOT_ASCII: Text = {
  en: 'The code contains a character that a Pix code cannot have, such as an accented letter.',
  pt: 'O código contém um caractere que um código Pix não pode ter, como uma letra com acento.',
};

const TOO_LONG: Text = {
  en: `The code must have at most ${maxBrCodeLength} characters.`,
  pt: `O código deve ter no máximo ${maxBrCodeLength} caracteres.`,
};

const INCOMPLETE: Text = {
  en: 'The code is incomplete or was changed: its check digits do not match. Copy it again.',
  pt: 'O código está incompleto ou foi alterado: o verificador não confere. Copie-o de novo.',
};

const NOT_PIX: Text = {
  en: 'The code must have exactly one Pix account, with a key or an address.',
  pt: 'O código deve ter exatamente uma conta Pix, com uma chave ou um endereço.',
};

const MALFORMED: Text = {
  en: 'The code is malformed: a length in it does not match, or a field is repeated.',
  pt: 'O código está malformado: um tamanho não confere, ou há um campo repetido.',
};

const missing = (field: string): Text => ({
  en: `The code lacks the field ${field}.`,
  pt: `Falta o campo ${field} no código.`,
});

const invalid = (field: string): Text => ({
  en: `The field ${field} of the code is not valid.`,
  pt: `O campo ${field} do código não é válido.`,
});

const GUI = 'br.gov.bcb.pix';
const NO_TXID = '***';
const ANY = /^/;
const NO_SPACES = /^[^ ]{1,77}$/;
/** A static code's txid has at most 25 characters; that of a dynamic one is at its URL. */
const TXID = /^[a-zA-Z0-9]{1,25}$/;

/**
 * Reads a BR Code strictly. A matching CRC is not enough: a code in circulation declares a wrong
 * length under a matching CRC, so every length, the required fields and the format of each value
 * are checked. Unreserved templates (80 to 99) and the accounts of other arrangements are ignored.
 *
 * @param text the copy-and-paste text; space around it is ignored.
 * @throws BrCodeFault, and nothing else, at the first fault.
 */
export function decodeBrCode(text: string): BrCode {
  const code = text.length > 2 * maxBrCodeLength ? text : text.trim();
  checkEnvelope(code);
  const root = parseTlv(code);
  if ([...root.tags.keys()].at(-1) !== '63') throw new BrCodeFault('63', invalid('63'));
  required(root, '00', /^01$/);
  required(root, '53', /^986$/);
  required(root, '58', /^BR$/);
  const amount = optional(root, '54', /^\d{1,10}\.\d{2}$/);
  const txid = required(parseTlv(required(root, '62', ANY), '62'), '05', ANY);
  if (txid !== NO_TXID && !TXID.test(txid)) throw new BrCodeFault('62-05', invalid('62-05'));
  return {
    ...decodeAccount(root),
    oneTime: optional(root, '01', /^1[12]$/) === '12',
    categoryCode: required(root, '52', /^\d{4}$/),
    // An amount of zero is left to the payer, like a missing one.
    amountCents: (amount === null ? null : centsFromDecimal(amount)) || null,
    receiverName: required(root, '59', /^.{1,25}$/),
    city: required(root, '60', /^.{1,15}$/),
    zipcode: optional(root, '61', /^\d{8}$/),
    txid: txid === NO_TXID ? null : txid,
  };
}

/** @returns why a text is not a BR Code, or null when it is one. */
export function brCodeError(text: string): Text | null {
  try {
    decodeBrCode(text);
    return null;
  } catch (error) {
    if (error instanceof BrCodeFault) return error.text;
    throw error;
  }
}

/**
 * Computes CRC-16/CCITT-FALSE (polynomial 0x1021, initial 0xFFFF) over the UTF-8 bytes of a text.
 *
 * @returns four upper-case hexadecimal digits: `29B1` for `123456789`.
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

/** The fields of a template by tag, and the prefix of its tags in an error. */
interface Template {
  readonly prefix: string;
  readonly tags: ReadonlyMap<string, string>;
}

function checkEnvelope(code: string): void {
  if (code.length > maxBrCodeLength) throw new BrCodeFault('payload', TOO_LONG);
  if (!/^[\x20-\x7e]*$/.test(code)) throw new BrCodeFault('payload', NOT_ASCII);
  if (!code.startsWith('000201')) throw new BrCodeFault('00', NOT_A_CODE);
  const isComplete =
    code.slice(-8, -4) === '6304' && code.slice(-4) === crc16Ccitt(code.slice(0, -4));
  if (!isComplete) throw new BrCodeFault('63', INCOMPLETE);
}

/** Reads fields of two-digit tag, two-digit length and value, which must fill the text exactly. */
function parseTlv(text: string, template?: string): Template {
  const field = template ?? 'payload';
  const tags = new Map<string, string>();
  for (let at = 0; at < text.length;) {
    const header = /^(\d{2})(\d{2})$/.exec(text.slice(at, at + 4));
    if (header === null) throw new BrCodeFault(field, MALFORMED);
    const [, tag = '', length = ''] = header;
    const value = text.slice(at + 4, at + 4 + Number(length));
    const isWhole = value !== '' && value.length === Number(length);
    if (!isWhole || tags.has(tag)) throw new BrCodeFault(field, MALFORMED);
    tags.set(tag, value);
    at += 4 + value.length;
  }
  return { prefix: template === undefined ? '' : `${template}-`, tags };
}

function optional({ prefix, tags }: Template, tag: string, pattern: RegExp): string | null {
  const value = tags.get(tag);
  if (value === undefined) return null;
  const field = prefix + tag;
  if (!pattern.test(value)) throw new BrCodeFault(field, invalid(field));
  return value;
}

function required(template: Template, tag: string, pattern: RegExp): string {
  const value = optional(template, tag, pattern);
  const field = template.prefix + tag;
  if (value === null) throw new BrCodeFault(field, missing(field));
  return value;
}

/** The account is in one of the tags 26 to 51; its GUI is accepted in upper and lower case. */
function decodeAccount(root: Template): BrCodeAccount {
  const accounts = [...root.tags]
    .filter(([tag]) => tag >= '26' && tag <= '51')
    .map(([tag, value]) => parseTlv(value, tag))
    .filter(({ tags }) => tags.get('00')?.toLowerCase() === GUI);
  const account = accounts[0];
  if (account === undefined || accounts.length > 1) throw new BrCodeFault('26', NOT_PIX);
  const key = optional(account, '01', NO_SPACES);
  const url = optional(account, '25', NO_SPACES);
  const description = optional(account, '02', ANY);
  if (key !== null && url === null) return { kind: 'static', key, description };
  if (url !== null && key === null) return { kind: 'dynamic', url };
  throw new BrCodeFault('26', NOT_PIX);
}
