/** In whatever order, how often and however much at once events come: the end is an allowed one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { phasesOfStatus, type PixPhase } from '../../../src/domain/pix.ts';
import { assertEnds, confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { stored } = app;

type Send = Awaited<ReturnType<typeof app.givenSend>>;

/** What a provider may say of one payment: the truth, its contrary, and what moves nothing. */
const payloads = {
  completed: ({ end_to_end: endToEnd }) => confirmed({ endToEnd, amount: 10.5 }),
  completedById: ({ provider_txid: id }) => confirmed({ id, status: 'PAID', amount: 10.5 }),
  failed: ({ end_to_end: endToEnd }) => confirmed({ endToEnd, status: 'ERROR', amount: 10.5 }),
  underWay: ({ end_to_end: endToEnd }) => confirmed({ endToEnd, status: 'PROCESSING' }),
  wrongAmount: ({ end_to_end: endToEnd }) => confirmed({ endToEnd, amount: 10.51 }),
  wrongIds: ({ end_to_end: endToEnd }) => confirmed({ endToEnd, clientRequestId: 'wrong' }),
  unknownWord: ({ end_to_end: endToEnd }) => confirmed({ endToEnd, status: 'PERHAPS' }),
  reversed: ({ end_to_end: endToEnd }) => ({ event: 'REVERSAL', endToEnd, status: 'CONFIRMED' }),
} satisfies Record<string, (send: Send) => Record<string, unknown>>;

type Report = keyof typeof payloads;

const words = Object.keys(payloads) as Report[];

const ends: Partial<Record<Report, 'COMPLETED' | 'FAILED'>> = {
  completed: 'COMPLETED',
  completedById: 'COMPLETED',
  failed: 'FAILED',
};

/** The final status of an event; a failure has none while another attempt may be sent. */
function predictEnd(report: Report, phase: PixPhase): 'COMPLETED' | 'FAILED' | undefined {
  return report === 'failed' && phase === 'PAYING' ? undefined : ends[report];
}

const story = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 7 });

/** The phase in which the process that pays may stand while events come in. */
const openPhase = fc.constantFrom<PixPhase>('PAYING', 'ACCEPTED', 'UNKNOWN');

async function sendIn(phase: PixPhase): Promise<Send> {
  const send = await app.givenSend();
  await app.rows('update pix_transactions set phase = $2 where id = $1', [send.id, phase]);
  return send;
}

/** Every telling has other bytes: what is deduplicated is not settled a second time. */
const makePayload = (send: Send, report: Report, nth: number) => ({
  ...payloads[report](send),
  nth,
});

async function isAllowed({ id }: Send): Promise<void> {
  const { status, phase } = await stored(id);
  assert.ok(phasesOfStatus[status].includes(phase), `${status} in ${phase}`);
  assertEnds(await app.timeline(id), status);
}

/** Tells stories of transactions side by side, to spare time: each on a transaction of its own. */
async function tellAll(
  numRuns: number,
  tell: (phase: PixPhase, reports: readonly Report[]) => Promise<void>,
): Promise<void> {
  const stories = fc.array(fc.tuple(openPhase, story), { minLength: 5, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(stories, async (all) => {
      await Promise.all(all.map(([phase, reports]) => tell(phase, reports)));
    }),
    { numRuns },
  );
}

test('one after another: the first final status counts until a failure is corrected, and each contrary one is an anomaly', async () => {
  await tellAll(4, async (phase, reports) => {
    const send = await sendIn(phase);
    let end: string | undefined;
    for (const [nth, report] of reports.entries()) {
      const outcome = results(await app.receive(makePayload(send, report, nth)))[0];
      const word = end === undefined ? predictEnd(report, phase) : ends[report];
      if (word === undefined && report === 'failed') assert.equal(outcome, 'parked: still_paying');
      if (word !== undefined && end === undefined) assert.equal(outcome, 'applied');
      if (word !== undefined && end === word) assert.equal(outcome, 'already');
      // Only the end-to-end id with the amount proves that a failed send was paid.
      const corrects = report === 'completed' && end === 'FAILED';
      if (corrects) assert.equal(outcome, 'anomaly: corrected');
      else if (word !== undefined && end !== undefined && end !== word) {
        assert.equal(outcome, 'anomaly: contradicts_final_status');
      }
      if (report === 'wrongAmount') assert.equal(outcome, 'anomaly: amount_mismatch');
      if (report === 'wrongIds') assert.equal(outcome, 'anomaly: ids_disagree');
      end = corrects ? word : (end ?? word);
      assert.equal((await stored(send.id)).status, end ?? 'PROCESSING');
    }
    await isAllowed(send);
  });
});

test('at once: the final status is a reported one, reached once, and the proof of a payment wins', async () => {
  await tellAll(3, async (phase, reports) => {
    const send = await sendIn(phase);
    const events = [];
    for (const [nth, report] of reports.entries()) {
      events.push(await app.deliver(makePayload(send, report, nth)));
    }
    const settled = await Promise.all(events.map((eventId) => app.settle(eventId)));
    const applied = settled.filter((one) => results(one)[0] === 'applied');
    const possible = reports
      .map((report) => predictEnd(report, phase))
      .filter((end) => end !== undefined);
    const { status } = await stored(send.id);
    assert.equal(applied.length, possible.length > 0 ? 1 : 0);
    assert.ok(
      possible.length > 0 ? possible.some((end) => end === status) : status === 'PROCESSING',
    );
    if (reports.includes('completed')) assert.equal(status, 'COMPLETED', reports.join());
    await isAllowed(send);
  });
});

test('in one batch: what is completed counts, and a contradicted failure ends nothing', async () => {
  await tellAll(3, async (phase, reports) => {
    const send = await sendIn(phase);
    await app.receive(reports.map((report, nth) => makePayload(send, report, nth)));
    const has = (...some: Report[]) => some.some((report) => reports.includes(report));
    const mayFail = phase !== 'PAYING' && !has('wrongAmount', 'wrongIds');
    const failed = has('failed') && mayFail ? 'FAILED' : 'PROCESSING';
    const end = has('completed', 'completedById') ? 'COMPLETED' : failed;
    assert.equal((await stored(send.id)).status, end, reports.join());
    await isAllowed(send);
  });
});
