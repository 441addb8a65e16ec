/** The multipart form (RFC 7578) of a document for the provider, as a stream. */
import { randomUUID } from 'node:crypto';
import type { PersonDocument } from '../provider.ts';
import type { Upload } from './client.ts';

/** Fixed names, because the person's file name may be personal data. */
const fileNames: Readonly<Record<PersonDocument['contentType'], string>> = {
  'application/pdf': 'documento.pdf',
  'image/jpeg': 'documento.jpg',
  'image/png': 'documento.png',
};

/** Creates the form of a document, whose content is opened when it is read. */
export function documentForm(document: PersonDocument): Upload {
  const { tipoDocumento, contentType, sizeBytes } = document;
  // Random, so that no document can contain it.
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
