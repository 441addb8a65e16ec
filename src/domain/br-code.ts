/**
 * Reads BR Codes: the text of a Pix QR code ("copia e cola"), in EMV's merchant-presented mode
 * (BCB, Manual de Padrões para Iniciação do Pix).
 */
import { centsFromDecimal } from './money.ts';
import { cleanPasted, foldTypography, normalised } from './text.ts';
import type { Text } from '../errors.ts';

interface BrCodeFields {
  /** Whether the code can be paid only once. */
  readonly oneTime: boolean;
  readonly receiverName: string;
  readonly city: string;
}

interface StaticBrCode extends BrCodeFields {
  readonly kind: 'static';
  readonly key: string;
  readonly description: string | null;
  /** Whether the payee hands out cash (Pix Saque), so that the code is not paid as a transfer. */
  readonly isWithdrawal: boolean;
  /** Centavos; null: the payer enters the amount. */
  readonly amountCents: number | null;
  /** Identifies the charge for the payee; null for `***`, which means no id. */
  readonly txid: string | null;
}

/**
 * A charge that only its URL knows. The name and the city are as written, and empty if the code has
 * none: amount, id and other fields of the code say nothing.
 */
interface DynamicBrCode extends BrCodeFields {
  readonly kind: 'dynamic';
  readonly url: string;
  /** Whether the code also authorises recurring payments (Pix Automático). */
  readonly isRecurring: boolean;
}

/** The content of a BR Code: a Pix key (static), or the URL of the charge (dynamic). */
export type BrCode = StaticBrCode | DynamicBrCode;

/** The longest BR Code: `pixCopiaECola` of the central bank's Pix API, in characters. */
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

const notACode: Text = {
  en: 'This is not a Pix code. It begins with 000201.',
  pt: 'Este não é um código Pix. Ele começa com 000201.',
};

const unprintable: Text = {
  en: 'The code contains a character that a Pix code cannot have, such as a control character.',
  pt: 'O código contém um caractere que um código Pix não pode ter, como um de controle.',
};

const tooLong: Text = {
  en: `The code must have at most ${maxBrCodeLength} characters.`,
  pt: `O código deve ter no máximo ${maxBrCodeLength} caracteres.`,
};

const incompleteCode: Text = {
  en: 'The code is incomplete or was changed: its check digits do not match. Copy it again.',
  pt: 'O código está incompleto ou foi alterado: o verificador não confere. Copie-o de novo.',
};

const notOneAccount: Text = {
  en: 'The code must have exactly one Pix account.',
  pt: 'O código deve ter exatamente uma conta Pix.',
};

const notOnePayee: Text = {
  en: 'The Pix account of the code must have either a key or an address.',
  pt: 'A conta Pix do código deve ter uma chave ou um endereço.',
};

/** For a code that orders no payment by itself. */
export const recurringCode: Text = {
  en: 'The code authorises recurring payments (Pix Automático). It cannot be paid as a transfer.',
  pt: 'O código autoriza pagamentos recorrentes (Pix Automático). Ele não pode ser pago como transferência.',
};

const malformedCode: Text = {
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

const gui = 'br.gov.bcb.pix';
const noTxid = '***';
const any = /^/;
const noSpaces = /^[^ ]{1,77}$/;
/** With none, one or two decimals: generators leave out zeros. EMV allows 13 characters. */
const amountPattern = /^(?=.{1,13}$)\d+(?:\.\d{0,2})?$/;
/** A static code's txid has at most 25 characters; that of a dynamic one is at its URL. */
const txidPattern = /^[a-zA-Z0-9]{1,25}$/;

/**
 * Reads a BR Code. A matching CRC is not enough: a code in circulation declares a wrong length
 * under a matching CRC, so every length is checked, and of a static code the required fields and
 * the format of each value that is used. Of a dynamic code only the URL counts. The postal code,
 * the accounts of other arrangements and their unreserved templates (80 to 99) are ignored.
 *
 * @param text the copy-and-paste text. Space and quotation marks around it, and invisible
 *   characters, line breaks and spaces that were added anywhere in it, are ignored. Letters may
 *   have accents.
 * @throws BrCodeFault, and nothing else, at the first fault.
 */
export function decodeBrCode(text: string): BrCode {
  const code = checkedText(text);
  const root = parseRoot(code);
  if ([...root.tags.keys()].at(-1) !== '63') throw new BrCodeFault('63', invalid('63'));
  const isRecurring = hasRecurrence(root);
  const account = decodeAccount(root, isRecurring);
  return account.kind === 'dynamic'
    ? { ...account, ...unreadFields(root), isRecurring }
    : { ...account, ...staticFields(root) };
}

/** @returns a BR Code without what pasting has added to it: the text that its CRC covers. */
export function cleanBrCode(text: string): string {
  return checkedText(text);
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

/** How a generator counts a character in a length: as bytes, as UTF-16 units, or as one. */
type MeasureSize = (character: string) => number;

const byteSize: MeasureSize = (character) => Buffer.byteLength(character);
const sizes: readonly MeasureSize[] = [byteSize, (character) => character.length, () => 1];

/** The fields of a template by tag, and the prefix of its tags in an error. */
interface Template {
  readonly prefix: string;
  readonly tags: ReadonlyMap<string, string>;
  readonly measureSize: MeasureSize;
}

/** @returns the text that the CRC covers: as it is or, where pasting changed it, cleaned. */
function checkedText(text: string): string {
  // A text that is too long is not worth cleaning.
  if (text.length > 8 * maxBrCodeLength) throw new BrCodeFault('payload', tooLong);
  const pasted = cleanPasted(text);
  const cleaned = foldSpaces(pasted);
  // A name may itself have invisible characters: an emoji that joins two others.
  const code =
    [trimMarks(text), pasted, cleaned].find(hasCrc) ??
    ['', ' '].map((joint) => foldSpaces(cleanPasted(joinLines(text, joint)))).find(hasCrc) ??
    ['$1', ''].map((kept) => cleaned.replace(addedSpace, kept)).find(hasCrc) ??
    [cleaned, foldTypography(cleaned)].map((one) => composed(unquoted(one))).find(hasCrc) ??
    cleaned;
  checkEnvelope(code);
  return code;
}

/** Any space; of that between two letters, which a name has, one character may be kept. */
const addedSpace = /(?<=\p{L})(\s)\s*(?=\p{L})|\s+/gu;

/** Devices write a letter with an accent as one character or as two. */
function composed(text: string): string {
  return text.length > 2 * maxBrCodeLength ? text : normalised(text, 'NFC');
}

/** A code without the quotation marks or the full stop around it. */
function unquoted(text: string): string {
  return text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
}

/** Removes space and invisible characters at both ends only. */
function trimMarks(text: string): string {
  return text.replace(/[\s\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu, (marks, at: number) =>
    at === 0 || at + marks.length === text.length ? '' : marks,
  );
}

/** Joins lines that mail has broken and indented, or has broken at a space. */
function joinLines(text: string, joint: string): string {
  return text.replace(/\s+/g, (space) => (/[\n\v\f\r\u2028\u2029]/.test(space) ? joint : space));
}

function foldSpaces(text: string): string {
  return text.replace(/\p{Zs}/gu, ' ');
}

function hasCrc(code: string): boolean {
  const isShort = code.length <= 2 * maxBrCodeLength;
  return isShort && code.slice(-8, -4) === '6304' && code.endsWith(crc16Ccitt(code.slice(0, -4)));
}

function checkEnvelope(code: string): void {
  const isTooLong = code.length > 2 * maxBrCodeLength || [...code].length > maxBrCodeLength;
  if (isTooLong) throw new BrCodeFault('payload', tooLong);
  if (/[\p{Cc}\p{Cs}]/u.test(code)) throw new BrCodeFault('payload', unprintable);
  if (!code.startsWith('000201')) throw new BrCodeFault('00', notACode);
  if (!hasCrc(code)) throw new BrCodeFault('63', incompleteCode);
}

/** Generators count the letters with accents in different ways; within a code, all alike. */
function parseRoot(code: string): Template {
  for (const measureSize of sizes) {
    const root = tryTlv(code, { measureSize });
    if (root !== null) return root;
  }
  throw new BrCodeFault('payload', malformedCode);
}

/** Reads fields of two-digit tag, two-digit length and value, which must fill the text exactly. */
function tryTlv(
  text: string,
  { measureSize, template }: { readonly measureSize: MeasureSize; readonly template?: string },
): Template | null {
  const characters = [...text];
  const tags = new Map<string, string>();
  for (let at = 0; at < characters.length;) {
    const header = /^(\d{2})(\d{2})$/.exec(characters.slice(at, at + 4).join(''));
    const [, tag = '', length = ''] = header ?? [];
    const start = at + 4;
    at = findEnd(characters, { start, size: Number(length), measureSize });
    if (header === null || at === -1 || tags.has(tag)) return null;
    tags.set(tag, characters.slice(start, at).join(''));
  }
  return { prefix: template === undefined ? '' : `${template}-`, tags, measureSize };
}

/** @returns where a value of that size ends; -1 if no character ends there. */
function findEnd(
  characters: readonly string[],
  value: { readonly start: number; readonly size: number; readonly measureSize: MeasureSize },
): number {
  let at = value.start;
  let left = value.size;
  for (; left > 0 && at < characters.length; at += 1)
    left -= value.measureSize(characters[at] ?? '');
  return left === 0 ? at : -1;
}

function parseTlv(text: string, { measureSize }: Template, template: string): Template {
  const parsed = tryTlv(text, { measureSize, template });
  if (parsed === null) throw new BrCodeFault(template, malformedCode);
  return parsed;
}

/** An empty field is like a missing one. */
function optional({ prefix, tags }: Template, tag: string, pattern: RegExp): string | null {
  const value = tags.get(tag);
  if (value === undefined || value === '') return null;
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

/** The GUI is accepted in upper and lower case. */
function isPix(template: Template | null): boolean {
  return template?.tags.get('00')?.toLowerCase() === gui;
}

/** The tags 80 to 99 are unreserved templates: an unknown use of one is ignored. */
function hasRecurrence({ tags, measureSize }: Template): boolean {
  return [...tags]
    .filter(([tag]) => tag >= '80')
    .map(([, value]) => tryTlv(value, { measureSize }))
    .some((template) => isPix(template) && template?.tags.has('25'));
}

/** The accounts are in the tags 26 to 51. Those of other arrangements are not read. */
function pixAccounts(root: Template): Template[] {
  return [...root.tags]
    .filter(([tag]) => tag >= '26' && tag <= '51')
    .filter(([, value]) => value.toLowerCase().includes(`0014${gui}`))
    .map(([tag, value]) => parseTlv(value, root, tag))
    .filter(isPix);
}

type StaticAccount = Pick<StaticBrCode, 'kind' | 'key' | 'description' | 'isWithdrawal'>;
type DynamicAccount = Pick<DynamicBrCode, 'kind' | 'url'>;

function decodeAccount(root: Template, isRecurring: boolean): StaticAccount | DynamicAccount {
  const [account, ...others] = pixAccounts(root);
  const url = account && optional(account, '25', noSpaces);
  if (isRecurring && !url) throw new BrCodeFault('80', recurringCode);
  if (account === undefined || others.length > 0) throw new BrCodeFault('26', notOneAccount);
  const key = optional(account, '01', noSpaces);
  if (key !== null && !url) {
    const description = optional(account, '02', any);
    const isWithdrawal = optional(account, '03', any) !== null;
    return { kind: 'static', key, description, isWithdrawal };
  }
  if (url && key === null) return { kind: 'dynamic', url };
  throw new BrCodeFault('26', notOnePayee);
}

function unreadFields({ tags }: Template): BrCodeFields {
  const [receiverName = '', city = ''] = [tags.get('59'), tags.get('60')];
  return { oneTime: tags.get('01') === '12', receiverName, city };
}

function staticFields(root: Template): Omit<StaticBrCode, keyof StaticAccount> {
  required(root, '00', /^01$/);
  required(root, '53', /^986$/);
  required(root, '58', /^BR$/);
  required(root, '52', /^\d{4}$/);
  const amount = optional(root, '54', amountPattern)?.replace(/\.$/, '');
  const txid = required(parseTlv(required(root, '62', any), root, '62'), '05', any);
  if (txid !== noTxid && !txidPattern.test(txid)) throw new BrCodeFault('62-05', invalid('62-05'));
  return {
    oneTime: optional(root, '01', /^1[12]$/) === '12',
    // An amount of zero is left to the payer, like a missing one.
    amountCents: (amount === undefined ? null : centsFromDecimal(amount)) || null,
    receiverName: required(root, '59', /^.{1,25}$/u),
    city: required(root, '60', /^.{1,15}$/u),
    txid: txid === noTxid ? null : txid,
  };
}
