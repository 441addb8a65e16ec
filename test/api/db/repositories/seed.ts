/** The stored rows that the cases of repository functions are about. */
import { randomUUID } from 'node:crypto';
import type { Context } from '../../../../src/context/context.ts';
import type { VerifiedToken } from '../../../../src/process/access-tokens.ts';
import type { TestApp } from '../../../support/app.ts';
import { givenUser } from '../../../support/factories.ts';
import { insert, insertGood, receivedColumns } from '../rows.ts';

export interface Seed {
  readonly app: TestApp;
  readonly userId: number;
  readonly email: string;
  readonly otherUserId: number;
  readonly accountId: number;
  readonly token: VerifiedToken;
  readonly sendId: string;
  readonly payingId: string;
  readonly unknownId: string;
  readonly paidId: string;
  readonly failedId: string;
  readonly receivedId: string;
  readonly chargeId: string;
  readonly eventId: string;
  readonly jobId: string;
  readonly deadJobId: string;
  readonly applicationId: string;
  readonly documentId: string;
  readonly now: Date;
}

/** What is done with a repository function. */
export type Case = (context: Context, seed: Seed) => Promise<unknown>;

/** The cases of a module, by the names of its functions. */
export type Cases = Readonly<Record<string, Case>>;

export const endToEnd = (nth: number): string => `E1116575620260524120000000000${nth}xyz`;

export const returnId = (nth: number): string => `D1116575620260524120000000000${nth}xyz`;

/** Inserts the rows. */
export async function givenRows(app: TestApp): Promise<Seed> {
  const now = app.clock.now();
  const dated = { created_at: now, updated_at: now };
  const { id: userId, email } = await givenUser(app, { document: '52998224725' });
  const { id: otherUserId } = await givenUser(app, { document: '11144477735' });
  const account = { agency: '0001', account_number: '12345', ...dated };
  const accountId = Number(
    await insertGood(app, 'accounts', { ...account, user_id: userId, document: '52998224725' }),
  );
  const sessionId = randomUUID();
  const session = { id: sessionId, user_id: userId, created_at: now, renewed_at: now };
  await insertGood(app, 'banking_sessions', session);
  const transaction = async (changes: Readonly<Record<string, unknown>>): Promise<string> => {
    const row = { user_id: userId, pix_key: 'ana@example.com', ...dated, ...changes };
    const id = String(await insertGood(app, 'pix_transactions', row));
    await insert(app, 'pix_timeline', { transaction_id: id, phase: 'RESERVED', at: now });
    return id;
  };
  const open = (phase: string, nth: number) => ({ phase, end_to_end: endToEnd(nth) });
  const ended = { phase: 'SETTLED', settled_at: now };
  const eventId = String(await insertGood(app, 'webhook_events', { received_at: now }));
  const job = { created_at: now, run_at: now };
  const application = { id: randomUUID(), user_id: otherUserId, ...dated };
  const applicationId = String(await insertGood(app, 'onboarding_applications', application));
  const document = { application_id: applicationId, created_at: now, stored_at: now };
  await insertGood(app, 'security_events', { user_id: userId, at: now });
  await insertGood(app, 'app_events', { id: 'event-1', user_id: userId, at: now });
  await insertGood(app, 'reconciliations', { user_id: userId });
  await insertGood(app, 'reconciliation_differences', { user_id: userId, found_at: now });
  await insertGood(app, 'throttle_counters', {
    key: 'counted',
    expires_at: new Date(now.getTime() + 60_000),
  });
  const paidId = await transaction({ ...open('SETTLED', 3), ...ended, status: 'COMPLETED' });
  await insertGood(app, 'pix_disputes', {
    transaction_id: paidId,
    user_id: userId,
    requested_at: now,
    updated_at: now,
  });
  const received = { ...receivedColumns(now), amount: '20.00', end_to_end: endToEnd(6) };
  const receivedId = await transaction(received);
  await transaction({
    ...open('ACCEPTED', 1),
    operation: 'REFUND_OUT',
    pix_key: null,
    end_to_end: returnId(1),
    original_id: receivedId,
    amount: '2.00',
    outcome: 'accepted',
  });
  return {
    app,
    userId,
    email,
    otherUserId,
    accountId,
    token: { sessionId, userId, tokenId: 'token', expiresAt: now },
    sendId: await transaction({ phase: 'RESERVED' }),
    payingId: await transaction({
      ...open('PAYING', 1),
      claimed_until: new Date(now.getTime() + 60_000),
    }),
    unknownId: await transaction({ ...open('UNKNOWN', 2), outcome: 'unknown' }),
    paidId,
    failedId: await transaction({ ...open('SETTLED', 4), ...ended, status: 'FAILED' }),
    receivedId,
    chargeId: await transaction({
      operation: 'CHARGE',
      phase: 'ACCEPTED',
      qr_code: 'code',
      transaction_identification: 'a'.repeat(26),
      expires_at: now,
    }),
    eventId,
    jobId: String(await insertGood(app, 'jobs', job)),
    deadJobId: String(await insertGood(app, 'jobs', { ...job, status: 'dead', finished_at: now })),
    applicationId,
    documentId: String(await insertGood(app, 'onboarding_documents', document)),
    now,
  };
}
