/**
 * Stores documents. A document is `receiving` from its first byte on and becomes `stored` in a
 * separate commit after the last byte. An interrupted upload is deleted, after a crash by a job.
 */
import { randomUUIDv7 } from 'node:crypto';
import {
  countSpent,
  countWithinLimits,
  refuseOverLimits,
  type LimitedAttempt,
} from '../auth/service-throttles.ts';
import { addressThrottles, widestNetwork } from '../auth/throttle.ts';
import { dayMs } from '../clock.ts';
import type { Context, LocalContext } from '../context/context.ts';
import { getStep } from '../domain/onboarding.ts';
import { AppError, invalidField, type Text } from '../errors.ts';
import type { PublicOperation } from '../context/operation.ts';
import { findApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import {
  admitStep,
  type Application,
  type Change,
  changeApplication,
  markDocumentSubmitted,
  refuseWhenFinal,
} from './application.ts';
import { type DocumentContent, type DocumentKey, storeContent } from './document-content.ts';
import {
  dropReceiving,
  dropStoredOfType,
  findReceived,
  findUploads,
  insertReceiving,
  markStored,
} from './document-repository.ts';

/**
 * Stores one document, streamed into the database. The application is checked before the document
 * is read.
 */
export const submitDocument: PublicOperation<'submitDocument'> = {
  access: 'public',
  async run(context, { input, request }) {
    const { clientAddress } = request;
    const found = await findApplicant(context, { ...input.path, clientAddress });
    const sender = { application: found, clientAddress };
    const application = await storeDocument(context, sender, async (consume) => {
      const { fields, file } = await input.body.receive(consume);
      return { tipoDocumento: fields.tipo_documento, file };
    });
    return { status: 201, body: applicationReply(application) };
  },
};

const documentsPerApplication = 20;

/** Enough for an app that uploads all required documents concurrently. */
const uploadsAtOnce = 5;

/** A form may take five minutes to arrive: an older upload belongs to a process that crashed. */
const uploadMs = 310_000;

/** Most uploads take less time. */
const retryMs = 5_000;

const noBytes = Buffer.alloc(0);

const tooMany: Text = {
  en: `The application has ${documentsPerApplication} documents already.`,
  pt: `A solicitação já tem ${documentsPerApplication} documentos.`,
};

/**
 * Reads the client's form and passes the bytes of its file to `consume`.
 * @returns the type of the document, and the consumer's result.
 */
export type ReceiveDocument = <Result>(
  consume: (content: AsyncIterable<Buffer>) => Promise<Result>,
) => Promise<{ readonly tipoDocumento: number; readonly file: Result }>;

/** The application that a document belongs to, and the address that it comes from. */
interface DocumentSender {
  readonly application: Application;
  readonly clientAddress: string;
}

interface NewDocument extends DocumentContent {
  readonly id: string;
  readonly tipoDocumento: number;
}

/**
 * Stores a document. A repeat of the same content and type changes nothing. After a failure nothing
 * of the document remains.
 *
 * @returns the changed application.
 * @throws AppError VALIDATION_FAILED, THROTTLED, BUSY, and any error of `receive`.
 */
export async function storeDocument(
  context: Context,
  { application, clientAddress }: DocumentSender,
  receive: ReceiveDocument,
): Promise<Application> {
  // A repeat is detected only after reading; a decided application does not accept even a repeat.
  refuseWhenFinal(application);
  await refuseOverLimits(context, uploadQuota(context, clientAddress));
  const sender = { application, clientAddress };
  const place = { address: clientAddress, network: widestNetwork(clientAddress) };
  return context.uploads.hold(place, () => receiveContent(context, sender, receive));
}

/** The upload quotas of one address, in MiB: the documents of fifty people in a day. */
const quotas = [
  { scope: 'upload-mib-hour', limit: 512, windowMs: 60 * 60_000 },
  { scope: 'upload-mib', limit: 1_024, windowMs: dayMs },
] as const;

const bytesPerMiB = 1_024 * 1_024;

/** A network has no more addresses' quotas, so that it cannot use up the limit of the service. */
const widest = 4;

/** The documents of one application, in MiB. */
const littleMiB = 20;

/** Only the limit of the service applies when the throttles of addresses are off. */
function uploadQuota({ config }: LocalContext, address: string, sizeBytes = 0): LimitedAttempt {
  const { addressPerMinute, uploadsMibPerHour: limit } = config.throttle;
  const weight = Math.ceil(sizeBytes / bytesPerMiB);
  const hour = { windowMs: 60 * 60_000, weight };
  const service = { name: 'uploads', little: littleMiB, limit, ...hour } as const;
  if (addressPerMinute === 0) return { throttles: [], service, clientAddress: null };
  const throttles = quotas.flatMap((quota) =>
    addressThrottles({ ...quota, weight }, address, widest * quota.limit),
  );
  return { throttles, service, clientAddress: address };
}

async function receiveContent(
  context: Context,
  { application, clientAddress }: DocumentSender,
  receive: ReceiveDocument,
): Promise<Application> {
  const key: DocumentKey = { id: randomUUIDv7(), applicationId: application.id };
  let hasBegun = false;
  let uncountedBytes = 0;
  const progress = {
    begin(): Promise<void> {
      hasBegun = true;
      return beginDocument(context, key);
    },
    add: (bytes: number) => void (uncountedBytes += bytes),
  };
  try {
    const { tipoDocumento, file } = await receive((content) =>
      storeContent(context, content, { key, progress }),
    );
    uncountedBytes = 0;
    await countWithinLimits(context, uploadQuota(context, clientAddress, file.sizeBytes));
    const document = { id: key.id, tipoDocumento, ...file };
    return await changeApplication(context, application.id, completeDocument(document));
  } catch (error) {
    if (hasBegun) {
      await dropDocument(context, key, uploadQuota(context, clientAddress, uncountedBytes));
    }
    throw error;
  }
}

async function beginDocument(context: LocalContext, key: DocumentKey): Promise<void> {
  const now = context.clock.now();
  const since = new Date(now.getTime() - uploadMs);
  await changeApplication(context, key.applicationId, async (application, transaction) => {
    const [oldest, ...others] = await findUploads(transaction, key.applicationId, since);
    if (oldest && 1 + others.length >= uploadsAtOnce) {
      throw new AppError('THROTTLED', { headers: { 'Retry-After': retryAfter(oldest, now) } });
    }
    await insertReceiving(transaction, key);
    return application;
  });
}

/**
 * Returns `Retry-After` in seconds. The oldest upload may still be in progress: the longer it has
 * taken, the longer it may still take, up to its time-out.
 */
function retryAfter(oldest: Date, now: Date): string {
  const ageMs = now.getTime() - oldest.getTime();
  const waitMs = Math.min(Math.max(retryMs, ageMs), uploadMs - ageMs);
  return String(Math.ceil(waitMs / 1_000));
}

/** Marks a document as stored, or deletes it as a repeat. */
function completeDocument({ id, ...content }: NewDocument): Change {
  const { tipoDocumento, contentHash } = content;
  return async (application, transaction) => {
    const { status, error } = getStep(application, 'documents');
    // An unreadable document is kept until now, because the cause may be a wrong encryption key.
    if (error === 'CONTENT_MISSING') {
      await dropStoredOfType(transaction, { applicationId: application.id, tipoDocumento });
    }
    const others = await findReceived(transaction, application.id);
    const isRepeat = others.some(
      (other) =>
        other.tipoDocumento === tipoDocumento && contentHash.equals(other.contentHash ?? noBytes),
    );
    admitStep(application, { name: 'documents', isRepeat });
    if (isRepeat) {
      await dropReceiving(transaction, id);
      return status === 'failed' ? markDocumentSubmitted(transaction, application) : application;
    }
    if (others.length >= documentsPerApplication) throw invalidField('arquivo', tooMany);
    if (!(await markStored(transaction, { id, ...content }))) {
      throw new Error('a document was removed during its upload');
    }
    return markDocumentSubmitted(transaction, application);
  };
}

/**
 * Deletes a failed upload, and counts its bytes: the database has written them. If that fails too,
 * the job for unfinished uploads deletes it.
 */
async function dropDocument(
  context: LocalContext,
  { id }: DocumentKey,
  spent: LimitedAttempt,
): Promise<void> {
  try {
    await dropReceiving(context, id);
    if (spent.service.weight) await countSpent(context, spent);
  } catch (error) {
    context.log.warn({ error }, 'an interrupted upload could not be removed');
  }
}
