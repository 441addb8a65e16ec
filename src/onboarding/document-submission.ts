/** Documents on their way to the provider. What is left of one by then is that it was there. */
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

/** Marks a document as the provider's and lets its content go. Parameters: document id, now. */
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

/** Its chunks go with it. Parameters: document id. */
const dropRefused: Statement = {
  name: 'document-drop-refused',
  text: `delete from onboarding_documents where id = $1 and status = 'stored'`,
};

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
  for (const row of await context.db.query<StoredRow>(findStored, [applicationId])) {
    const fault = await forward(context, { row, applicationId, personId: pessoaFisicaId, options });
    if (fault === null) continue;
    if (isDamage(fault)) damage ??= fault;
    else if (isRefusal(fault)) refusal ??= fault;
    else throw refusal ?? fault;
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
 * @returns what went wrong, or null.
 * @throws Error when it has nothing to do with the provider or the document.
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
    // Two that forward at once may both succeed, and then the content is gone for the slower one.
    const [stored] = await context.db.query(isStored, [row.id]);
    if (!stored) return null;
    if (!(error instanceof ProviderError)) throw error;
    return settleFault(context, key, error);
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

/** A document that could not be read is no fault of the provider's, which has taken nothing. */
async function settleFault(
  { db, log }: LocalContext,
  { id }: DocumentKey,
  fault: ProviderError,
): Promise<ProviderError> {
  if (isRefusal(fault)) await db.query(dropRefused, [id]);
  if (fault.statusClass !== 'unreadable') return fault;
  if (!isDamage(fault)) throw fault.cause;
  log.error({ upload: id, error: fault.cause }, 'a stored document is damaged');
  return fault;
}
