import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoginLines, type Turn, type Waiting } from '../../../src/process/login-lines.ts';
import { manualClock } from '../../support/clock.ts';

const never = new AbortController().signal;

function waiting(changes: Partial<Waiting> = {}): Waiting {
  const place = { place: 'ana 192.0.2.1', network: '192.0.2.0/24' };
  return {
    ...place,
    lane: 'strangers',
    rank: 0,
    signal: never,
    mayBegin: () => Promise.resolve(0),
    ...changes,
  };
}

/** A place that no other login has. */
let places = 0;
function elsewhere(changes: Partial<Waiting> = {}): Waiting {
  places += 1;
  return waiting({ place: `ana ${places}`, network: `network ${places}`, ...changes });
}

/** Takes a turn that others wait for. */
async function givenTaken(lines: LoginLines): Promise<Turn> {
  const turn = await lines.take('ana', elsewhere());
  assert.ok(turn);
  return turn;
}

test('one turn of a line at a time: the lowest rank first', async () => {
  const lines = new LoginLines(manualClock());
  const order: string[] = [];
  const work = async (name: string, rank: number): Promise<void> => {
    const turn = await lines.take('ana', elsewhere({ rank }));
    order.push(name);
    await Promise.resolve();
    turn?.end(true);
  };
  await Promise.all([work('first', 1), work('third', 2), work('second', 1), work('new', 0)]);
  assert.equal(order.indexOf('third'), 3);
  assert.ok(order.indexOf('new') <= 1);
  assert.equal(lines.count(), 0);
});

test('a sixth login of an e-mail and address takes the place of one at random', async () => {
  const lost = new Set<number>();
  for (let round = 0; round < 200; round += 1) {
    const lines = new LoginLines(manualClock());
    const turn = await givenTaken(lines);
    const six = Array.from({ length: 6 }, async (_, nth) => {
      const got = await lines.take('ana', waiting());
      if (got === null) lost.add(nth);
      got?.end(true);
      return got;
    });
    assert.equal(lines.count(), 5);
    turn.end(true);
    const got = await Promise.all(six);
    assert.equal(got.filter((one) => one === null).length, 1);
    assert.ok(got[5], 'the sixth itself waits');
  }
  assert.deepEqual(lost, new Set([0, 1, 2, 3, 4]));
});

test('a hundred logins wait in a process; then the network with the most of them yields', async () => {
  const lines = new LoginLines(manualClock());
  const turn = await givenTaken(lines);
  const network = 'of an attacker';
  const attack = Array.from({ length: 99 }, () => lines.take('ana', elsewhere({ network })));
  const customers = Array.from({ length: 20 }, () => lines.take('ana', elsewhere()));
  assert.equal(lines.count(), 100);
  turn.end(true);
  const all = await Promise.all(
    [...attack, ...customers].map(async (one) => {
      const got = await one;
      got?.end(true);
      return got !== null;
    }),
  );
  assert.equal(all.slice(99).filter(Boolean).length, 20);
  assert.equal(all.filter(Boolean).length, 100);
});

test('who has guessed yields to who has not, and a full lane takes no place of another', async () => {
  const lines = new LoginLines(manualClock());
  const turn = await givenTaken(lines);
  const fresh = Array.from({ length: 99 }, () => lines.take('ana', elsewhere()));
  const guesser = lines.take('ana', elsewhere({ rank: 1 }));
  fresh.push(lines.take('ana', elsewhere()));
  assert.equal(await guesser, null);
  assert.equal(await lines.take('ana', elsewhere({ rank: 1 })), null, 'all others go before it');
  const customer = lines.take('bia', elsewhere({ lane: 'customers' }));
  assert.ok(await customer);
  assert.deepEqual([lines.count('strangers'), lines.count('customers')], [100, 0]);
  turn.end(true);
  for (const one of fresh) void one.then((got) => got?.end(true));
  assert.ok((await Promise.all(fresh)).every((got) => got !== null));
});

test('a line waits as long as it is told, and then chooses among those who wait by then', async () => {
  const clock = manualClock();
  const lines = new LoginLines(clock);
  let waitMs = 3_000;
  const mayBegin = (): Promise<number> => Promise.resolve(waitMs);
  const early = lines.take('ana', elsewhere({ rank: 1, mayBegin }));
  await clock.advance(2_999);
  const late = lines.take('ana', elsewhere({ mayBegin }));
  waitMs = 0;
  await clock.advance(1);
  (await late)?.end(true);
  assert.equal((await early)?.hasWaited, true);
});

test('a turn that was not used passes on without asking again', async () => {
  const lines = new LoginLines(manualClock());
  const turn = await givenTaken(lines);
  let asked = 0;
  const mayBegin = (): Promise<number> => Promise.resolve(asked++);
  const [one, other] = [1, 1].map((rank) => lines.take('ana', elsewhere({ rank, mayBegin })));
  turn.end(true);
  const first = await Promise.race([one, other]);
  first?.end(false);
  assert.ok((await one) && (await other));
  assert.equal(asked, 1);
});

test('a wrong login puts the others of its network behind', async () => {
  const lines = new LoginLines(manualClock());
  const turn = await givenTaken(lines);
  const guesser = lines.take('ana', elsewhere({ network: 'guesses' }));
  const other = lines.take('ana', elsewhere());
  lines.demote('ana', 'guesses');
  turn.end(true);
  assert.ok(await Promise.race([other, guesser.then(() => null)]));
  (await other)?.end(true);
  assert.ok(await guesser);
});

test('who leaves has no turn, and an error of the question reaches all who wait', async () => {
  const lines = new LoginLines(manualClock());
  const turn = await givenTaken(lines);
  const gone = new AbortController();
  const left = lines.take('ana', elsewhere({ signal: gone.signal }));
  gone.abort();
  assert.equal(await left, null);
  assert.equal(await lines.take('ana', elsewhere({ signal: gone.signal })), null);
  const broken = elsewhere({ mayBegin: () => Promise.reject(new Error('no database')) });
  const waits = [lines.take('ana', broken), lines.take('ana', elsewhere())];
  const rejected = Promise.allSettled(waits);
  turn.end(true);
  assert.ok((await rejected).every(({ status }) => status === 'rejected'));
  assert.ok(await lines.take('ana', elsewhere()), 'and the line is open again');
});
