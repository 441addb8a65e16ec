/** Cases of the repository functions about users, their sessions, accounts and applications. */
import { randomUUID } from 'node:crypto';
import * as bucket from '../../../../src/auth/look-up-bucket-repository.ts';
import * as accounts from '../../../../src/accounts/account-repository.ts';
import * as pixKeys from '../../../../src/accounts/pix-key-repository.ts';
import * as securityEvents from '../../../../src/auth/security-event-repository.ts';
import * as sessions from '../../../../src/auth/session-repository.ts';
import * as throttles from '../../../../src/auth/throttle-repository.ts';
import * as users from '../../../../src/auth/user-repository.ts';
import { inTransaction } from '../../../../src/db/unit-of-work.ts';
import { newProgress } from '../../../../src/domain/onboarding.ts';
import * as applications from '../../../../src/onboarding/application-repository.ts';
import { emptyContent } from '../../../../src/onboarding/application-row.ts';
import * as documents from '../../../../src/onboarding/document-repository.ts';
import type { Case, Cases } from './seed.ts';

const document = '52998224725';

const userCases: Cases = {
  findLoginUser: (context, { email }) => users.findLoginUser(context, email, '192.0.2.1'),
  findIdentity: (context, { email }) => users.findIdentity(context, email),
  lockPassword: (context, { otherUserId }) =>
    users.lockPassword(context, { id: otherUserId, passwordHash: 'none' }),
  replacePasswordHash: (context, { otherUserId }) =>
    users.replacePasswordHash(context, { userId: otherUserId, from: 'none', to: 'other' }),
  createUser: async (context) => {
    const user = { name: 'New', email: 'new@example.com', passwordHash: 'none', document: null };
    const id = await users.createUser(context, { ...user, personType: null, phone: null });
    return id === null;
  },
  findUserByReference: (context, { email }) => users.findUserByReference(context, email),
  findUsers: (context) => users.findUsers(context, { email: 'person', limit: 5 }),
  setUserStatus: (context, { otherUserId }) =>
    users.setUserStatus(context, otherUserId, 'DISABLED'),
  setPasswordHash: (context, { otherUserId }) =>
    users.setPasswordHash(context, otherUserId, 'another'),
};

const accountCases: Cases = {
  upsertAccountFromLogin: (context, { userId }) =>
    accounts.upsertAccountFromLogin(context, {
      userId,
      agency: '0002',
      accountNumber: null,
      document,
      companyId: null,
      clientToken: null,
    }),
  isCpfTaken: (context, { otherUserId }) =>
    accounts.isCpfTaken(context, { userId: otherUserId, document }),
  insertLocalAccount: (context, { otherUserId: userId }) => {
    const account = { userId, agency: '9999', accountNumber: '7', document: '11144477735' };
    return accounts.insertLocalAccount(context, account);
  },
  storeProviderAccount: (context, { userId }) => {
    const account = { userId, agency: '0003', accountNumber: '8', document };
    return accounts.storeProviderAccount(context, { ...account, clientToken: null });
  },
  wasRenumbered: (context, { userId }) =>
    accounts.wasRenumbered(context, { userId, since: context.clock.now() }),
  saveBalance: (context, { accountId }) =>
    accounts.saveBalance(context, { accountId, cents: 1_050 }),
  moveAccountStatus: (context, { userId }) =>
    accounts.moveAccountStatus(context, { userId, from: 'ACTIVE', to: 'ACTIVE' }),
  findAccountStatus: (context, { userId }) => accounts.findAccountStatus(context, userId),
};

const pixKeyCases: Cases = {
  keepPixKeys: (context, { accountId }) =>
    pixKeys.keepPixKeys(context, { accountId, keys: ['a@example.com', '"NULL"'], seen: '0' }),
  addPixKeys: (context, { accountId }) =>
    pixKeys.addPixKeys(context, { accountId, keys: ['+5511'], seen: '0' }),
  findKeysVersion: (context) => pixKeys.findKeysVersion(context),
  forgetPixKey: (context, { accountId }) =>
    pixKeys.forgetPixKey(context, { accountId, key: '+5511' }),
  restorePixKey: (context, { accountId }) =>
    pixKeys.restorePixKey(context, { accountId, key: '+5511', version: '1' }),
};

const sessionCases: Cases = {
  readPrincipal: (context, { token }) => sessions.readPrincipal(context, token),
  renewSession: async (context, { userId }) => {
    const [user] = await context.db.query<{ password_hash: string }>(
      { name: '', text: 'select password_hash from users where id = $1' },
      [userId],
    );
    return sessions.renewSession(context, {
      newId: randomUUID(),
      userId,
      sealedToken: Buffer.from('renewed'),
      tokenExpiresAt: null,
      passwordHash: user?.password_hash ?? '',
      addressDigest: Buffer.from('address'),
      identity: 'identity',
      address: null,
    });
  },
  endSession: (context, { token }) =>
    sessions.endSession(context, { ...token, sessionId: randomUUID() }),
  identifiesDevice: (context, { token }) => sessions.identifiesDevice(context, token),
  voidSessions: (context, { otherUserId }) => sessions.voidSessions(context, otherUserId),
  expireSession: (context, { token: { sessionId } }) =>
    sessions.expireSession(context, { sessionId, sealedToken: Buffer.from('another') }),
  readSealedToken: (context, { token }) => sessions.readSealedToken(context, token.sessionId),
  listActiveSessions: (context, { userId }) =>
    sessions.listActiveSessions(context, { user: userId, limit: 2 }),
  endActiveSession: (context, { otherUserId }) =>
    sessions.endActiveSession(context, { user: otherUserId }),
};

const newApplication: Case = (context, { userId }) =>
  applications.insertApplication(context, {
    ...newProgress(),
    ...emptyContent,
    id: randomUUID(),
    applicant: { id: userId, name: '', email: '', document: '', phone: '' },
    personType: 'PF',
    address: null,
  });

const applicationCases: Cases = {
  findApplicationByUser: (context, { otherUserId }) =>
    applications.findApplicationByUser(context, otherUserId),
  findRecentApplication: (context, { applicationId, now }) =>
    applications.findRecentApplication(context, applicationId, now),
  lockApplication: (context, { applicationId }) =>
    inTransaction(context, (transaction) =>
      applications.lockApplication(transaction, applicationId),
    ),
  updateApplication: (context, { applicationId }) =>
    inTransaction(context, async (transaction) => {
      const locked = await applications.lockApplication(transaction, applicationId);
      if (!locked) return null;
      await applications.updateApplication(transaction, { ...locked, agency: '0009' });
      return locked;
    }),
  insertApplication: newApplication,
  releaseEmail: (context, { email, now: registeredBefore }) =>
    applications.releaseEmail(context, { email, registeredBefore }),
};

const documentCases: Cases = {
  findStoredDocuments: (context, { applicationId }) =>
    documents.findStoredDocuments(context, applicationId),
  isStored: (context, { documentId }) => documents.isStored(context, documentId),
  findDocumentTypes: (context, { applicationId }) =>
    documents.findDocumentTypes(context, applicationId),
  insertReceiving: (context, { applicationId }) =>
    documents.insertReceiving(context, { id: randomUUID(), applicationId }),
  findUploads: (context, { applicationId }) =>
    documents.findUploads(context, applicationId, new Date(0)),
  findReceived: (context, { applicationId }) => documents.findReceived(context, applicationId),
  markStored: (context, { documentId: id }) => {
    const content = { tipoDocumento: 1, contentType: 'image/png', sizeBytes: 1 } as const;
    return documents.markStored(context, {
      ...content,
      id,
      chunkCount: 1,
      contentHash: Buffer.from(''),
    });
  },
  insertChunk: (context, { documentId }) =>
    documents.insertChunk(context, { documentId, place: 0 }, Buffer.from('sealed')),
  findChunk: (context, { documentId }) => documents.findChunk(context, { documentId, place: 0 }),
  markForwarded: (context, { documentId }) => documents.markForwarded(context, documentId),
  dropStoredOfType: (context, { applicationId }) =>
    documents.dropStoredOfType(context, { applicationId, tipoDocumento: 1 }),
  dropReceiving: (context, { documentId }) => documents.dropReceiving(context, documentId),
  dropStored: (context, { documentId }) => documents.dropStored(context, documentId),
};

const event = { kind: 'login', email: 'a@example.com', clientAddress: null } as const;

/** The cases of each module, by its path in `src`. */
export const customerCases: Readonly<Record<string, Cases>> = {
  'auth/user-repository.ts': userCases,
  'accounts/account-repository.ts': accountCases,
  'accounts/pix-key-repository.ts': pixKeyCases,
  'auth/session-repository.ts': sessionCases,
  'auth/security-event-repository.ts': {
    findSecurityEvents: (context, { userId }) =>
      securityEvents.findSecurityEvents(context, { userId, limit: 5 }),
    recordSecurityEvent: (context, { userId }) =>
      securityEvents.recordSecurityEvent(context, { ...event, userId }),
    countRefusedLogin: (context, { userId }) =>
      securityEvents.countRefusedLogin(context, { ...event, userId }),
    noteSecurityEvent: (context, { userId }) =>
      securityEvents.noteSecurityEvent(context, { ...event, userId }),
  },
  'auth/look-up-bucket-repository.ts': {
    takeLookUp: (context, { userId }) => bucket.takeLookUp(context, userId),
    takeMissing: (context, { userId }) => bucket.takeMissing(context, userId, 19),
    takeLookUpOfSend: (context, { token }) =>
      bucket.takeLookUpOfSend(context, token, { idempotencyKey: 'new', pixKey: 'x@example.com' }),
    giveLookUpBack: (context, { userId }) => bucket.giveLookUpBack(context, userId),
  },
  'auth/throttle-repository.ts': {
    countAttempts: (context) =>
      throttles.countAttempts(context, [{ key: 'counted', weight: 2, windowMs: 60_000 }]),
    openWindows: (context) => throttles.openWindows(context, ['counted']),
  },
  'onboarding/document-repository.ts': documentCases,
  'onboarding/application-repository.ts': applicationCases,
};
