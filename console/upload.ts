/** A document as the body of a request, streamed from its file. */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, resolve } from 'node:path';

/** The body of `submitDocument`; the file is a path as a person types it, where `~` is the home. */
interface Upload {
  readonly tipo_documento: number;
  readonly arquivo: string;
}

/** Whether a body is sent as a form with a file. */
export function isUpload(body: unknown): body is Upload {
  return typeof body === 'object' && body !== null && 'arquivo' in body;
}

/**
 * Builds the multipart form. The file is read while the form is sent.
 * @throws Error with a sentence for a person when there is no such file.
 */
export async function uploadForm({ tipo_documento: kind, arquivo }: Upload): Promise<FormData> {
  const path = resolve(arquivo.trim().replace(/^~(?=$|\/)/, homedir()));
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  const file = isFile ? await openAsBlob(path).catch(() => null) : null;
  if (!file) throw new Error(`There is no file that can be read at ${path}.`);
  const form = new FormData();
  form.append('tipo_documento', String(kind));
  form.append('arquivo', file, basename(path));
  return form;
}
