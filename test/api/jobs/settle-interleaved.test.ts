/**
 * A transaction and the events about it in any order, any number of times, while the real queue
 * settles what comes: within two seconds everything that can be settled is, and rightly.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { newTransactionIdentification, phasesOfStatus } from '../../../src/domain/pix.ts';
import { EventQueue } from '../../../src/settlement/event-queue.ts';
import { receiveEvent } from '../../../src/settlement/receive-provider-webhook.ts';
import { watched } from './loops.ts';
import { assertEnds, confirmed, startSettlingApp } from './settling.ts';
import { reserveCharge, reserveSend } from './transactions.ts';

const app = await startSettlingApp();
const process = watched(app);
const queue = new EventQueue({ context: process.context });
await queue.start();
after(() => queue.stop());

beforeEach(async () => {
  await app.rows('delete from webhook_queue');
  await app.rows('delete from webhook_events');
});

/** The ids of one transaction of a case. */
interface Ids {
  readonly key: string;
  readonly endToEnd: string;
  readonly txid: string;
  readonly provider: string;
}

const sendPayloads: Payloads = {
  completed: ({ endToEnd }: Ids) => confirmed({ endToEnd, amount: 10.5 }),
  completedByKey: ({ key }: Ids) => confirmed({ clientRequestId: key, amount: 10.5 }),
  completedByProvider: ({ provider }: Ids) => confirmed({ id: provider, amount: 10.5 }),
  completedByAll: ({ endToEnd, key, provider }: Ids) =>
    confirmed({ endToEnd, clientCode: key, id: provider }),
  failed: ({ endToEnd, key }: Ids) => confirmed({ endToEnd, clientCode: key, status: 'ERROR' }),
  wrongAmount: ({ endToEnd }: Ids) => confirmed({ endToEnd, amount: 10.51 }),
  unknownWord: ({ endToEnd }: Ids) => confirmed({ endToEnd, status: 'PERHAPS' }),
};

const chargePayloads: Payloads = {
  paid: ({ txid, endToEnd }: Ids) => ({ event: 'PIX_RECEIVED', txid, endToEnd, amount: 10.5 }),
  paidAsStatic: ({ txid, endToEnd }: Ids) => ({
    pix: [{ txid: txid.slice(0, 25), endToEndId: endToEnd, valor: '10.50' }],
  }),
  paidByProvider: ({ provider, endToEnd }: Ids) => ({
    event: 'CHARGE_COMPLETED',
    id: provider,
    endToEnd,
    amount: 10.5,
  }),
  wrongAmount: ({ txid, endToEnd }: Ids) => ({
    event: 'PIX_RECEIVED',
    txid,
    endToEnd,
    amount: 1050,
  }),
  reversed: ({ endToEnd }: Ids) => ({ event: 'REVERSAL', endToEnd, status: 'CONFIRMED' }),
};

type Payloads = Record<string, (ids: Ids) => Record<string, unknown>>;

/** What happens in a case: the next step of the transaction, or an event. */
type Happening = 'step' | 'run' | Reported;

interface Reported {
  readonly report: string;
}

/** All steps of the transaction, and between them events in any order, each any number of times. */
function story(words: readonly string[], steps: number): fc.Arbitrary<Happening[]> {
  const delivered = fc
    .record({ report: fc.constantFrom(...words) })
    .map((reported): Happening => reported);
  const any = fc.array(
    fc.oneof({ weight: 5, arbitrary: delivered }, fc.constant<Happening>('run')),
    {
      maxLength: 3,
    },
  );
  return fc
    .array(any, { minLength: steps + 1, maxLength: steps + 1 })
    .map((parts) => parts.flatMap((part, nth) => (nth === 0 ? part : ['step' as const, ...part])));
}

interface Outcome {
  readonly report: string;
  readonly result: string;
  readonly reason?: string;
}

/** An event that has waited for as long as this is looked at once more. */
const secondLookMs = 2_000;

/** What happens to one transaction. */
interface Life {
  readonly happenings: readonly Happening[];
  readonly makePayload: (report: string) => Record<string, unknown>;
  readonly steps: readonly (() => Promise<unknown>)[];
}

/** Lets stories happen side by side. @returns what became of each telling, once all is at rest. */
async function liveAll(lives: readonly Life[]): Promise<Outcome[][]> {
  const delivered = await Promise.all(lives.map(live));
  await settleAll();
  // A statement of a step may have been under way over two looks at an event; the next finds it.
  await app.clock.advance(secondLookMs);
  await settleAll();
  return Promise.all(delivered.map(readOutcomes));
}

/** @returns the reports by the ids of their events. */
async function live({ happenings, makePayload, steps }: Life): Promise<Map<string, string>> {
  const delivered = new Map<string, string>();
  const left = [...steps];
  for (const happening of happenings) {
    if (happening === 'step') await left.shift()?.();
    else if (happening === 'run') await process.rest();
    else {
      delivered.set(await store(makePayload(happening.report)), happening.report);
    }
  }
  return delivered;
}

async function readOutcomes(delivered: ReadonlyMap<string, string>): Promise<Outcome[]> {
  const events = await app.rows<{ id: string; results: Outcome[] }>(
    'select id, results from webhook_events where id = any($1)',
    [[...delivered.keys()]],
  );
  return events.flatMap(({ id, results }) =>
    results.map(({ result, reason }) => ({
      report: delivered.get(id) ?? '',
      result,
      ...(reason !== undefined && { reason }),
    })),
  );
}

let stored = 0;

/** Every telling has other bytes. */
async function store(content: Record<string, unknown>): Promise<string> {
  stored += 1;
  const payload = Buffer.from(JSON.stringify({ ...content, nth: stored }));
  const { id } = await receiveEvent(app.context, { payload, content });
  return id;
}

/** Lets the queue settle until nothing is due any more, and no attempt runs. */
async function settleAll(): Promise<void> {
  for (;;) {
    queue.wake();
    await process.rest();
    const left = await app.rows('select from webhook_queue where due_at <= $1 or attempts > 0', [
      app.clock.now(),
    ]);
    if (left.length === 0) return;
  }
}

const newIds = (): Ids => ({
  key: randomUUID(),
  endToEnd: `E99999999202605241200${randomUUID().slice(0, 11)}`,
  txid: newTransactionIdentification(),
  provider: randomUUID(),
});

async function check(id: string, outcomes: readonly Outcome[]): Promise<void> {
  const { status, phase } = await app.stored(id);
  assert.ok(phasesOfStatus[status].includes(phase), `${status} in ${phase}`);
  const timeline = await app.timeline(id);
  assertEnds(timeline, status);
  assert.equal(timeline.includes('SETTLED corrected event'), isCorrected(outcomes));
  const noted = timeline.filter((line) => line.startsWith('ANOMALY'));
  const anomalies = outcomes.filter(({ result, reason }) => {
    return result === 'anomaly' && reason !== 'corrected';
  });
  assert.equal(noted.length, anomalies.length);
  const applied = outcomes.filter(({ result }) => result === 'applied');
  assert.equal(applied.length, status === 'PROCESSING' ? 0 : 1);
}

function isCorrected(outcomes: readonly Outcome[]): boolean {
  return outcomes.some(({ reason }) => reason === 'corrected');
}

/**
 * Stories that happen side by side, as each of them ends with a wait for rest. Bounded by their
 * number: a limit in time fails on a machine that is busy during the first.
 */
const bounded = { numRuns: 4 };
const sideBySide = { minLength: 5, maxLength: 5 };

/** What is stored of a send at the end of its story. */
interface End {
  readonly status: string;
  /** Whether a failure was corrected. */
  readonly isCorrected: boolean;
  /**
   * Whether the provider's id was stored: with its response, if the send was not settled before.
   */
  readonly knowsProvider: boolean;
}

/** The possible results of a report. */
function listExpected(report: string, end: End): readonly string[] {
  if (report === 'unknownWord') return ['ignored: unknown_status'];
  if (report === 'wrongAmount') return ['anomaly: amount_mismatch'];
  if (report === 'completedByProvider' && !end.knowsProvider) return ['parked: no_match'];
  const contrary = 'anomaly: contradicts_final_status';
  const reported = report.startsWith('completed') ? 'COMPLETED' : 'FAILED';
  // The end-to-end id with the amount is the proof that no failure withstands.
  if (report === 'completed' && end.status === 'FAILED') return [];
  if (!end.isCorrected) return reported === end.status ? ['applied', 'already'] : [contrary];
  if (reported === 'FAILED') return ['applied', 'already', contrary];
  return [report === 'completed' ? 'anomaly: corrected' : contrary, 'already'];
}

const shown = ({ result, reason }: Outcome) => (reason ? `${result}: ${reason}` : result);

function newSend() {
  const ids = newIds();
  const send = Promise.withResolvers<Awaited<ReturnType<typeof reserveSend>>>();
  const steps = [
    async () => send.resolve(await reserveSend(app, ids.key)),
    async () => (await send.promise).pay(ids.endToEnd),
    async () => (await send.promise).accept(ids.provider),
  ];
  const makePayload = (report: string) => sendPayloads[report]?.(ids) ?? {};
  return { ids, steps, makePayload, id: async () => (await send.promise).id };
}

test('a send: the first settled final status counts until it is corrected, each contrary one is an anomaly', async (t) => {
  let cases = 0;
  const stories = fc.array(story(Object.keys(sendPayloads), 3), sideBySide);
  await fc.assert(
    fc.asyncProperty(stories, async (all) => {
      const sends = all.map((happenings) => ({ happenings, ...newSend() }));
      const outcomesOfAll = await liveAll(sends);
      for (const [nth, { ids, id }] of sends.entries()) {
        const outcomes = outcomesOfAll[nth] ?? [];
        const row = await app.stored(await id());
        const end = {
          status: row.status,
          isCorrected: isCorrected(outcomes),
          knowsProvider: row.provider_txid === ids.provider,
        };
        for (const outcome of outcomes) {
          const { report } = outcome;
          const expected = listExpected(report, end);
          assert.ok(expected.includes(shown(outcome)), `${report} resulted in ${shown(outcome)}`);
        }
        const ends = outcomes.filter(({ result }) => result === 'applied');
        assert.equal(ends.length > 0, row.status !== 'PROCESSING');
        await check(row.id, outcomes);
        cases += 1;
      }
    }),
    bounded,
  );
  t.diagnostic(`${cases} cases`);
});

/** The results of reports on a charge that are not its payment. */
const unlikePayments: Readonly<Record<string, readonly string[]>> = {
  reversed: ['ignored: reversal'],
  wrongAmount: ['anomaly: amount_mismatch'],
};

function newCharge() {
  const ids = newIds();
  const charge = Promise.withResolvers<Awaited<ReturnType<typeof reserveCharge>>>();
  const steps = [
    async () => charge.resolve(await reserveCharge(app, ids.txid)),
    async () => (await charge.promise).accept(ids.provider),
  ];
  const makePayload = (report: string) => chargePayloads[report]?.(ids) ?? {};
  return { ids, steps, makePayload, id: async () => (await charge.promise).id };
}

test('a charge: however its one payment is reported, it is completed once', async (t) => {
  let cases = 0;
  const stories = fc.array(story(Object.keys(chargePayloads), 2), sideBySide);
  await fc.assert(
    fc.asyncProperty(stories, async (all) => {
      const charges = all.map((happenings) => ({ happenings, ...newCharge() }));
      const outcomesOfAll = await liveAll(charges);
      for (const [nth, { ids, id }] of charges.entries()) {
        const outcomes = outcomesOfAll[nth] ?? [];
        const row = await app.stored(await id());
        for (const outcome of outcomes) {
          const { report } = outcome;
          const expected = unlikePayments[report] ?? ['applied', 'already'];
          assert.ok(expected.includes(shown(outcome)), `${report} resulted in ${shown(outcome)}`);
        }
        const isPaid = outcomes.some(({ report }) => report.startsWith('paid'));
        assert.deepEqual(
          [row.status, row.end_to_end],
          isPaid ? ['COMPLETED', ids.endToEnd] : ['PROCESSING', null],
        );
        await check(row.id, outcomes);
        cases += 1;
      }
    }),
    bounded,
  );
  t.diagnostic(`${cases} cases`);
});
