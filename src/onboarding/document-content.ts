/**
 * Stores the content of uploaded documents in chunks, so that a document is never completely in
 * memory. Each chunk is sealed for its application, document and position and cannot be opened
 * elsewhere.
 */
import { createHash } from 'node:crypto';
import type { Context, LocalContext } from '../context/context.ts';
import {
  detectContentType,
  type DocumentContentType,
  emptyFile,
  notADocument,
  refusedByScanner,
} from './document-types.ts';
import { invalidField } from '../errors.ts';
import { SealError } from '../security/sealing.ts';
import { findChunk, insertChunk } from './document-repository.ts';

/** Each concurrent upload holds one chunk in memory; each chunk costs one round trip. */
const chunkBytes = 128 * 1024;

export interface DocumentKey {
  readonly id: string;
  readonly applicationId: string;
}

/** Facts about stored content. */
export interface DocumentContent {
  readonly contentType: DocumentContentType;
  readonly sizeBytes: number;
  readonly chunkCount: number;
  /** SHA-256. */
  readonly contentHash: Buffer;
}

/** Hears how far the storing of a document is. */
interface Progress {
  /** Is called before the first chunk is stored, once the type is known to be accepted. */
  begin(): Promise<void>;
  /** Is called with the bytes of each chunk, before it is stored. */
  add(bytes: number): void;
}

/** The stored content of a document is damaged: a chunk is missing or differs. */
export class DamagedDocument extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DamagedDocument';
  }
}

/**
 * Stores content while it arrives, with one committed statement for each chunk, and has it scanned.
 *
 * @throws AppError VALIDATION_FAILED for content that is not an accepted document; BUSY when the
 *   scanner is away.
 */
export async function storeContent(
  context: Context,
  content: AsyncIterable<Buffer>,
  { key, progress }: { readonly key: DocumentKey; readonly progress: Progress },
): Promise<DocumentContent> {
  const hash = createHash('sha256');
  const scan = context.openScan();
  let contentType: DocumentContentType | null = null;
  let sizeBytes = 0;
  let chunkCount = 0;
  try {
    for await (const chunk of inChunks(content)) {
      contentType ??= await detectContentType(chunk);
      if (contentType === null) throw invalidField('arquivo', notADocument);
      if (chunkCount === 0) await progress.begin();
      progress.add(chunk.length);
      await scan.take(chunk);
      hash.update(chunk);
      const sealed = context.sealer.seal(chunk, sealingOwner(key, chunkCount));
      const chunkKey = { documentId: key.id, place: chunkCount };
      await context.uploads.write(() => insertChunk(context, chunkKey, sealed));
      sizeBytes += chunk.length;
      chunkCount += 1;
    }
    if (contentType === null) throw invalidField('arquivo', emptyFile);
    if (!(await scan.isClean())) {
      context.log.warn({ sizeBytes }, 'the scanner has refused a document');
      throw invalidField('arquivo', refusedByScanner);
    }
  } finally {
    scan.close();
  }
  return { contentType, sizeBytes, chunkCount, contentHash: hash.digest() };
}

/**
 * Reads content chunk by chunk. The last chunk is yielded only if size and hash are correct.
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
      throw new DamagedDocument('the chunks of a document differ from what was stored');
    yield chunk;
  }
}

async function openChunk(context: LocalContext, key: DocumentKey, place: number): Promise<Buffer> {
  const sealed = await findChunk(context, { documentId: key.id, place });
  if (!sealed) throw new DamagedDocument('a chunk of a document is missing');
  try {
    return context.sealer.open(sealed, sealingOwner(key, place));
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new DamagedDocument('a chunk of a document does not open', { cause });
  }
}

function sealingOwner({ id, applicationId }: DocumentKey, place: number): string {
  return `document:${applicationId}:${id}:${place}`;
}

/** Splits the bytes into chunks of one size; only the last one may be smaller, none is empty. */
async function* inChunks(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of content) {
    pieces.push(piece);
    size += piece.length;
    while (size >= chunkBytes) {
      const whole = Buffer.concat(pieces, size);
      yield whole.subarray(0, chunkBytes);
      pieces = [whole.subarray(chunkBytes)];
      size -= chunkBytes;
    }
  }
  if (size > 0) yield Buffer.concat(pieces, size);
}
