/**
 * Reads a BR Code of PIX as a strict payer's bank would, to hold what the service writes against.
 * The service itself reads none.
 */
import { crc16Ccitt } from '../../src/provider/stub/br-code.ts';
import { centsFromDecimal } from '../../src/domain/money.ts';

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
 * A text that is not a well-formed BR Code. `field` is the tag (`26-01`), or `payload` for the
 * whole text.
 */
export class BrCodeFault extends Error {
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`BR Code ${field}: ${problem}`);
    this.name = 'BrCodeFault';
    this.field = field;
  }
}

/** The central bank's PIX API limits the copy-and-paste text to this (`pixCopiaECola`). */
const MAX_PAYLOAD_LENGTH = 512;
const GUI = 'br.gov.bcb.pix';
const NO_TXID = '***';
const ANY = /^/;
const NO_SPACES = /^[^ ]{1,77}$/;

/** The central bank's PIX API: a charge behind a URL has 26 to 35 characters, a static code 25. */
const TXID = { dynamic: /^[a-zA-Z0-9]{26,35}$/, static: /^[a-zA-Z0-9]{1,25}$/ } as const;

/**
 * Tells whether a text is a txid of a dynamic charge (26 to 35 alphanumerics) or of a static BR
 * Code (1 to 25).
 */
export function isTxid(text: string, type: 'dynamic' | 'static'): boolean {
  return TXID[type].test(text);
}

/**
 * Reads a BR Code of PIX strictly. A right CRC is not enough: a code in circulation declares a
 * wrong length under a CRC that is right, so every length, the required fields and the form of each
 * value are checked. Unreserved templates (80 to 99) and other arrangements' accounts are ignored.
 *
 * @param text the copy-and-paste text, without anything around it.
 * @throws BrCodeFault, and nothing else, at the first fault.
 */
export function decodeBrCode(text: string): BrCode {
  checkEnvelope(text);
  const root = parseTlv(text);
  if ([...root.tags.keys()].at(-1) !== '63') throw new BrCodeFault('63', 'is not the last field');
  required(root, '00', /^01$/);
  required(root, '53', /^986$/);
  required(root, '58', /^BR$/);
  const amount = optional(root, '54', /^\d{1,10}\.\d{2}$/);
  const txid = required(parseTlv(required(root, '62', ANY), '62'), '05', ANY);
  if (txid !== NO_TXID && !isTxid(txid, 'static')) throw new BrCodeFault('62-05', 'is no txid');
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

function checkEnvelope(text: string): void {
  if (text.length > MAX_PAYLOAD_LENGTH) throw new BrCodeFault('payload', 'is too long');
  if (!/^[\x20-\x7e]*$/.test(text)) throw new BrCodeFault('payload', 'is not printable ASCII');
  if (!text.startsWith('000201')) throw new BrCodeFault('00', 'is not the first field');
  if (text.slice(-8, -4) !== '6304') throw new BrCodeFault('63', 'does not end the text');
  if (text.slice(-4) !== crc16Ccitt(text.slice(0, -4))) throw new BrCodeFault('63', 'wrong CRC');
}

/** Reads fields of two-digit tag, two-digit length and value, which must fill the text exactly. */
function parseTlv(text: string, template = ''): Fields {
  const where = template === '' ? 'payload' : template;
  const tags = new Map<string, string>();
  for (let at = 0; at < text.length;) {
    const header = /^(\d{2})(\d{2})$/.exec(text.slice(at, at + 4));
    if (header === null) throw new BrCodeFault(where, `no tag and length at ${at}`);
    const [, tag = '', length = ''] = header;
    const value = text.slice(at + 4, at + 4 + Number(length));
    if (value === '' || value.length !== Number(length)) {
      throw new BrCodeFault(where, `tag ${tag} does not have the ${length} characters it declares`);
    }
    if (tags.has(tag)) throw new BrCodeFault(where, `tag ${tag} stands twice`);
    tags.set(tag, value);
    at += 4 + value.length;
  }
  return { within: template === '' ? '' : `${template}-`, tags };
}

function optional({ within, tags }: Fields, tag: string, form: RegExp): string | null {
  const value = tags.get(tag);
  if (value === undefined) return null;
  if (!form.test(value)) throw new BrCodeFault(within + tag, 'has another form');
  return value;
}

function required(fields: Fields, tag: string, form: RegExp): string {
  const value = optional(fields, tag, form);
  if (value === null) throw new BrCodeFault(fields.within + tag, 'is missing');
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
    throw new BrCodeFault('26', 'must be the one account of PIX');
  }
  const key = optional(account, '01', NO_SPACES);
  const url = optional(account, '25', NO_SPACES);
  const description = optional(account, '02', ANY);
  if (key !== null && url === null) return { kind: 'static', key, description };
  if (url !== null && key === null) return { kind: 'dynamic', url };
  throw new BrCodeFault('26', 'must carry either a key or an address');
}
