/**
 * Documents of applications in the database. Their content is read and written by SQL, outside of
 * transactions: each chunk is one round trip on a connection that no application holds.
 */
import type { LocalContext } from '../context/context.ts';
import { sql, statement } from '../db/statement.ts';
import { inTransaction, openUnit } from '../db/unit-of-work.ts';
import type { DocumentContentType } from './document-types.ts';

type Store = Pick<LocalContext, 'db'>;

/** A document that is stored and not forwarded yet. */
export interface StoredDocument {
  readonly id: string;
  readonly tipoDocumento: number;
  readonly contentType: DocumentContentType;
  readonly sizeBytes: number;
  readonly chunkCount: number;
  /** SHA-256. */
  readonly contentHash: Buffer;
}

/** @returns the documents of an application that are to be forwarded, the oldest first. */
export async function findStoredDocuments(
  { db }: Store,
  applicationId: string,
): Promise<StoredDocument[]> {
  const { em, OnboardingDocument } = await openUnit(db);
  const documents = await em.find(
    OnboardingDocument,
    { application: applicationId, status: 'stored' },
    { orderBy: { storedAt: 'asc', id: 'asc' } },
  );
  // A stored document has no null columns: constraint `onboarding_documents_stored_whole`.
  return documents as readonly unknown[] as StoredDocument[];
}

/** @returns whether a document is stored and not forwarded. */
export async function isStored({ db }: Store, id: string): Promise<boolean> {
  const { em, OnboardingDocument } = await openUnit(db);
  return (await em.count(OnboardingDocument, { id, status: 'stored' })) === 1;
}

/** Marks a stored document as forwarded and deletes its content, in one commit. */
export async function markForwarded(
  context: Pick<LocalContext, 'db' | 'clock'>,
  id: string,
): Promise<void> {
  await inTransaction(context, async ({ db, clock }) => {
    const { em, OnboardingDocument, OnboardingDocumentChunk } = await openUnit(db);
    const change = { status: 'forwarded', forwardedAt: clock.now() };
    const forwarded = await em.nativeUpdate(OnboardingDocument, { id, status: 'stored' }, change);
    if (forwarded === 1) await em.nativeDelete(OnboardingDocumentChunk, { document: id });
  });
}

/** Deletes a document that is stored, with its content. */
export async function dropStored({ db }: Store, id: string): Promise<void> {
  const { em, OnboardingDocument } = await openUnit(db);
  await em.nativeDelete(OnboardingDocument, { id, status: 'stored' });
}

/** @returns the types of the documents of an application that have come as a whole. */
export async function findDocumentTypes({ db }: Store, applicationId: string): Promise<number[]> {
  const { em, OnboardingDocument } = await openUnit(db);
  const documents = await em.find(
    OnboardingDocument,
    { application: applicationId, status: ['stored', 'forwarded'] },
    { fields: ['tipoDocumento'] },
  );
  return documents.flatMap(({ tipoDocumento }) => tipoDocumento ?? []);
}

/** @returns when the uploads of an application began that are in progress, the oldest first. */
export async function findUploads(
  { db }: Store,
  applicationId: string,
  since: Date,
): Promise<Date[]> {
  const { em, OnboardingDocument } = await openUnit(db);
  const uploads = await em.find(
    OnboardingDocument,
    { application: applicationId, status: 'receiving', createdAt: { $gt: since } },
    { fields: ['createdAt'], orderBy: { createdAt: 'asc' } },
  );
  return uploads.map(({ createdAt }) => createdAt);
}

/** Stores that the upload of a document begins. */
export async function insertReceiving(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { id, applicationId }: { readonly id: string; readonly applicationId: string },
): Promise<void> {
  const { em, OnboardingDocument } = await openUnit(db);
  const status = 'receiving';
  await em.insert(OnboardingDocument, {
    id,
    application: applicationId,
    status,
    createdAt: clock.now(),
  });
}

/** A document by its content. */
export interface ReceivedDocument {
  readonly tipoDocumento: number | null;
  /** SHA-256. */
  readonly contentHash: Uint8Array | null;
}

/** @returns the documents of an application that have come as a whole. */
export async function findReceived(
  { db }: Store,
  applicationId: string,
): Promise<ReceivedDocument[]> {
  const { em, OnboardingDocument } = await openUnit(db);
  const documents = await em.find(
    OnboardingDocument,
    { application: applicationId, status: { $ne: 'receiving' } },
    { fields: ['tipoDocumento', 'contentHash'] },
  );
  return documents.map(({ tipoDocumento, contentHash }) => {
    return { tipoDocumento: tipoDocumento ?? null, contentHash: contentHash ?? null };
  });
}

/** Marks a document as stored. @returns false when it is no longer being received. */
export async function markStored(
  { db, clock }: Pick<LocalContext, 'db' | 'clock'>,
  { id, ...content }: StoredDocument,
): Promise<boolean> {
  const { em, OnboardingDocument } = await openUnit(db);
  const stored = await em.nativeUpdate(
    OnboardingDocument,
    { id, status: 'receiving' },
    { ...content, status: 'stored', storedAt: clock.now() },
  );
  return stored === 1;
}

/** Deletes the stored documents of an application that have a type. */
export async function dropStoredOfType(
  { db }: Store,
  { applicationId, tipoDocumento }: { applicationId: string; tipoDocumento: number },
): Promise<void> {
  const { em, OnboardingDocument } = await openUnit(db);
  const stored = { application: applicationId, status: 'stored', tipoDocumento } as const;
  await em.nativeDelete(OnboardingDocument, stored);
}

const dropBegun = statement({
  name: 'document-drop',
  parameters: { id: 'uuid' },
  text: ({ id }) => sql`delete from onboarding_documents where id = ${id} and status = 'receiving'`,
});

/** Deletes a document that has not come as a whole, with its content. */
export async function dropReceiving({ db }: Store, id: string): Promise<void> {
  await db.query(dropBegun, { id });
}

/** A chunk of a document's content: its place counts from 0. */
export interface ChunkKey {
  readonly documentId: string;
  readonly place: number;
}

const storeChunk = statement({
  name: 'document-chunk-store',
  parameters: { documentId: 'uuid', place: 'int', sealedContent: 'bytea' },
  text: ({ documentId, place, sealedContent }) => sql`
    insert into onboarding_document_chunks (document_id, place, sealed_content)
    values (${documentId}, ${place}, ${sealedContent})`,
});

/** Stores a sealed chunk. */
export async function insertChunk(
  { db }: Store,
  { documentId, place }: ChunkKey,
  sealedContent: Buffer,
): Promise<void> {
  await db.query(storeChunk, { documentId, place, sealedContent });
}

const readChunk = statement({
  name: 'document-chunk-read',
  parameters: { documentId: 'uuid', place: 'int' },
  text: ({ documentId, place }) => sql<{ sealedContent: Buffer }>`
    select sealed_content as "sealedContent" from onboarding_document_chunks
     where document_id = ${documentId} and place = ${place}`,
});

/** @returns a sealed chunk, or null when there is none. */
export async function findChunk(
  { db }: Store,
  { documentId, place }: ChunkKey,
): Promise<Buffer | null> {
  const [row] = await db.query(readChunk, { documentId, place });
  return row?.sealedContent ?? null;
}
