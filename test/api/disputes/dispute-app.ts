/** The service as the tests of disputes use it: paid sends, and requests about them. */
import assert from 'node:assert/strict';
import { ProviderError } from '../../../src/provider/errors.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import type { TestAppOptions, TestResponse } from '../../support/app.ts';
import { startPixApp, type PixApp } from '../pix/pix-app.ts';

/** A completed send. */
export interface PaidSend {
  readonly user: TestUser;
  readonly id: string;
  readonly endToEnd: string;
}

export interface DisputeApp extends PixApp {
  /** A customer pays, and the payment is completed. */
  pay(pixKey?: string): Promise<PaidSend>;
  open(paid: Pick<PaidSend, 'user' | 'id'>, body?: unknown): Promise<TestResponse>;
  show(paid: Pick<PaidSend, 'user' | 'id'>): Promise<TestResponse>;
  withdraw(paid: Pick<PaidSend, 'user' | 'id'>): Promise<TestResponse>;
}

export const scam = { situation: 'SCAM', details: 'The seller does not exist.' };

/** The bank refuses a call about a dispute. */
export const refusal = new ProviderError({
  outcome: 'rejected',
  code: 'PROVIDER_REJECTED',
  statusClass: '4xx',
});

/** A run of the job that repeats calls. */
export const repeatJob = {
  id: '0',
  kind: 'repeat-disputes',
  payload: {},
  attempt: 1,
  worker: 'test',
} as const;

/** Starts the service of a test file. */
export async function startDisputeApp(options: TestAppOptions = {}): Promise<DisputeApp> {
  const app = await startPixApp(options);
  const path = (id: string): string => `/pix/${id}/dispute`;
  return {
    ...app,
    async pay(pixKey = 'bruno@example.com') {
      const user = await givenCustomer(app);
      const sent = await app.send(user, { pix_key: pixKey, amount: 100.5 });
      assert.equal(sent.status, 200, JSON.stringify(sent.body));
      const { transaction_id: id, end_to_end: endToEnd } = sent.body;
      await app.bank.settle(endToEnd);
      await app.settled(id);
      return { user, id, endToEnd };
    },
    open: ({ user, id }, body = scam) => app.call(path(id), { token: user.token, body }),
    show: ({ user, id }) => app.call(path(id), { token: user.token }),
    withdraw: ({ user, id }) => app.call(path(id), { token: user.token, method: 'DELETE' }),
  };
}
