/**
 * The content of an uploaded document in the database: in chunks, so that it is never in memory as
 * a whole, each sealed for its application, its document and its place, so that none opens
 * anywhere else.
 */
import { createHash } from 'node:crypto';
import type { Context, LocalContext } from '../context.ts';
import {
  BROKEN_FILE,
  contentTypeOf,
  EMPTY_FILE,
  NOT_A_DOCUMENT,
  type DocumentContentType,
} from '../domain/document-types.ts';
import { JpegStructure, PngStructure, type FileStructure } from '../domain/image-structure.ts';
import { invalidField } from '../errors.ts';
import { SealError } from '../security/sealing.ts';
import { findChunk, insertChunk } from './document-repository.ts';
import { PdfStructure } from './pdf-structure.ts';

/** Many uploads at once hold one chunk each; each chunk is one round trip. */
const CHUNK_BYTES = 128 * 1024;

export interface DocumentKey {
  readonly id: string;
  readonly applicationId: string;
}

/** What is known of a content once it is stored. */
export interface DocumentContent {
  readonly contentType: DocumentContentType;
  readonly sizeBytes: number;
  readonly chunkCount: number;
  /** SHA-256. */
  readonly contentHash: Buffer;
}

/** What is stored of a document is not what was stored: a chunk is missing, or another one. */
export class DamagedDocument extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DamagedDocument';
  }
}

const structures: Readonly<Record<DocumentContentType, () => FileStructure>> = {
  'application/pdf': () => new PdfStructure(),
  'image/jpeg': () => new JpegStructure(),
  'image/png': () => new PngStructure(),
};

/**
 * Stores a content while it comes, a committed statement for each chunk.
 *
 * @param begin is called before anything is stored, once the content is known to be a document.
 * @throws AppError VALIDATION_FAILED for what is no document; nothing of it is stored.
 */
export async function storeContent(
  context: Context,
  content: AsyncIterable<Buffer>,
  { key, begin }: { readonly key: DocumentKey; begin(): Promise<void> },
): Promise<DocumentContent> {
  const hash = createHash('sha256');
  let contentType: DocumentContentType | null = null;
  let structure: FileStructure | null = null;
  let sizeBytes = 0;
  let chunkCount = 0;
  for await (const chunk of inChunks(content)) {
    if (structure === null) {
      contentType = contentTypeOf(chunk);
      if (contentType === null) throw invalidField('arquivo', NOT_A_DOCUMENT);
      structure = structures[contentType]();
    }
    if (!(await structure.take(chunk))) throw invalidField('arquivo', BROKEN_FILE);
    if (chunkCount === 0) await begin();
    hash.update(chunk);
    const sealed = context.sealer.seal(chunk, ownerOf(key, chunkCount));
    const chunkKey = { documentId: key.id, place: chunkCount };
    await context.uploads.write(() => insertChunk(context, chunkKey, sealed));
    sizeBytes += chunk.length;
    chunkCount += 1;
  }
  if (contentType === null || structure === null) throw invalidField('arquivo', EMPTY_FILE);
  if (!structure.isWhole()) throw invalidField('arquivo', BROKEN_FILE);
  return { contentType, sizeBytes, chunkCount, contentHash: hash.digest() };
}

/**
 * Reads a content back, chunk by chunk. The last one comes only when the whole is what was stored.
 * @throws DamagedDocument
 */
export async function* readContent(
  context: LocalContext,
  key: DocumentKey,
  expected: Omit<DocumentContent, 'contentType'>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for (let place = 0; place < expected.chunkCount; place += 1) {
    const chunk = await openChunk(context, key, place);
    hash.update(chunk);
    sizeBytes += chunk.length;
    const isLast = place === expected.chunkCount - 1;
    if (isLast && !(sizeBytes === expected.sizeBytes && hash.digest().equals(expected.contentHash)))
      throw new DamagedDocument('the chunks of a document are not what was stored');
    yield chunk;
  }
}

async function openChunk(context: LocalContext, key: DocumentKey, place: number): Promise<Buffer> {
  const sealed = await findChunk(context, { documentId: key.id, place });
  if (!sealed) throw new DamagedDocument('a chunk of a document is missing');
  try {
    return context.sealer.open(sealed, ownerOf(key, place));
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new DamagedDocument('a chunk of a document does not open', { cause });
  }
}

function ownerOf({ id, applicationId }: DocumentKey, place: number): string {
  return `document:${applicationId}:${id}:${place}`;
}

/** The same bytes in pieces of one size; only the last one is smaller, and none is empty. */
async function* inChunks(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of content) {
    pieces.push(piece);
    size += piece.length;
    while (size >= CHUNK_BYTES) {
      const whole = Buffer.concat(pieces, size);
      yield whole.subarray(0, CHUNK_BYTES);
      pieces = [whole.subarray(CHUNK_BYTES)];
      size -= CHUNK_BYTES;
    }
  }
  if (size > 0) yield Buffer.concat(pieces, size);
}
