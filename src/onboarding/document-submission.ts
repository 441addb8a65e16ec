/** Documents on their way to the provider. What is left of one by then is that it was there. */
import type { Context, LocalContext } from '../context.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions } from '../provider/provider.ts';
import { readContent, type DocumentKey } from './document-content.ts';
import {
  dropStored,
  findStoredDocuments,
  isStored,
  markForwarded,
  type StoredDocument,
} from './document-repository.ts';
import type { Application } from './application-row.ts';
import { isDamage, isRefusal } from './step-failure.ts';

/**
 * Gives the provider the documents that it has not got yet, one after another, and lets the content
 * of each go once the provider has it. One that the provider refuses goes too: it would be refused
 * again, and another one is to be given. One that is damaged stays until another one is given.
 * Neither keeps the others back. It may be called again after any failure.
 *
 * @param application one whose person the provider knows.
 * @throws ProviderError as soon as the provider failed; otherwise in the end, for the first one
 *   that was refused, or that is damaged.
 * @throws Error when the database failed meanwhile.
 */
export async function forwardDocuments(
  context: Context,
  { id: applicationId, pessoaFisicaId }: Pick<Application, 'id' | 'pessoaFisicaId'>,
  options: CallOptions = {},
): Promise<void> {
  if (pessoaFisicaId === null) throw new Error('the provider does not know the applicant yet');
  let refusal: ProviderError | null = null;
  let damage: ProviderError | null = null;
  for (const document of await findStoredDocuments(context, applicationId)) {
    const forwarding = { document, applicationId, personId: pessoaFisicaId, options };
    const fault = await forward(context, forwarding);
    if (fault === null) continue;
    if (isDamage(fault)) damage ??= fault;
    else if (isRefusal(fault)) refusal ??= fault;
    else throw refusal ?? fault;
  }
  const first = refusal ?? damage;
  if (first !== null) throw first;
}

interface Forwarding {
  readonly document: StoredDocument;
  readonly applicationId: string;
  readonly personId: string;
  readonly options: CallOptions;
}

/**
 * @returns what went wrong, or null.
 * @throws Error when it has nothing to do with the provider or the document.
 */
async function forward(
  context: Context,
  { document, applicationId, personId, options }: Forwarding,
): Promise<ProviderError | null> {
  const { id } = document;
  const key = { id, applicationId };
  try {
    await context.provider.submitDocument({
      personId,
      document: personDocument(context, key, document),
      ...options,
    });
  } catch (error) {
    // Two that forward at once may both succeed, and then the content is gone for the slower one.
    if (!(await isStored(context, id))) return null;
    if (!(error instanceof ProviderError)) throw error;
    return settleFault(context, key, error);
  }
  await markForwarded(context, id);
  return null;
}

function personDocument(context: Context, key: DocumentKey, document: StoredDocument) {
  const { tipoDocumento, contentType, sizeBytes, chunkCount, contentHash } = document;
  return {
    ...{ tipoDocumento, contentType, sizeBytes },
    content: () => readContent(context, key, { sizeBytes, chunkCount, contentHash }),
  };
}

/** A document that could not be read is no fault of the provider's, which has taken nothing. */
async function settleFault(
  context: LocalContext,
  { id }: DocumentKey,
  fault: ProviderError,
): Promise<ProviderError> {
  if (isRefusal(fault)) await dropStored(context, id);
  if (fault.statusClass !== 'unreadable') return fault;
  if (!isDamage(fault)) throw fault.cause;
  context.log.error({ upload: id, error: fault.cause }, 'a stored document is damaged');
  return fault;
}
