/** The form (RFC 7578) in which a document goes to the provider, written while it is read. */
import { randomUUID } from 'node:crypto';
import type { PersonDocument } from '../provider.ts';
import type { Upload } from './client.ts';

/** What the person called the file is nobody's business, and could hold a name. */
const fileNames: Readonly<Record<PersonDocument['contentType'], string>> = {
  'application/pdf': 'documento.pdf',
  'image/jpeg': 'documento.jpg',
  'image/png': 'documento.png',
};

/** Makes the form of a document, which is opened when its turn comes. */
export function documentForm(document: PersonDocument): Upload {
  const { tipoDocumento, contentType, sizeBytes } = document;
  // Random, so that no document can hold it.
  const boundary = `ponte-${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="tipo_documento"\r\n\r\n` +
      `${tipoDocumento}\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="arquivo"; ` +
      `filename="${fileNames[contentType]}"\r\nContent-Type: ${contentType}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield head;
    yield* document.content();
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: head.length + sizeBytes + tail.length,
    content: parts(),
  };
}
