/** A document on its way out, counted while it leaves. */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, resolve } from 'node:path';

export interface Upload {
  readonly applicationId: string;
  /** `tipo_documento` of the contract. */
  readonly kind: number;
  /** A path as a person types it; `~` is their home. */
  readonly file: string;
  /** Told how much has left, from 0 to 1. */
  onProgress(share: number): void;
}

/** The file that was named cannot be read, in a sentence for the field that names it. */
export class UnreadableFile extends Error {
  constructor(path: string, cause: unknown) {
    super(`There is no file that can be read at ${path}.`, { cause });
    this.name = 'UnreadableFile';
  }
}

/**
 * Makes the form of an upload, read from the file as it goes.
 * @throws UnreadableFile
 */
export async function uploadOf({ kind, file, onProgress }: Upload): Promise<{
  readonly body: ReadableStream<Uint8Array> | null;
  readonly headers: Readonly<Record<string, string>>;
}> {
  const path = resolve(file.trim().replace(/^~(?=$|\/)/, homedir()));
  const content = await opened(path);
  const form = new FormData();
  form.append('tipo_documento', String(kind));
  form.append('arquivo', content, basename(path));
  const message = new Response(form);
  return {
    body: message.body?.pipeThrough(counting(content.size, onProgress)) ?? null,
    headers: { 'Content-Type': message.headers.get('content-type') ?? '' },
  };
}

async function opened(path: string): Promise<Blob> {
  try {
    if (!(await stat(path)).isFile()) throw new Error('it is no file');
    return await openAsBlob(path);
  } catch (error) {
    throw new UnreadableFile(path, error);
  }
}

function counting(
  totalBytes: number,
  onProgress: Upload['onProgress'],
): TransformStream<Uint8Array, Uint8Array> {
  let sentBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      sentBytes += chunk.length;
      onProgress(Math.min(1, sentBytes / Math.max(1, totalBytes)));
      controller.enqueue(chunk);
    },
  });
}
