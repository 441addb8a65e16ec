/** Forwards documents to the provider and deletes their content afterwards. */
import type { Context, LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import type { DocumentContentType } from '../domain/document-types.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions } from '../provider/provider.ts';
import { readContent, type DocumentKey } from './document-content.ts';
import type { Application } from './application-row.ts';
import { isDamage, isRefusal } from './step-failure.ts';

interface StoredRow {
  readonly id: string;
  readonly tipo_documento: number;
  readonly content_type: DocumentContentType;
  readonly size_bytes: number;
  readonly chunk_count: number;
  readonly content_hash: Buffer;
}

/** Parameters: application id. */
const findStored: Statement = {
  name: 'documents-stored',
  text: `
    select id, tipo_documento, content_type, size_bytes, chunk_count, content_hash
      from onboarding_documents
     where application_id = $1 and status = 'stored' order by stored_at, id`,
};

/** Marks a document as forwarded and deletes its content. Parameters: document id, now. */
const markForwarded: Statement = {
  name: 'document-forwarded',
  text: `
    with forwarded as (
      update onboarding_documents set status = 'forwarded', forwarded_at = $2
       where id = $1 and status = 'stored' returning id)
    delete from onboarding_document_chunks where document_id in (select id from forwarded)`,
};

/** Parameters: document id. */
const isStored: Statement = {
  name: 'document-is-stored',
  text: `select 1 from onboarding_documents where id = $1 and status = 'stored'`,
};

/** Deletes a document with its chunks. Parameters: document id. */
const dropRefused: Statement = {
  name: 'document-drop-refused',
  text: `delete from onboarding_documents where id = $1 and status = 'stored'`,
};

/**
 * Forwards the documents that the provider does not have yet, one after another, and deletes the
 * content of each. A refused document is deleted too, because it would be refused again. A damaged
 * document remains until another one is submitted. Neither prevents the forwarding of the others.
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
  for (const row of await context.db.query<StoredRow>(findStored, [applicationId])) {
    const error = await forward(context, { row, applicationId, personId: pessoaFisicaId, options });
    if (error === null) continue;
    if (isDamage(error)) damage ??= error;
    else if (isRefusal(error)) refusal ??= error;
    else throw refusal ?? error;
  }
  const first = refusal ?? damage;
  if (first !== null) throw first;
}

interface Forwarding {
  readonly row: StoredRow;
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
  { row, applicationId, personId, options }: Forwarding,
): Promise<ProviderError | null> {
  const key = { id: row.id, applicationId };
  try {
    await context.provider.submitDocument({
      personId,
      document: personDocument(context, key, row),
      ...options,
    });
  } catch (error) {
    // A concurrent call may have forwarded the document and deleted its content.
    const [stored] = await context.db.query(isStored, [row.id]);
    if (!stored) return null;
    if (!(error instanceof ProviderError)) throw error;
    return handleFailure(context, key, error);
  }
  await context.db.query(markForwarded, [row.id, context.clock.now()]);
  return null;
}

function personDocument(context: Context, key: DocumentKey, row: StoredRow) {
  const { size_bytes: sizeBytes, chunk_count: chunkCount, content_hash: contentHash } = row;
  return {
    tipoDocumento: row.tipo_documento,
    contentType: row.content_type,
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
  { db, log }: LocalContext,
  { id }: DocumentKey,
  error: ProviderError,
): Promise<ProviderError> {
  if (isRefusal(error)) await db.query(dropRefused, [id]);
  if (error.statusClass !== 'unreadable') return error;
  if (!isDamage(error)) throw error.cause;
  log.error({ upload: id, error: error.cause }, 'a stored document is damaged');
  return error;
}
