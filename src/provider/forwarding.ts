/** A document on its way through: read from our own store while it is written to the provider. */
import { ProviderError } from './outcome.ts';
import type { PersonDocument } from './provider.ts';

/**
 * Forwards a document, and tells a content that fails from a provider that does.
 *
 * A store that breaks off in the middle is our own fault: what was announced has not come whole, so
 * the provider cannot have taken it, and its breaker learns nothing from it.
 *
 * @param send gets the document; no more of it is read than is asked for.
 * @throws ProviderError `not_sent` when the content cannot be read, or is not as long as it says.
 */
export async function forwarding<T>(
  document: PersonDocument,
  send: (document: PersonDocument) => Promise<T>,
): Promise<T> {
  const faults: unknown[] = [];
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      yield* exactly(document);
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

async function* exactly(document: PersonDocument): AsyncGenerator<Uint8Array> {
  let left = document.sizeBytes;
  for await (const chunk of document.content()) {
    left -= chunk.length;
    if (left < 0) throw new Error('a document that is longer than it says');
    yield chunk;
  }
  if (left > 0) throw new Error('a document that is shorter than it says');
}
