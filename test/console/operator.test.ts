/** What an operator sees at the console, of a command that prints what `ponte` prints. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operate } from '../../console/model/desk.ts';
import { openScreen, type Screen } from './screen.ts';

const eventId = '01a1fc38-fc2d-7eba-936b-45241b905603';
const paymentId = '01a1fc38-f5e5-7517-8ecb-a7d299a5dbba';
const at = '2026-11-21T03:49:13.829Z';

const event = {
  ...{ id: eventId, state: 'parked', receivedAt: at, processedAt: at, payloadBytes: 104 },
  outcomes: { parked: 1 },
};
const item = { index: 0, result: 'parked', reason: 'no_match' };
const payment = {
  ...{ id: paymentId, userId: 7, operation: 'SEND', status: 'PROCESSING', phase: 'UNKNOWN' },
  ...{ amount: '77.70', endToEnd: 'E11165756202611210349AZI8BYWKo82', createdAt: at },
};

const printed: Readonly<Record<string, unknown>> = {
  'jobs stats': {
    counts: [
      { kind: 'sweep-pix', state: 'queued', jobs: 1, oldestAt: at, oldestAgeSeconds: 0, lapsed: 0 },
    ],
  },
  'jobs list --state dead': {
    jobs: [
      {
        ...{ id: '4711', kind: 'settle-webhook', state: 'dead', attempts: 8, finishedAt: at },
        lastError: 'TypeError',
      },
    ],
  },
  'jobs retry 4711 --yes': { retried: 1, superseded: 0, notDead: [], notFound: [] },
  'webhook list --state parked': { events: [event] },
  'webhook list --state orphaned': { events: [] },
  'webhook list --state anomaly': { events: [] },
  [`webhook show ${eventId}`]: {
    ...{ event, items: [item], waitsFor: ['E1'], jobs: [], payload: { status: 'CONFIRMED' } },
  },
  [`webhook replay ${eventId} --dry-run`]: {
    dryRun: true,
    events: [
      {
        ...{
          eventId,
          result: 'preview',
          from: 'parked',
          to: 'processed',
          outcomes: { applied: 1 },
        },
        items: [{ index: 0, result: 'applied', from: 'PROCESSING', to: 'COMPLETED' }],
      },
    ],
  },
  [`webhook replay ${eventId} --yes`]: {
    dryRun: false,
    events: [
      { eventId, result: 'replayed', from: 'parked', to: 'processed', outcomes: {}, items: [item] },
    ],
  },
  'pix list --stuck': { transactions: [payment] },
  [`pix show ${paymentId}`]: {
    transaction: payment,
    timeline: [{ at, phase: 'UNKNOWN', attempt: 3, providerStatus: 'timeout', note: null }],
    waitsFor: "The provider's word.",
    operator: 'Ask the provider.',
  },
};

/** Remembers what was asked, and answers it. */
function commandFor(asked: string[]): Operate {
  return async (words) => {
    const line = words.join(' ');
    asked.push(line);
    if (!(line in printed)) throw new Error(`ponte: nobody knows ${line}`);
    return printed[line];
  };
}

async function openOperator(asked: string[] = []): Promise<Screen> {
  const screen = await openScreen({ url: 'http://127.0.0.1:1', operate: commandFor(asked) });
  await screen.type('o');
  await screen.until('[queue]');
  return screen;
}

describe('the operator', () => {
  it('sees the queue, dead jobs, events and stuck payments as tables, times in UTC', async () => {
    const screen = await openOperator();
    await screen.until(/KIND +STATE +JOBS +OLDEST[^]*› sweep-pix +queued +1 +11-21 03:49Z/);
    await screen.press('right');
    await screen.until(/ID +KIND +ATTEMPTS +ENDED[^]*› 4711 +settle-webhook +8/);
    await screen.press('right');
    await screen.until(/ID +RECEIVED +LOOKED AT +ITEMS[^]*› …45241b905603 +11-21 03:49Z/);
    await screen.press('right');
    await screen.until('No event is orphaned.');
    await screen.press('right');
    await screen.until('No event is an anomaly.');
    await screen.press('right');
    await screen.until(
      /ID +MADE +AMOUNT +USER +PHASE[^]*› …a7d299a5dbba +11-21 03:49Z +77\.70 +7 +UNKNOWN/,
    );
    await screen.press('right');
    await screen.until('[queue]');
  });

  it('is told of a payment what it waits for, and what can be done', async () => {
    const screen = await openOperator();
    await screen.press('left');
    await screen.until('[stuck]');
    await screen.until(/› …a7d299a5dbba/);
    await screen.press('enter');
    await screen.until(/Waits for\n The provider's word\.[^]*You can\n Ask the provider\./);
    await screen.until(/Timeline\n 2026-11-21 03:49:13Z +UNKNOWN/);
    await screen.until('↓');
    await screen.press('pagedown', 'pagedown');
    await screen.until(/end to end +E1116575/);
    await screen.press('escape');
    await screen.until(/\[stuck\][^]*›/);
  });

  it('replays an event dry, and for good only after a look at it and a yes', async () => {
    const asked: string[] = [];
    const screen = await openOperator(asked);
    await screen.press('right', 'right');
    await screen.until(/› …45241b905603/);
    await screen.press('enter');
    await screen.until(/received at +2026-11-21 03:49:13Z[^]*item 0 +parked +no_match/);
    await screen.type('d');
    await screen.until('A replay would do this; nothing was changed.');
    await screen.until(
      /parked → processed; items: 1 applied\n item 0 +applied +PROCESSING → COMPL/,
    );
    await screen.type('w');
    await screen.until('Replay it for good? y: yes; any other key: no.');
    await screen.press('enter');
    await screen.until((text) => !text.includes('Replay it for good?'));
    assert.ok(!asked.includes(`webhook replay ${eventId} --yes`));
    await screen.type('w');
    await screen.until('Replay it for good?');
    await screen.type('y');
    await screen.until('Replayed.');
    const replays = asked.filter((line) => line.startsWith('webhook replay'));
    assert.deepEqual(
      replays.map((line) => line.split(' ').at(-1)),
      ['--dry-run', '--dry-run', '--dry-run', '--yes'],
    );
  });

  it('goes back with esc while something is read, and sees the list it came from', async () => {
    let isSlow = false;
    const answer = commandFor([]);
    const screen = await openScreen({
      url: 'http://127.0.0.1:1',
      operate: (words, signal) => (isSlow ? new Promise(() => {}) : answer(words, signal)),
    });
    await screen.type('o');
    await screen.press('right', 'right');
    await screen.until(/\[parked\][^]*› …45241b905603/);
    await screen.press('enter');
    await screen.until(/item 0 +parked/);
    isSlow = true;
    await screen.press('escape');
    await screen.until(/\[parked\][^]*› …45241b905603[^]*Asking ponte …/);
    await screen.press('enter');
    await screen.until(/operator › parked[^]*Asking ponte …/);
    await screen.press('escape');
    await screen.until(/\[parked\][^]*› …45241b905603/);
    await screen.press('escape');
    await screen.until('Ponte › home');
  });

  it('leaves what changes something only by giving it up, and is told so', async () => {
    const answer = commandFor([]);
    const screen = await openScreen({
      url: 'http://127.0.0.1:1',
      operate: (words, signal) =>
        words.includes('--yes') ? new Promise(() => {}) : answer(words, signal),
    });
    await screen.type('o');
    await screen.press('right');
    await screen.until(/› 4711/);
    await screen.press('enter');
    await screen.until(/last error +TypeError/);
    await screen.type('t');
    await screen.until('Queue the job again?');
    await screen.type('y');
    await screen.until('Asking ponte … esc gives up');
    await screen.press('escape');
    await screen.until(/operator › dead jobs[^]*You gave up waiting\./);
  });

  it('tries a dead job again after a yes', async () => {
    const screen = await openOperator();
    await screen.press('right');
    await screen.until(/› 4711/);
    await screen.press('enter');
    await screen.until(/last error +TypeError/);
    await screen.type('t');
    await screen.until('Queue the job again?');
    await screen.type('y');
    await screen.until('The job is queued again.');
  });

  it('is told in the words of the command why it fails', async () => {
    const screen = await openScreen({
      url: 'http://127.0.0.1:1',
      operate: () => Promise.reject(new Error('ponte: there is no database yet')),
    });
    await screen.type('o');
    await screen.until('ponte: there is no database yet');
  });

  it('has no screen where the command works on another service', async () => {
    const screen = await openScreen({ url: 'http://127.0.0.1:1', operate: null });
    assert.ok(!screen.text.includes('Operator'));
    await screen.type('o');
    assert.match(screen.text, /Ponte › home/);
  });
});
