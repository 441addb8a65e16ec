/** The service as the tests of returns use it: what a customer has received, and its returns. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestAppOptions, TestRequest, TestResponse } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestUser } from '../../support/factories.ts';
import { startPixApp, type PixApp } from './pix-app.ts';

/** A Pix that a customer has received. */
export interface ReceivedPix {
  readonly id: string;
  readonly endToEnd: string;
}

export interface ReturnSums {
  readonly refunded: string | null;
  readonly refunding: string | null;
}

export interface ReturnApp extends PixApp {
  /** Requests a return. */
  giveBack(
    user: TestUser,
    id: string,
    amount: number,
    request?: TestRequest & { readonly reason?: string },
  ): Promise<TestResponse>;
  givenReceived(user: TestUser, amountCents?: number): Promise<ReceivedPix>;
  /** The sums that are stored with a received Pix. */
  sums(id: string): Promise<ReturnSums>;
  /** The returns that the bank has executed, as `[returnId, amount]`, oldest first. */
  returned(endToEnd: string): (readonly [string, number])[];
}

type GiveBack = Parameters<ReturnApp['giveBack']>;

export async function startReturnApp(options: TestAppOptions = {}): Promise<ReturnApp> {
  return withReturns(await startPixApp(options));
}

/** @param settleAll settles the delivered events where no job does. */
export function withReturns<App extends PixApp>(
  app: App,
  settleAll: () => Promise<void> = () => Promise.resolve(),
): App & ReturnApp {
  return {
    ...app,
    giveBack(...[{ token }, id, amount, { reason = 'OTHER', ...request } = {}]: GiveBack) {
      const body = { amount, reason };
      return app.call(`/pix/${id}/refund`, { token, key: randomUUID(), body, ...request });
    },
    async givenReceived({ id, email }, amountCents = 2_000) {
      const received = await app.bank.receive(email, amountCents);
      assert.ok(received.outcome === 'done', JSON.stringify(received));
      const { endToEnd } = received.value;
      await settleAll();
      const find = () =>
        app.rows<{ id: string }>(
          `select id from pix_transactions where user_id = $1 and end_to_end = $2`,
          [id, endToEnd],
        );
      const row = await eventually(async () => (await find())[0], 'the Pix is recorded');
      return { id: row.id, endToEnd };
    },
    async sums(id) {
      const [row] = await app.rows<ReturnSums>(
        `select refunded_amount as refunded, refunding_amount as refunding
           from pix_transactions where id = $1`,
        [id],
      );
      assert.ok(row);
      return row;
    },
    returned(endToEnd) {
      return [...app.bank.state.transfers.values()].flatMap((one) =>
        one.row === 'refund' && one.originalEndToEnd === endToEnd && one.ordered?.refusal === null
          ? [[one.endToEnd, one.amountCents / 100] as const]
          : [],
      );
    },
  };
}
