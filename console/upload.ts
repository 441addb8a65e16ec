/** A document as the body of a request, streamed from its file. */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, resolve } from 'node:path';
import type { SubmitDocumentRequest } from '../contract/types.ts';

/**
 * Builds the form of a document, whose file is read while the form is sent.
 * @param body with the path of the file as a person types it: `~` is the home.
 * @throws Error with a sentence for a person when there is no such file.
 */
export async function uploadForm(body: SubmitDocumentRequest): Promise<FormData> {
  const path = resolve(
    String(body.arquivo)
      .trim()
      .replace(/^~(?=$|\/)/, homedir()),
  );
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  const file = isFile ? await openAsBlob(path).catch(() => null) : null;
  if (!file) throw new Error(`There is no file that can be read at ${path}.`);
  const form = new FormData();
  form.append('tipo_documento', String(body.tipo_documento));
  form.append('arquivo', file, basename(path));
  return form;
}
