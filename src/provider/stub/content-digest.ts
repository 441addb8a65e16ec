/** Reading a document for what the bank keeps of it: its length and its hash. */
import { createHash } from 'node:crypto';

export interface ContentDigest {
  readonly sizeBytes: number;
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
}

/** Reads a content to its end, without keeping any of it. */
export async function digestOf(content: AsyncIterable<Uint8Array>): Promise<ContentDigest> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}
