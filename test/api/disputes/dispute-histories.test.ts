/**
 * Disputes under faults, in seeded histories: customers dispute, repeat and withdraw, and the bank
 * decides meanwhile. Calls to the bank are not sent, are refused, are executed and lose their
 * response, or take their process with them. After each step, nothing is stored that the bank's
 * books contradict.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeatDisputes } from '../../../src/disputes/repeat-disputes.ts';
import { notSent, timedOut } from '../../../src/provider/errors.ts';
import { Chance } from '../../simulation/chance.ts';
import { eventually } from '../../support/eventually.ts';
import { refusal, repeatJob, scam, startDisputeApp, type PaidSend } from './dispute-app.ts';

const histories = 15;
const steps = 12;

const app = await startDisputeApp();
const { provider } = app.context;

type Fault = 'none' | 'not sent' | 'refused' | 'lost' | 'the process dies';

/** Makes the calls about disputes fail; `lost` and a death of the process follow the execution. */
function withFault<Request, Response>(
  call: (request: Request) => Promise<Response>,
  next: () => Fault,
) {
  return async (request: Request): Promise<Response> => {
    const fault = next();
    if (fault === 'not sent') throw notSent('connect');
    if (fault === 'refused') throw refusal;
    const response = await call(request);
    if (fault === 'lost') throw timedOut('unknown', null);
    if (fault === 'the process dies') throw new Error('the process dies');
    return response;
  };
}

async function readStored({ id }: PaidSend): Promise<string | null> {
  const [row] = await app.rows<{ status: string }>(
    'select status from pix_disputes where transaction_id = $1',
    [id],
  );
  return row?.status ?? null;
}

/** What may be stored for what the bank has. */
const possible: Readonly<Record<string, readonly (string | null)[]>> = {
  none: [null, 'REQUESTED', 'REFUSED'],
  OPEN: ['REQUESTED', 'OPEN'],
  ACCEPTED: ['REQUESTED', 'OPEN', 'ACCEPTED'],
  REJECTED: ['REQUESTED', 'OPEN', 'REJECTED'],
  WITHDRAWN: ['REQUESTED', 'OPEN', 'WITHDRAWN'],
};

/** The bank may move on after its books are read, so what is stored is read before them. */
async function checkTruth(paid: PaidSend, trace: readonly string[]): Promise<void> {
  const stored = await readStored(paid);
  const { status = 'none' } = app.bank.state.disputes.get(paid.endToEnd) ?? {};
  assert.ok(possible[status]?.includes(stored), `${stored} of ${status}: ${trace.join(', ')}`);
  const { status: payment } = await app.stored(paid.id);
  assert.equal(payment, 'COMPLETED', trace.join(', '));
}

for (let seed = 1; seed <= histories; seed += 1) {
  test(`history ${seed}`, async (t) => {
    const chance = new Chance(seed);
    const paid = await app.pay('dispute-pending@ponte.test');
    let isFaulty = true;
    const next = (): Fault =>
      isFaulty
        ? chance.pick<Fault>(['none', 'none', 'not sent', 'refused', 'lost', 'the process dies'])
        : 'none';
    for (const method of ['openDispute', 'withdrawDispute', 'readDispute'] as const) {
      const call = provider[method].bind(provider) as (request: never) => Promise<never>;
      t.mock.method(provider, method, withFault(call, next));
    }
    const trace: string[] = [];
    const moves: Readonly<Record<string, () => Promise<unknown>>> = {
      open: () => app.open(paid),
      'open twice': () => Promise.all([app.open(paid), app.open(paid)]),
      'open otherwise': () => app.open(paid, { ...scam, situation: 'OTHER' }),
      withdraw: () => app.withdraw(paid),
      'open and withdraw': () => Promise.all([app.open(paid), app.withdraw(paid)]),
      job: () => repeatDisputes.run(app.context, repeatJob).catch(() => undefined),
      wait: () => app.clock.skip(chance.pick([1_000, 60_000, 600_000])),
      decide: async () => {
        if (app.bank.state.disputes.get(paid.endToEnd)?.status !== 'OPEN') return;
        await app.bank.decideDispute(paid.endToEnd, chance.pick(['ACCEPTED', 'REJECTED']));
      },
    };
    for (let step = 0; step < steps; step += 1) {
      const name = chance.pick(['open', 'open', ...Object.keys(moves)]);
      trace.push(name);
      await moves[name]?.();
      await checkTruth(paid, trace);
    }
    isFaulty = false;
    await eventually(
      async () => {
        await moves['wait']?.();
        await repeatDisputes.run(app.context, repeatJob);
        const stored = await readStored(paid);
        const current = app.bank.state.disputes.get(paid.endToEnd)?.status;
        if (current === undefined) return stored === null || stored === 'REFUSED';
        return stored === current;
      },
      `the end after ${trace.join(', ')}`,
    );
    t.mock.restoreAll();
  });
}
