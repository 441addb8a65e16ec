/** The form of a document as the body of a request, streamed from its file. */
import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, resolve } from 'node:path';
import type { SubmitDocumentRequest } from '../contract/types.ts';

/**
 * Builds the form of a document, whose file is read while the form is sent. It is encoded here,
 * because a `FormData` whose request is aborted ends in an unhandled rejection (undici 8.10, which
 * Node 26 has), and because the console imports only the contract: `src/provider/http` encodes its
 * form itself.
 * @param body with the path of the file as typed: `~` is the home directory.
 * @throws Error with a message for the user when the file cannot be read.
 */
export async function uploadForm(body: SubmitDocumentRequest): Promise<Blob> {
  const path = resolve(unquoted(String(body.arquivo).trim()).replace(/^~(?=$|\/)/, homedir()));
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  const file = isFile ? await openAsBlob(path).catch(() => null) : null;
  if (!file) throw new Error(`There is no file that can be read at ${path}.`);
  const boundary = randomUUID();
  const part = `--${boundary}\r\nContent-Disposition: form-data; name=`;
  const form = [
    `${part}"tipo_documento"\r\n\r\n${String(body.tipo_documento)}\r\n`,
    `${part}"arquivo"; filename="${escapeName(basename(path))}"\r\n`,
    'Content-Type: application/octet-stream\r\n\r\n',
    file,
    `\r\n--${boundary}--\r\n`,
  ];
  return new Blob(form, { type: `multipart/form-data; boundary=${boundary}` });
}

/** A path that was dragged into the terminal is quoted for a shell, or its blanks are escaped. */
function unquoted(typed: string): string {
  const [, , quoted] = /^(['"])(.*)\1$/.exec(typed) ?? [];
  return quoted ?? typed.replaceAll(/\\(?=[ ()'"])/g, '');
}

/** Escapes the name of a file as browsers do (HTML, multipart/form-data). */
function escapeName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}
