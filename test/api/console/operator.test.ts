/** What an operator sees at the console, of a command that prints what `ponte` prints. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operate } from '../../../console/operate.ts';
import { openScreen, type Screen } from './screen.ts';

const eventId = '01a1fc38-fc2d-7eba-936b-45241b905603';
const paymentId = '01a1fc38-f5e5-7517-8ecb-a7d299a5dbba';
const at = '2026-11-21T03:49:13.829Z';

const event = {
  id: eventId,
  state: 'parked',
  receivedAt: at,
  processedAt: at,
  payloadBytes: 104,
  outcomes: { parked: 1 },
};
const payment = {
  id: paymentId,
  userId: 7,
  operation: 'SEND',
  status: 'PROCESSING',
  phase: 'UNKNOWN',
  amount: '77.70',
  endToEnd: 'E11165756202611210349AZI8BYWKo82',
  createdAt: at,
};

const unknownResponse = {
  httpStatus: 422,
  providerStatus: '4xx',
  code: 'XX99',
  payments: 2,
  oldestAt: at,
  transactionIds: [paymentId, '01a1fc38-f5e5-7517-8ecb-a7d299a5dbbb'],
};
const difference = {
  id: '17',
  day: '2026-11-20',
  userId: 7,
  kind: 'MISSING_HERE',
  reason: 'payment_out',
  subject: 'E1',
  transactionId: null,
  endToEnd: 'E11165756202611200349AZI8BYWKo82',
  amount: '12.50',
  storedAmount: null,
  foundAt: at,
  closedAs: null,
  says: 'money left under an end-to-end id that no send here has',
  todo: 'look for a send of the same amount',
};
const unread = { day: '2026-11-20', userId: 7, reason: 'NO_SESSION', triedAt: at };

const timeline = Array.from({ length: 20 }, (_, index) => `${at}  UNKNOWN  ${index}`).join('\n');

/** What the command prints, by its arguments. */
const printed: Readonly<Record<string, unknown>> = {
  'jobs stats --json': {
    counts: [
      { kind: 'sweep-pix', state: 'queued', jobs: 1, oldestAt: at, oldestAgeSeconds: 0, lapsed: 0 },
    ],
  },
  'jobs list --state dead --json': {
    jobs: [
      {
        id: '4711',
        kind: 'settle-webhook',
        state: 'dead',
        attempts: 8,
        finishedAt: at,
        lastError: 'TypeError',
      },
    ],
  },
  'jobs retry 4711 --yes': '1 job is queued again.',
  'webhook list --state parked --json': { events: [event] },
  'webhook list --state orphaned --json': { events: [] },
  'webhook list --state anomaly --json': { events: [] },
  [`webhook show ${eventId}`]: `event     ${eventId}\nstate     parked`,
  [`webhook show ${eventId} --json`]: { items: [{}, { transactionId: paymentId }] },
  [`webhook replay ${eventId} --dry-run`]: '1 preview; items: 1 applied. Nothing was changed.',
  [`webhook replay ${eventId} --yes`]: '1 replayed; items: 1 applied.',
  'pix list --stuck --json': { transactions: [payment] },
  [`pix show ${paymentId}`]: `status  PROCESSING\n${timeline}\nTo do      Ask the provider.`,
};

const mayHaveMore = false;

const resolve = `pix resolve ${paymentId} --as`;
const paid = '--confirm=money has moved';
const risk = '--confirm=money may have moved';

/** What the commands of the actions print, by their arguments. */
const done: Readonly<Record<string, unknown>> = {
  'provider unknown --json': { answers: [unknownResponse] },
  'provider unknown --try=codes.yaml': `${paymentId}  XX99  would fail`,
  'provider unknown --try=codes.yaml --apply --by=Ana --reason=ticket 7 --yes': 'failed  XX99',
  'reconcile list --json': { differences: [difference], mayHaveMore },
  'reconcile accept 17 --by=Ana --reason=ticket 7 --yes': '1 difference is closed.',
  [`webhook accept ${eventId} --by=Ana --reason=ticket 7 --yes`]: '1 event is closed.',
  'reconcile waiting --json': { days: [unread], mayHaveMore },
  'reconcile run --day 2026-11-20 --user 7 --dry-run': 'would settle 1 line',
  'reconcile run --day 2026-11-20 --user 7 --by=Ana --reason=ticket 7 --yes': 'settled 1 line',
  [`${resolve} completed --by=Ana --reason=ticket 7 ${paid} --yes`]: `${paymentId} is COMPLETED.`,
  [`${resolve} failed --by=Ana --reason=ticket 7 ${risk} --yes`]: `${paymentId} is FAILED.`,
};

/** Records the commands, and prints their output. */
function commandFor(commands: string[]): Operate {
  return async (args) => {
    const line = args.join(' ');
    commands.push(line);
    const output = printed[line] ?? done[line];
    if (output === undefined) throw new Error(`ponte: unknown command ${line}`);
    return typeof output === 'string' ? `${output}\n` : JSON.stringify(output);
  };
}

async function openOperator(commands: string[] = []): Promise<Screen> {
  const screen = await openScreen({ url: 'http://127.0.0.1:1', operate: commandFor(commands) });
  await screen.type('o');
  await screen.until('[queue]');
  return screen;
}

/** Opens a list by its name. */
async function openList(screen: Screen, name: string): Promise<void> {
  for (let step = 0; !screen.text.includes(`[${name}]`); step += 1) {
    assert.ok(step < 20, `there is no list ${name}`);
    const { text } = screen;
    await screen.press('left');
    await screen.until((now) => now !== text && /\[\w/.test(now));
  }
  await screen.until(/› /);
  await screen.until(/\n › /);
}

describe('the operator', () => {
  it('sees the queue, dead jobs, events and stuck payments as tables, times in UTC', async () => {
    const screen = await openOperator();
    await screen.until(
      /KIND +STATE +JOBS +LAPSED +OLDEST AT[^]*› sweep-pix +queued +1 +0 +21\/11 03:49Z/,
    );
    await screen.press('right');
    await screen.until(/ID +KIND +ATTEMPTS +FINISHED AT[^]*› 4711 +settle-webhook +8/);
    await screen.press('right');
    await screen.until(
      /ID +RECEIVED AT +PROCESSED AT[^]*› …45241b905603 +21\/11 03:49Z +21\/11 03:49Z +1 parked/,
    );
    await screen.press('right');
    await screen.until('There is no event in state orphaned.');
    await screen.press('right');
    await screen.until('There is no event in state anomaly.');
    await screen.press('right');
    await screen.until(
      /ID +CREATED AT +AMOUNT +USER ID[^]*› …a7d299a5dbba +21\/11 03:49Z +77\.70 +7 +UNKNOWN/,
    );
    await screen.press('right');
    await screen.until(/HTTP STATUS +PROVIDER STATUS +CODE[^]*› +422 +4xx +XX99 +2/);
    await screen.press('right');
    await screen.until(/ID +DAY +USER ID +KIND[^]*› 17 +2026-11-20 +7 +MISSING_HERE +12\.50/);
    await screen.press('right');
    await screen.until(/DAY +USER ID +REASON[^]*› 2026-11-20 +7 +NO_SESSION +21\/11 03:49Z/);
    await screen.press('right');
    await screen.until('[queue]');
  });

  it('sees which lists there are to the left and to the right of the shown one', async () => {
    const screen = await openOperator();
    await screen.until(/ \[queue\] dead jobs .* ›/);
    await screen.press('left');
    await screen.until(/ ‹ .*differences \[unread\]\n/);
    for (const line of screen.lines) assert.ok(line.length <= 60, line);
  });

  it('sees what has changed, without a key, and keeps the chosen row', async (t) => {
    const setTimer = globalThis.setInterval;
    const soon = (work: () => void, everyMs?: number) =>
      setTimer(work, everyMs === 5_000 ? 20 : everyMs);
    t.mock.method(globalThis, 'setInterval', soon);
    const dead = (id: string) => ({ id, kind: 'settle-webhook', attempts: 8, finishedAt: at });
    let jobs = [dead('4711'), dead('4712')];
    const screen = await openScreen({
      url: 'http://127.0.0.1:1',
      operate: (args) => Promise.resolve(JSON.stringify(args[1] === 'list' ? { jobs } : {})),
    });
    await screen.type('o');
    await screen.press('right');
    await screen.until(/› 4711/);
    await screen.press('down');
    await screen.until(/› 4712/);
    jobs = [dead('4713'), ...jobs];
    await screen.until(/ {2}4713[^]* {2}4711[^]*› 4712/);
    jobs = [];
    await screen.until('There is no dead job.');
  });

  it('reads all that the command prints about a payment', async () => {
    const screen = await openOperator();
    await openList(screen, 'stuck');
    await screen.press('enter');
    await screen.until(/status +PROCESSING\n[^]*UNKNOWN +0[^]*↓/);
    await screen.press('pagedown', 'pagedown');
    await screen.until(/UNKNOWN +19\n To do +Ask the provider\.[^]*↑/);
    await screen.press('escape');
    await screen.until(/\[stuck\][^]*›/);
  });

  it('replays an event dry, and for good only after a look at it and a yes', async () => {
    const commands: string[] = [];
    const screen = await openOperator(commands);
    await screen.press('right', 'right');
    await screen.until(/› …45241b905603/);
    await screen.press('enter');
    await screen.until(/event +01a1fc38[^]*state +parked/);
    await screen.type('d');
    await screen.until(/1 preview; items: 1 applied\. Nothing was changed\.[^]*event +01a1fc38/);
    await screen.type('w');
    await screen.until('Replay it for good? y: yes; any other key: no.');
    await screen.press('enter');
    await screen.until((text) => !text.includes('Replay it for good?'));
    assert.ok(!commands.includes(`webhook replay ${eventId} --yes`));
    await screen.type('w');
    await screen.until('Replay it for good?');
    await screen.type('y');
    await screen.until('1 replayed; items: 1 applied.');
    const replays = commands.filter((line) => line.startsWith('webhook replay'));
    assert.deepEqual(
      replays.map((line) => line.split(' ').at(-1)),
      ['--dry-run', '--dry-run', '--dry-run', '--yes'],
    );
  });

  it('opens the payment that an event is about, and comes back to the event', async () => {
    const screen = await openOperator();
    await screen.press('right', 'right');
    await screen.until(/› …45241b905603/);
    await screen.press('enter');
    await screen.until(/state +parked[^]*p its payment/);
    await screen.type('p');
    await screen.until(/status +PROCESSING\n[^]*c it was paid/);
    await screen.press('escape');
    await screen.until(/event +01a1fc38[^]*state +parked/);
  });

  it('goes back with esc while something is read, and sees the list it came from', async () => {
    let isSlow = false;
    const respond = commandFor([]);
    const screen = await openScreen({
      url: 'http://127.0.0.1:1',
      operate: (args, signal) => (isSlow ? new Promise(() => {}) : respond(args, signal)),
    });
    await screen.type('o');
    await screen.press('right', 'right');
    await screen.until(/\[parked\][^]*› …45241b905603/);
    await screen.press('enter');
    await screen.until(/state +parked/);
    isSlow = true;
    await screen.press('escape');
    await screen.until(/\[parked\][^]*› …45241b905603[^]*Waiting for ponte …/);
    await screen.press('enter');
    await screen.until(/operator › parked[^]*Waiting for ponte …/);
    await screen.press('escape');
    await screen.until(/\[parked\][^]*› …45241b905603/);
    await screen.press('escape');
    await screen.until('Ponte › home');
  });

  it('leaves a change only by cancelling it, with a notice', async () => {
    const respond = commandFor([]);
    const screen = await openScreen({
      url: 'http://127.0.0.1:1',
      operate: (args, signal) =>
        args.includes('--yes') ? new Promise(() => {}) : respond(args, signal),
    });
    await screen.type('o');
    await screen.press('right');
    await screen.until(/› 4711/);
    await screen.press('enter');
    await screen.until(/last error +TypeError/);
    await screen.type('t');
    await screen.until('Queue the job again?');
    await screen.type('y');
    await screen.until('Waiting for ponte … esc gives up');
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
    await screen.until('1 job is queued again.');
  });

  it('closes an anomaly that is explained, with a name and a reason, and after a yes', async () => {
    const respond = commandFor([]);
    const screen = await openScreen({
      url: 'http://127.0.0.1:1',
      operate: (args, signal) =>
        args.includes('anomaly')
          ? Promise.resolve(JSON.stringify({ events: [event] }))
          : respond(args, signal),
    });
    await screen.type('o');
    await openList(screen, 'anomalies');
    await screen.until(/› …45241b905603/);
    await screen.press('enter');
    await screen.until(/w replay\s+(?:· )?a accept/);
    await screen.type('a');
    await screen.fill({ Operator: 'Ana', Reason: 'ticket 7' });
    await screen.press('ctrl+s');
    await screen.until('Close the event? No payment changes.');
    await screen.type('y');
    await screen.until('1 event is closed.');
  });

  it('records how a stuck payment ended, with a name and a reason, and after a yes', async () => {
    const commands: string[] = [];
    const screen = await openOperator(commands);
    await openList(screen, 'stuck');
    await screen.press('enter');
    await screen.until(/c it was paid · f it was not paid/);
    await screen.type('c');
    await screen.until(/Operator \*[^]*Reason \*/);
    await screen.press('ctrl+s');
    await screen.until('The field is required.');
    await screen.fill({ Operator: 'Ana', Reason: 'ticket 7', Confirm: 'money has moved' });
    await screen.press('ctrl+s');
    await screen.until(
      'Mark it as COMPLETED permanently, because money has moved? y: yes; any other key: no.',
    );
    await screen.press('enter');
    await screen.until((text) => !text.includes('permanently'));
    assert.ok(!commands.some((line) => line.startsWith('pix resolve')));
    await screen.type('c');
    // What was typed once is kept, but not the words of the confirmation.
    await screen.until(/Operator \* +Ana[^]*Reason \* +ticket 7[^]*Confirm \* +–/);
    await screen.fill({ Confirm: 'money has moved' });
    await screen.press('ctrl+s');
    await screen.until('permanently, because money has moved?');
    await screen.type('y');
    await screen.until(`${paymentId} is COMPLETED.`);
  });

  it('calls a stuck payment failed only with the words of the risk', async () => {
    const commands: string[] = [];
    const screen = await openOperator(commands);
    await openList(screen, 'stuck');
    await screen.press('enter');
    await screen.until(/f it was not paid/);
    await screen.type('f');
    await screen.fill({ Operator: 'Ana', Reason: 'ticket 7', Confirm: 'yes' });
    await screen.press('ctrl+s');
    await screen.until('although money may have moved? The app will offer to pay again.');
    await screen.type('y');
    // The command compares the words; its refusal is shown.
    await screen.until(/unknown command pix resolve[^]+--confirm=yes/);
    await screen.type('f');
    await screen.until(/Ana[^]*ticket 7[^]*Confirm \* +–/);
    await screen.fill({ Confirm: 'money may have moved' });
    await screen.press('ctrl+s');
    await screen.until('permanently, although');
    await screen.type('y');
    await screen.until(`${paymentId} is FAILED.`);
  });

  it('tries codes, and applies them after a look at the payments and a yes', async () => {
    const commands: string[] = [];
    const screen = await openOperator(commands);
    await openList(screen, 'unknown');
    await screen.press('enter');
    await screen.until(/transaction ids +\["01a1fc38/);
    await screen.type('t');
    await screen.fill({ 'File of codes': 'codes.yaml' });
    await screen.press('ctrl+s');
    await screen.until('XX99 would fail');
    await screen.type('w');
    await screen.until(/File of codes \* +codes\.yaml/);
    await screen.fill({ Operator: 'Ana', Reason: 'ticket 7' });
    await screen.press('ctrl+s');
    await screen.until(/XX99 +would fail[^]*as FAILED\s+permanently\?/);
    assert.ok(!commands.some((line) => line.includes('--apply')));
    await screen.type('y');
    await screen.until(/failed +XX99/);
  });

  it('accepts a difference with a name and a reason, after a yes', async () => {
    const screen = await openOperator();
    await openList(screen, 'differences');
    await screen.press('enter');
    await screen.until(/says +money left under[^]*todo +look for a send/);
    await screen.type('a');
    await screen.fill({ Operator: 'Ana', Reason: 'ticket 7' });
    await screen.press('ctrl+s');
    await screen.until('Close the difference permanently?');
    await screen.type('y');
    await screen.until('1 difference is closed.');
  });

  it('reads a statement dry, and settles what it proves after a yes', async () => {
    const screen = await openOperator();
    await openList(screen, 'unread');
    await screen.press('enter');
    await screen.until(/reason +NO_SESSION/);
    await screen.type('d');
    await screen.until('would settle 1 line');
    await screen.type('w');
    await screen.fill({ Operator: 'Ana', Reason: 'ticket 7' });
    await screen.press('ctrl+s');
    await screen.until(/would settle 1 line[^]*Settle what this statement proves\?/);
    await screen.type('y');
    await screen.until(/ settled 1 line/);
  });

  it('leaves the form of an action with esc, and nothing is done', async () => {
    const commands: string[] = [];
    const screen = await openOperator(commands);
    await openList(screen, 'differences');
    await screen.press('enter');
    await screen.until(/todo/);
    await screen.type('a');
    await screen.until(/Operator \*/);
    await screen.press('escape');
    await screen.until(/operator › differences[^]*todo/);
    assert.ok(!commands.some((line) => line.includes('accept')));
  });

  it('keeps the title and the keys in view, however long the message of a command is', async () => {
    const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');
    const screen = await openScreen({
      url: 'http://127.0.0.1:1',
      operate: () => Promise.reject(new Error(`ponte: ${words}`)),
    });
    await screen.type('o');
    await screen.until(/ponte: word0/);
    assert.equal(screen.lines.length, 20);
    assert.match(screen.lines[0] ?? '', /Ponte › operator/);
    assert.match(screen.text, /…\n.*←→ lists/);
  });

  it('reads the message of a command that fails', async () => {
    const screen = await openScreen({
      url: 'http://127.0.0.1:1',
      operate: () => Promise.reject(new Error('ponte: there is no database in /tmp')),
    });
    await screen.type('o');
    await screen.until('ponte: there is no database in /tmp');
  });

  it('has no screen where the command works on another service', async () => {
    const screen = await openScreen({ url: 'http://127.0.0.1:1', operate: null });
    assert.ok(!screen.text.includes('Operator'));
    await screen.type('o');
    assert.match(screen.text, /Ponte › home/);
  });
});
