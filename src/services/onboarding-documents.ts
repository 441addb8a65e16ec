/**
 * The documents of an onboarding application. One is `receiving` from its first byte on, and
 * counts once it is `stored`: in a commit of its own, after the last byte. What breaks off is
 * removed; what a dying process leaves is removed by a job.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { Context, LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import type { DocumentContentType } from '../domain/document-types.ts';
import { stepOf } from '../domain/onboarding.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import { ProviderError } from '../provider/outcome.ts';
import type { CallOptions } from '../provider/provider.ts';
import {
  DamagedDocument,
  readContent,
  storeContent,
  type DocumentContent,
  type DocumentKey,
} from './document-content.ts';
import {
  admitStep,
  changeApplication,
  giveDocument,
  type Application,
  type Change,
} from './onboarding.ts';

/** Entities come with MikroORM, which is loaded when a unit of work first needs it. */
async function documents() {
  const { OnboardingDocument } = await import('../db/entities/onboarding-document.ts');
  return OnboardingDocument;
}

const DOCUMENTS_PER_APPLICATION = 20;

/** An app sends the few documents that are needed side by side; nobody needs more. */
const UPLOADS_AT_ONCE = 5;

/** Longer than an upload may take: what is older was left by a process that died. */
const UPLOAD_MS = 10 * 60_000;

const NO_BYTES = Buffer.alloc(0);

const TOO_MANY: Text = {
  en: `The application has ${DOCUMENTS_PER_APPLICATION} documents already.`,
  pt: `A solicitação já tem ${DOCUMENTS_PER_APPLICATION} documentos.`,
};

/**
 * Reads what a client sends, and hands the bytes of its file to `take`.
 * @returns what it says of the file, and what the file was taken as.
 */
export type ReceiveDocument = <Taken>(
  take: (content: AsyncIterable<Buffer>) => Promise<Taken>,
) => Promise<{ readonly tipoDocumento: number; readonly taken: Taken }>;

/** Whose document comes, and from where. */
export interface DocumentSender {
  readonly application: Application;
  readonly clientAddress: string;
}

interface NewDocument extends DocumentContent {
  readonly id: string;
  readonly tipoDocumento: number;
}

/**
 * Takes a document in. The same content of the same type again changes nothing. Nothing is left of
 * one that fails, in whatever way.
 *
 * @returns the application as it stands then.
 * @throws AppError VALIDATION_FAILED, THROTTLED, BUSY, and whatever `receive` throws.
 */
export async function takeDocument(
  context: Context,
  { application, clientAddress }: DocumentSender,
  receive: ReceiveDocument,
): Promise<Application> {
  // Whether it is a repeat is known when it has been read; a decided application takes not even it.
  admitStep(application, { isRepeat: true });
  return context.uploads.hold(clientAddress, () => takeContent(context, application, receive));
}

async function takeContent(
  context: Context,
  application: Application,
  receive: ReceiveDocument,
): Promise<Application> {
  const key: DocumentKey = { id: randomUUIDv7(), applicationId: application.id };
  let hasBegun = false;
  const begin = (): Promise<void> => {
    hasBegun = true;
    return beginDocument(context, key);
  };
  try {
    const { tipoDocumento, taken } = await receive((content) =>
      storeContent(context, content, { key, begin }),
    );
    const document = { id: key.id, tipoDocumento, ...taken };
    return await changeApplication(context, application.id, endDocument(context, document));
  } catch (error) {
    if (hasBegun) await dropDocument(context, key);
    throw error;
  }
}

async function beginDocument(context: LocalContext, key: DocumentKey): Promise<void> {
  const { id, applicationId } = key;
  const createdAt = context.clock.now();
  const since = new Date(createdAt.getTime() - UPLOAD_MS);
  await changeApplication(context, applicationId, async (application, em) => {
    const receiving = { application: applicationId, status: 'receiving' } as const;
    const uploads = await em.count(await documents(), { ...receiving, createdAt: { $gt: since } });
    if (uploads >= UPLOADS_AT_ONCE) {
      throw new AppError('THROTTLED', { headers: { 'Retry-After': '5' } });
    }
    await em.insert(await documents(), { id, ...receiving, createdAt });
    return application;
  });
}

/** Makes a document count, or gives way to one that is the same. */
function endDocument(context: LocalContext, document: NewDocument): Change {
  const { id, tipoDocumento, contentType, sizeBytes, chunkCount, contentHash } = document;
  return async (application, em) => {
    const others = await em.find(
      await documents(),
      { application: application.id, status: { $ne: 'receiving' } },
      { fields: ['tipoDocumento', 'contentHash'] },
    );
    const isRepeat = others.some(
      (other) =>
        other.tipoDocumento === tipoDocumento && contentHash.equals(other.contentHash ?? NO_BYTES),
    );
    admitStep(application, { isRepeat });
    if (isRepeat) {
      await em.nativeDelete(await documents(), { id });
      const hasFailed = stepOf(application, 'documents').status === 'failed';
      return hasFailed ? giveDocument(context, em, application) : application;
    }
    if (others.length >= DOCUMENTS_PER_APPLICATION) throw invalidField('arquivo', TOO_MANY);
    const stored = await em.nativeUpdate(
      await documents(),
      { id, status: 'receiving' },
      {
        ...{ tipoDocumento, contentType, sizeBytes, chunkCount, contentHash },
        ...{ status: 'stored', storedAt: context.clock.now() },
      },
    );
    if (stored !== 1) throw new Error('a document was removed while it came');
    return giveDocument(context, em, application);
  };
}

/** Its chunks go with it. Parameters: document id. */
const drop: Statement = {
  name: 'document-drop',
  text: `delete from onboarding_documents where id = $1 and status = 'receiving'`,
};

/** What cannot be removed now is removed by the job that clears away unfinished uploads. */
async function dropDocument(context: LocalContext, { id }: DocumentKey): Promise<void> {
  try {
    await context.db.query(drop, [id]);
  } catch (error) {
    context.log.warn({ error }, 'an upload that broke off could not be removed');
  }
}

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

/**
 * Gives the provider the documents that it has not got yet, one after another, and lets the content
 * of each go once the provider has it. It may be called again after any failure.
 *
 * @param application one whose person the provider knows.
 * @throws ProviderError as soon as one could not be forwarded, also for one that is damaged;
 *   another error when the database failed meanwhile.
 */
export async function forwardDocuments(
  context: Context,
  { id: applicationId, pessoaFisicaId }: Pick<Application, 'id' | 'pessoaFisicaId'>,
  options: CallOptions = {},
): Promise<void> {
  if (pessoaFisicaId === null) throw new Error('the provider does not know the applicant yet');
  for (const row of await context.db.query<StoredRow>(findStored, [applicationId])) {
    const key = { id: row.id, applicationId };
    try {
      await context.provider.submitDocument(
        pessoaFisicaId,
        personDocument(context, key, row),
        options,
      );
    } catch (error) {
      // Two that forward at once may both succeed, and then the content is gone for the slower one.
      const [stored] = await context.db.query(isStored, [row.id]);
      if (!stored) continue;
      throw failureOf(context, key, error);
    }
    await context.db.query(markForwarded, [row.id, context.clock.now()]);
  }
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
function failureOf({ log }: LocalContext, { id }: DocumentKey, error: unknown): unknown {
  if (!(error instanceof ProviderError) || error.statusClass !== 'unreadable') return error;
  if (!(error.cause instanceof DamagedDocument)) return error.cause;
  log.error({ upload: id, error: error.cause }, 'a stored document is damaged');
  return error;
}
