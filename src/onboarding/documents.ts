/**
 * The documents of an onboarding application. One is `receiving` from its first byte on, and
 * counts once it is `stored`: in a commit of its own, after the last byte. What breaks off is
 * removed; what a dying process leaves is removed by a job.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { dayMs } from '../clock.ts';
import type { Context, LocalContext } from '../context.ts';
import { loadEntities } from '../db/unit-of-work.ts';
import { stepOf } from '../domain/onboarding.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import { storeContent, type DocumentContent, type DocumentKey } from './document-content.ts';
import { dropReceiving } from './document-repository.ts';
import {
  admitStep,
  changeApplication,
  giveDocument,
  refuseWhenFinal,
  type Application,
  type Change,
} from './application.ts';
import {
  addressThrottles,
  countAttempt,
  refuseWhenUsedUp,
  type Throttle,
} from '../auth/throttle.ts';

async function documents() {
  return (await loadEntities()).OnboardingDocument;
}

const DOCUMENTS_PER_APPLICATION = 20;

/** An app sends the few documents that are needed side by side; nobody needs more. */
const UPLOADS_AT_ONCE = 5;

/** A form may take five minutes to come in: what is older was left by a process that died. */
const UPLOAD_MS = 310_000;

/** Most uploads end sooner than this. */
const RETRY_MS = 5_000;

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
  refuseWhenFinal(application);
  await refuseWhenUsedUp(context, uploadQuota(context, clientAddress));
  const sender = { application, clientAddress };
  return context.uploads.hold(clientAddress, () => takeContent(context, sender, receive));
}

/** What one address may have stored in a day, in MiB: the documents of fifty people. */
const quotaMiB = 1_024;

const bytesPerMiB = 1_024 * 1_024;

/** Lifted together with the other throttles of addresses. */
function uploadQuota({ config }: LocalContext, address: string, sizeBytes = 0): Throttle[] {
  const limit = config.throttle.addressPerMinute === 0 ? 0 : quotaMiB;
  const weight = Math.ceil(sizeBytes / bytesPerMiB);
  return addressThrottles({ scope: 'upload-mib', limit, windowMs: dayMs, weight }, address);
}

async function takeContent(
  context: Context,
  { application, clientAddress }: DocumentSender,
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
    await countAttempt(context, uploadQuota(context, clientAddress, taken.sizeBytes));
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
    const [oldest, ...others] = await em.find(
      await documents(),
      { ...receiving, createdAt: { $gt: since } },
      { fields: ['createdAt'], orderBy: { createdAt: 'asc' } },
    );
    if (oldest && 1 + others.length >= UPLOADS_AT_ONCE) {
      throw new AppError('THROTTLED', {
        headers: { 'Retry-After': retryAfter(oldest, createdAt) },
      });
    }
    await em.insert(await documents(), { id, ...receiving, createdAt });
    return application;
  });
}

/**
 * In seconds. Whether the oldest upload still comes is not known: the longer it has been at it, the
 * longer it may take, until its time is over.
 */
function retryAfter(oldest: { readonly createdAt: Date }, now: Date): string {
  const ageMs = now.getTime() - oldest.createdAt.getTime();
  const waitMs = Math.min(Math.max(RETRY_MS, ageMs), UPLOAD_MS - ageMs);
  return String(Math.ceil(waitMs / 1_000));
}

/** Makes a document count, or gives way to one that is the same. */
function endDocument(context: LocalContext, document: NewDocument): Change {
  const { id, tipoDocumento, contentType, sizeBytes, chunkCount, contentHash } = document;
  return async (application, em) => {
    const { status, error } = stepOf(application, 'documents');
    if (error === 'CONTENT_MISSING') await dropUnread(em, application, tipoDocumento);
    const others = await em.find(
      await documents(),
      { application: application.id, status: { $ne: 'receiving' } },
      { fields: ['tipoDocumento', 'contentHash'] },
    );
    const isRepeat = others.some(
      (other) =>
        other.tipoDocumento === tipoDocumento && contentHash.equals(other.contentHash ?? NO_BYTES),
    );
    admitStep(application, { name: 'documents', isRepeat });
    if (isRepeat) {
      await em.nativeDelete(await documents(), { id });
      return status === 'failed' ? giveDocument(context, em, application) : application;
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

/** What could not be read is given anew; it stays so long: the fault may be a wrong key of ours. */
async function dropUnread(em: EntityManager, { id }: Application, type: number): Promise<void> {
  const unread = { application: id, status: 'stored', tipoDocumento: type } as const;
  await em.nativeDelete(await documents(), unread);
}

/** What cannot be removed now is removed by the job that clears away unfinished uploads. */
async function dropDocument(context: LocalContext, { id }: DocumentKey): Promise<void> {
  try {
    await dropReceiving(context, id);
  } catch (error) {
    context.log.warn({ error }, 'an upload that broke off could not be removed');
  }
}
