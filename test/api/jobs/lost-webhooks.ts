/** A day at the simulated bank whose webhooks never arrive. */
import assert from 'node:assert/strict';
import { moveTransaction } from '../../../src/ledger/move-repository.ts';
import { webhookTexts } from '../../../src/provider/sandbox/bank/webhooks.ts';
import type { PixApp, StoredPix } from '../pix/pix-app.ts';
import { givenUser, logIn, type TestUser } from '../../support/factories.ts';

/** The customer whose webhooks the bank loses. */
export const unheard = 'unheard@ponte.test';

/** Creates the customer of {@link unheard}. */
export async function givenUnheard(app: PixApp): Promise<TestUser> {
  const user = await givenUser(app, { email: unheard });
  return { ...user, token: await logIn(app, unheard) };
}

export interface LostDay {
  /** Accepted; the bank has completed it. */
  readonly completed: StoredPix;
  /** Accepted; the bank has failed it. */
  readonly failed: StoredPix;
  /** Accepted; the bank has completed it, and half came back. */
  readonly returned: StoredPix;
  /** Stored as FAILED; the bank has completed it. */
  readonly paidAfterAll: StoredPix;
  /** The end-to-end id of the payment of the charge. */
  readonly charge: StoredPix & { readonly paidBy: string };
  /** The end-to-end id of a received Pix, a part of which went back. */
  readonly received: string;
}

/** Lets everything happen to a customer that a webhook reports. */
export async function loseADay(app: PixApp, user: TestUser): Promise<LostDay> {
  const { bank } = app;
  const send = async (amount: number, key = 'ana@example.com'): Promise<StoredPix> => {
    const response = await app.throughTime(app.send(user, { pix_key: key, amount }));
    assert.equal(response.status, 200, JSON.stringify(response.body));
    return app.stored(response.body.transaction_id);
  };
  const completed = await send(11);
  const failed = await send(12, 'fail@ponte.test');
  const returned = await send(14);
  const paidAfterAll = await send(13, 'lost@ponte.test');
  for (const one of [completed, failed, returned]) await bank.settle(one.end_to_end ?? '');
  await fail(app, paidAfterAll);
  await bank.refund(returned.end_to_end ?? '', 700);
  const charged = await app.charge(user, { type: 'dynamic', amount: 15, expiration_qr: 7200 });
  const charge = await app.stored(charged.body.transaction_id);
  const paid = await bank.payCharge(charge.transaction_identification ?? '');
  const received = await bank.receive(unheard, 4_250);
  assert.ok(paid.outcome === 'done' && received.outcome === 'done');
  await bank.refund(received.value.endToEnd, 250);
  await bank.idle();
  const stored = { ...charge, paidBy: paid.value.endToEnd };
  return {
    completed,
    failed,
    returned,
    paidAfterAll,
    charge: stored,
    received: received.value.endToEnd,
  };
}

/** Stores a failure that is not true. */
async function fail({ context }: PixApp, { id }: StoredPix): Promise<void> {
  await moveTransaction(context, id, {
    from: ['UNKNOWN'],
    to: 'SETTLED',
    status: 'FAILED',
    outcome: 'rejected',
    failureCode: 'AC03',
    timeline: [{ phase: 'SETTLED', note: 'FAILED' }],
  });
}

/** The webhooks of a movement, which the bank has lost. */
export function lostWebhooks({ bank }: Pick<PixApp, 'bank'>, id: string): unknown[] {
  const transfer = bank.state.transfers.values().find(({ endToEnd }) => endToEnd === id);
  assert.ok(transfer, 'the bank knows the movement');
  return webhookTexts(transfer).map((text) => JSON.parse(text));
}

/** The ids of the refunds that the bank has made of a movement. */
export function listRefunds({ bank }: Pick<PixApp, 'bank'>, endToEnd: string): string[] {
  const transfers = [...bank.state.transfers.values()];
  return transfers.flatMap((one) =>
    one.row === 'refund' && one.originalEndToEnd === endToEnd ? [one.endToEnd] : [],
  );
}
