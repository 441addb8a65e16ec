/** Forwards documents to the provider and deletes their content afterwards. */
import type { Context, LocalContext } from '../context/context.ts';
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
 * Forwards the documents that the provider does not have yet, one after another, and deletes the
 * content of each. A refused document is deleted too, because it would be refused again. A damaged
 * document remains until another one is submitted. In both cases the others are still forwarded.
 * The function is idempotent and may be called again after any failure.
 *
 * @param application an application whose person the provider knows.
 * @throws ProviderError at once when the provider fails; otherwise at the end, for the first
 *   document that was refused, or that is damaged.
 * @throws Error when the database fails.
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
    const error = await forward(context, forwarding);
    if (error === null) continue;
    if (isDamage(error)) damage ??= error;
    else if (isRefusal(error)) refusal ??= error;
    else throw refusal ?? error;
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
 * @returns the failure of the provider or of the document, or null.
 * @throws Error for any other failure.
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
    // A concurrent call may have forwarded the document and deleted its content.
    if (!(await isStored(context, id))) return null;
    if (!(error instanceof ProviderError)) throw error;
    return handleFailure(context, key, error);
  }
  await markForwarded(context, id);
  return null;
}

function personDocument(context: Context, key: DocumentKey, document: StoredDocument) {
  const { tipoDocumento, contentType, sizeBytes, chunkCount, contentHash } = document;
  return {
    tipoDocumento,
    contentType,
    sizeBytes,
    content: () => readContent(context, key, { sizeBytes, chunkCount, contentHash }),
  };
}

/**
 * Deletes a refused document.
 * @returns the failure to report.
 * @throws Error when the document could not be read for a reason other than damage.
 */
async function handleFailure(
  context: LocalContext,
  { id }: DocumentKey,
  error: ProviderError,
): Promise<ProviderError> {
  if (isRefusal(error)) await dropStored(context, id);
  if (error.statusClass !== 'unreadable') return error;
  if (!isDamage(error)) throw error.cause;
  context.log.error({ upload: id, error: error.cause }, 'a stored document is damaged');
  return error;
}
