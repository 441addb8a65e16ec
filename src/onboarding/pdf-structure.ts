/**
 * Checks that a PDF is well-formed and contains only pages. A PDF can contain scripts, start
 * programs and embed files, but opening a customer's document must not run code. Names are decoded
 * (ISO 32000-2, section 7.3.5), also in compressed object streams, with bounded work.
 */
import { constants, inflate } from 'node:zlib';
import { promisify } from 'node:util';
import { ACTIVE_PDF, type FileStructure } from './document-types.ts';
import { invalidField } from '../errors.ts';

const inflated = promisify(inflate);

const blank = String.raw`[\0\t\n\f\r ]`;
const nameEnd = String.raw`(?=[\0\t\n\f\r ()<>[\]{}/%])`;

/** Matches any of the names, whose characters may be escaped: `/J#61vaScript` is `/JavaScript`. */
function pattern(...names: readonly string[]): RegExp {
  const written = names.map((name) => name.replaceAll(/./g, plainOrEscaped));
  return new RegExp(`/(?:${written.join('|')})${nameEnd}`);
}

function plainOrEscaped(character: string): string {
  const [high = '', low = ''] = character.charCodeAt(0).toString(16);
  return `(?:${character}|#${high}[${low}${low.toUpperCase()}])`;
}

/** Names of active content, too long to occur in compressed data by chance. */
const active = pattern('JavaScript', 'Launch', 'EmbeddedFile', 'EmbeddedFiles', 'RichMedia');

/** Names of active content that occur in compressed data by chance: checked outside of it only. */
const shortActive = pattern('JS', 'XFA');

/** An action on opening. An array is only a page to open at. */
const openAction = new RegExp(`${pattern('OpenAction').source}(?=[^]{17})(?!${blank}{0,16}\\[)`);

/** Appended to a complete text, so that its last name matches. */
const textEnd = ' '.repeat(18);

/** Names in the dictionary of an object stream. */
const listNames = ['ObjStm', 'Filter', 'F', 'DecodeParms', 'DP'] as const;
type ListName = (typeof listNames)[number];

const listPatterns = Object.fromEntries(listNames.map((name) => [name, pattern(name)])) as Readonly<
  Record<ListName, RegExp>
>;

const streamStart = />>[\0\t\n\f\r ]{0,16}stream[\t ]{0,16}(?:\r?\n|\r(?=[^\n]))/;
const streamEnd = 'endstream';

/** Longer than a fully escaped name, and than the start of a stream. */
const overlap = 2_048;

/** A large PDF has some hundreds of object streams, each far smaller than this. */
const limits = { lists: 1_000, packedBytes: 1_048_576, unpackedBytes: 1_048_576 } as const;

/** The trailer with the position of the cross-reference table, in the last kilobyte. */
const ending = /startxref[\0\t\n\f\r ]{1,16}\d{1,10}[\0\t\n\f\r ]{1,16}%%EOF/;

/** The structure of one PDF; pieces arrive in order. */
export class PdfStructure implements FileStructure {
  /** Text that may be the start of an incomplete token. */
  #pending = '';
  #tail = '';
  #isInStream = false;
  /** Names since the last stream, including those of the next stream's dictionary. */
  readonly #names = new Set<ListName>();
  /** A compressed object stream, while it arrives. */
  #packed: string[] | null = null;
  #packedBytes = 0;
  #lists = 0;

  /** @throws AppError VALIDATION_FAILED for an active PDF. */
  async take(piece: Buffer): Promise<boolean> {
    const text = piece.toString('latin1');
    refuseActive(this.#tail + text);
    this.#tail = (this.#tail + text).slice(-overlap);
    this.#pending += text;
    for (;;) {
      const next = this.#isInStream ? await this.#readStream() : this.#readObjects();
      if (next !== 'go on') return next === 'more';
    }
  }

  isWhole(): boolean {
    // The last piece may end with a name.
    refuseActive(this.#tail + textEnd);
    return !this.#isInStream && ending.test(this.#tail);
  }

  /** Reads up to the start of the next stream. An `endstream` without a start is invalid. */
  #readObjects(): Next {
    const start = streamStart.exec(this.#pending);
    const end = start ? start.index + start[0].length : this.#pending.length;
    const objects = this.#pending.slice(0, end);
    if (objects.includes(streamEnd)) return 'wrong';
    refuseShort(objects);
    for (const name of listNames) if (listPatterns[name].test(objects)) this.#names.add(name);
    this.#pending = start ? this.#pending.slice(end) : objects.slice(-overlap);
    if (!start) return 'more';
    this.#isInStream = true;
    this.#packed = this.#names.has('ObjStm') ? [] : null;
    this.#packedBytes = 0;
    return 'go on';
  }

  /** Reads up to the end of the stream. An object stream hidden in another stream is refused. */
  async #readStream(): Promise<Next> {
    const end = this.#pending.indexOf(streamEnd);
    const text = end === -1 ? this.#pending : this.#pending.slice(0, end);
    if (listPatterns.ObjStm.test(text)) return 'wrong';
    const consumed = end === -1 ? text.slice(0, -longestListName) : text;
    this.#packed?.push(consumed);
    this.#packedBytes += consumed.length;
    if (this.#packed && this.#packedBytes > limits.packedBytes) return 'wrong';
    this.#pending = this.#pending.slice(end === -1 ? consumed.length : end + streamEnd.length);
    if (end === -1) return 'more';
    const isRead = this.#packed === null || (await this.#readList(this.#packed.join('')));
    this.#isInStream = false;
    this.#names.clear();
    return isRead ? 'go on' : 'wrong';
  }

  /** Checks an object stream. One that cannot be decompressed is refused. */
  async #readList(packed: string): Promise<boolean> {
    this.#lists += 1;
    const isPlain = !this.#names.has('Filter') && !this.#names.has('F');
    const isPredicted = this.#names.has('DecodeParms') || this.#names.has('DP');
    if (this.#lists > limits.lists || isPredicted) return false;
    const objects = isPlain ? packed : await unpacked(packed);
    if (objects === null) return false;
    refuseActive(objects + textEnd);
    refuseShort(objects + textEnd);
    return true;
  }
}

type Next = 'go on' | 'more' | 'wrong';

/** The length of `/ObjStm` with every character escaped; longer than `endstream`. */
const longestListName = 32;

async function unpacked(packed: string): Promise<string | null> {
  const options = { maxOutputLength: limits.unpackedBytes, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    return (await inflated(Buffer.from(packed, 'latin1'), options)).toString('latin1');
  } catch {
    return null;
  }
}

/** @throws AppError VALIDATION_FAILED */
function refuseActive(text: string): void {
  if (active.test(text) || openAction.test(text)) throw invalidField('arquivo', ACTIVE_PDF);
}

/** @throws AppError VALIDATION_FAILED */
function refuseShort(objects: string): void {
  if (shortActive.test(objects)) throw invalidField('arquivo', ACTIVE_PDF);
}
