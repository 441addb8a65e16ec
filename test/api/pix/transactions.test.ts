/** The steps that have a statement of their own result in the same as the general move. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { PixPhase, PixStatus } from '../../../src/domain/pix.ts';
import { moveTransaction, type Move } from '../../../src/ledger/move-repository.ts';
import { acceptPayment, beginPaying } from '../../../src/ledger/payment-repository.ts';
import {
  claimUntil,
  processed,
  type PixTransaction,
  type ProcessedRow,
} from '../../../src/ledger/pix-transaction-repository.ts';
import { startSettlingApp } from '../jobs/settling.ts';
import { reserveSend } from '../jobs/transactions.ts';
import { losingOneResponse } from '../../support/lost-response.ts';

const app = await startSettlingApp();
const { context, rows } = app;

/** The phases of a send, and its status in them. */
const phases: readonly (readonly [PixPhase, PixStatus])[] = [
  ['RESERVED', 'PROCESSING'],
  ['RESOLVED', 'PROCESSING'],
  ['PAYING', 'PROCESSING'],
  ['UNKNOWN', 'PROCESSING'],
  ['ACCEPTED', 'PROCESSING'],
  ['SETTLED', 'COMPLETED'],
  ['REJECTED', 'FAILED'],
];

async function givenSendIn(phase: PixPhase, status: PixStatus): Promise<PixTransaction> {
  const { id } = await reserveSend(app, randomUUID());
  const [send] = await rows<ProcessedRow>(
    `update pix_transactions
        set phase = $2, status = $3, settled_at = $4, claimed_until = created_at,
            end_to_end = case when $2 <> 'RESERVED' then 'E-before-' || id end,
            outcome = case when $2 = 'UNKNOWN' then 'unknown' end
      where id = $1 returning ${processed.select()}`,
    [id, phase, status, status === 'PROCESSING' ? null : app.clock.now()],
  );
  assert.ok(send);
  return send;
}

/** All that is stored of a send, without its ids. */
async function readRow({ id, idempotencyKey: key }: PixTransaction): Promise<unknown> {
  const [row] = await rows<{ stored: string }>(
    `select (to_jsonb(t) - '{id,created_at}'::text[])::text as stored from pix_transactions t
      where id = $1`,
    [id],
  );
  const text = row?.stored.replaceAll(id, 'ID').replaceAll(key ?? '', 'KEY');
  return { row: text, timeline: await app.timeline(id) };
}

type Step = (send: PixTransaction) => Promise<PixTransaction | null>;

async function readStored(id: string): Promise<PixTransaction> {
  const [row] = await rows<ProcessedRow>(
    `select ${processed.select()} from pix_transactions where id = $1`,
    [id],
  );
  assert.ok(row);
  return row;
}

/** Takes a step from a phase. @returns whether it is taken, and what is stored. */
async function takenFrom([phase, status]: (typeof phases)[number], step: Step) {
  const send = await givenSendIn(phase, status);
  const response = await step(send);
  if (response) {
    assert.partialDeepStrictEqual(response, await readStored(send.id), 'the result is the row');
  }
  return { isTaken: response !== null, ...((await readRow(send)) as object) };
}

/** Takes a step both ways from every phase: the results are equal. @returns where it is taken. */
async function takenBoth(narrow: Step, general: Step): Promise<boolean[]> {
  const taken: boolean[] = [];
  for (const phase of phases) {
    const result = await takenFrom(phase, narrow);
    assert.deepEqual(result, await takenFrom(phase, general), phase.join(' '));
    taken.push(result.isTaken);
  }
  return taken;
}

const moves =
  (move: (send: PixTransaction) => Move): Step =>
  (send) =>
    moveTransaction(context, send.id, move(send));

const begin = (send: PixTransaction, endToEnd: string, service = context) =>
  beginPaying(service, send, { endToEnd, at: context.clock.now() });

test('a step to PAYING', async () => {
  const toEndToEnd = (send: PixTransaction) => send.endToEnd ?? `E-${send.id}`;
  const narrow: Step = (send) => begin(send, toEndToEnd(send));
  const general = moves((send) => ({
    from: ['RESERVED', 'RESOLVED'],
    to: 'PAYING',
    status: 'PROCESSING',
    endToEnd: toEndToEnd(send),
    claimedUntil: claimUntil(context),
    timeline: [
      ...(send.phase === 'RESERVED' ? [{ phase: 'RESOLVED' as const }] : []),
      { phase: 'PAYING', attempt: 1 },
    ],
  }));
  assert.deepEqual(await takenBoth(narrow, general), [
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test('a send that has another end-to-end id by now takes no step', async () => {
  const other = { endToEnd: 'E-other' };
  const resolved = await givenSendIn('RESOLVED', 'PROCESSING');
  assert.equal(await begin(resolved, other.endToEnd), null);
  const paying = { ...(await givenSendIn('PAYING', 'PROCESSING')), endToEnd: other.endToEnd };
  assert.equal(await acceptPayment(context, paying, { providerTxid: null, attempt: 1 }), null);
  const failed = { from: ['PAYING'], to: 'SETTLED', status: 'FAILED', timeline: [] } as const;
  assert.equal(await moveTransaction(context, paying.id, { ...failed, ...other }), null);
  assert.equal((await app.stored(paying.id)).phase, 'PAYING');
});

test('a payment that the provider accepts', async () => {
  for (const providerTxid of [null, 'T-of-the-provider']) {
    const narrow: Step = (send) => acceptPayment(context, send, { providerTxid, attempt: 2 });
    const general = moves(() => ({
      from: ['PAYING', 'UNKNOWN'],
      to: 'ACCEPTED',
      status: 'PROCESSING',
      outcome: 'accepted',
      providerTxid,
      timeline: [{ phase: 'ACCEPTED', providerStatus: '2xx', attempt: 2 }],
    }));
    assert.deepEqual(await takenBoth(narrow, general), [
      false,
      false,
      true,
      true,
      false,
      false,
      false,
    ]);
  }
});

test('of several processes that take one step of a send at once, one takes it', async () => {
  const reserved = await givenSendIn('RESERVED', 'PROCESSING');
  const atOnce = async (step: (nth: number) => ReturnType<Step>) => {
    const responses = await Promise.all([1, 2, 3].map(step));
    const [taken, ...others] = responses.filter((response) => response !== null);
    assert.ok(taken && others.length === 0, `${others.length + 1} have taken it`);
    return taken;
  };
  const paying = await atOnce((nth) => begin(reserved, `E-${nth}-${reserved.id}`));
  await atOnce((nth) => acceptPayment(context, paying, { providerTxid: `T-${nth}`, attempt: 1 }));
  assert.equal((await readStored(reserved.id)).endToEnd, paying.endToEnd);
  const steps = ['RESERVED', 'RESOLVED', 'PAYING 1', 'ACCEPTED 1 2xx'];
  assert.deepEqual(await app.timeline(reserved.id), steps);
});

for (const isCarriedOut of [true, false]) {
  const when = isCarriedOut ? 'after' : 'before';
  test(`a send begins to be paid once although the connection breaks ${when} the commit`, async () => {
    const reserved = await givenSendIn('RESERVED', 'PROCESSING');
    const endToEnd = `E-${reserved.id}`;
    const service = losingOneResponse(context, { isCarriedOut });
    const paying = await begin(reserved, endToEnd, service);
    assert.deepEqual([paying?.phase, paying?.endToEnd], ['PAYING', endToEnd]);
    assert.deepEqual(await app.timeline(reserved.id), ['RESERVED', 'RESOLVED', 'PAYING 1']);
  });
}

test('a step of another process is not mistaken for one whose result was lost', async () => {
  const reserved = await givenSendIn('RESERVED', 'PROCESSING');
  assert.ok(await begin(reserved, `E-foreign-${reserved.id}`));
  const service = losingOneResponse(context);
  assert.equal(await begin(reserved, `E-own-${reserved.id}`, service), null);

  // Every process that resumes a send has its end-to-end id from the row.
  const resolved = await givenSendIn('RESOLVED', 'PROCESSING');
  const endToEnd = String(resolved.endToEnd);
  assert.ok(await begin(resolved, endToEnd));
  assert.equal(await begin(resolved, endToEnd, losingOneResponse(context)), null);
});
