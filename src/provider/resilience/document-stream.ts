/** Streams a document from the database to the provider. */
import { ProviderError } from '../errors.ts';
import type { PersonDocument } from '../provider.ts';

/**
 * Sends a document, and distinguishes a failure of the database from a failure of the provider.
 *
 * If reading fails, the provider cannot have accepted the document, because its size was announced;
 * the circuit breaker does not count the attempt.
 *
 * @param send receives the document, which is read with back-pressure.
 * @throws ProviderError `not_sent` when the content cannot be read or has another size.
 */
export async function streamDocument<Answer>(
  document: PersonDocument,
  send: (document: PersonDocument) => Promise<Answer>,
): Promise<Answer> {
  const readErrors: unknown[] = [];
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      yield* checkedContent(document);
    } catch (error) {
      readErrors.push(error);
      throw error;
    }
  }
  const { tipoDocumento, contentType, sizeBytes } = document;
  try {
    return await send({ tipoDocumento, contentType, sizeBytes, content });
  } catch (error) {
    if (readErrors.length === 0) throw error;
    throw new ProviderError({
      outcome: 'not_sent',
      code: 'PROVIDER_UNAVAILABLE',
      statusClass: 'unreadable',
      retryable: true,
      cause: readErrors[0],
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
