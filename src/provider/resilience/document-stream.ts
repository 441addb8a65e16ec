/** A document on its way to the provider, read from our own store while it is sent. */
import { ProviderError } from '../errors.ts';
import type { PersonDocument } from '../provider.ts';

/**
 * Sends a document, and tells a failure of our store from a failure of the provider.
 *
 * When the store breaks off in the middle, the provider cannot have taken the document, because it
 * was announced with its whole size; the circuit breaker counts nothing.
 *
 * @param send receives the document; it is read only as fast as it is sent.
 * @throws ProviderError `not_sent` when the content cannot be read or has another size.
 */
export async function streamDocument<Answer>(
  document: PersonDocument,
  send: (document: PersonDocument) => Promise<Answer>,
): Promise<Answer> {
  const faults: unknown[] = [];
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      yield* checkedContent(document);
    } catch (fault) {
      faults.push(fault);
      throw fault;
    }
  }
  const { tipoDocumento, contentType, sizeBytes } = document;
  try {
    return await send({ tipoDocumento, contentType, sizeBytes, content });
  } catch (error) {
    if (faults.length === 0) throw error;
    throw new ProviderError({
      outcome: 'not_sent',
      code: 'PROVIDER_UNAVAILABLE',
      statusClass: 'unreadable',
      retryable: true,
      cause: faults[0],
    });
  }
}

async function* checkedContent(document: PersonDocument): AsyncGenerator<Uint8Array> {
  let left = document.sizeBytes;
  for await (const chunk of document.content()) {
    left -= chunk.length;
    if (left < 0) throw new Error('the document is longer than its declared size');
    yield chunk;
  }
  if (left > 0) throw new Error('the document is shorter than its declared size');
}
