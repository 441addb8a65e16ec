import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { BankOptions } from '../../../src/provider/stub/bank.ts';
import type { BankEntry } from '../../../src/provider/stub/entries.ts';
import { type Journal, openJournal } from '../../../src/provider/stub/journal.ts';
import { type ManualClock, manualClock } from '../../support/clock.ts';
import {
  chargeOrder,
  failure,
  logIn,
  openBank,
  orderFor,
  payer,
  doubted,
  UNAVAILABLE,
} from './open-bank.ts';

const OPENING_BALANCE_CENTS = 1_000_000;

const entryNo = (nth: number): BankEntry => ({
  entry: 'key_deleted',
  atMs: nth,
  email: 'dev@ponte.test',
  key: `key-${nth}`,
});

async function newFile(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-journal-'));
  context.after(() => rm(folder, { recursive: true }));
  return join(folder, 'bank', 'journal.jsonl');
}

/** Opens banks on one journal; each is left as a crash leaves it, closed by nobody. */
async function oneJournal(context: TestContext) {
  const path = await newFile(context);
  const open = async (clock: ManualClock, options: Partial<BankOptions> = {}) => {
    const journal = await openJournal(path);
    context.after(() => journal.close());
    return openBank({ ...options, clock, journal });
  };
  return { path, open };
}

test('what was paid, charged and registered before a crash is known after it', async (context) => {
  const { open } = await oneJournal(context);
  const clock = manualClock();
  const before = await open(clock);
  const session = await logIn(before.provider);
  const order = await orderFor(before.provider, session);
  const receipt = await before.provider.pay({ session, order });
  const code = await before.provider.createDynamicCharge({ session, order: chargeOrder() });
  await before.bank.payCharge(chargeOrder().transactionIdentification);
  const cpf = { keyType: 'CPF', key: payer.document, account: payer } as const;
  const key = await before.provider.createKey({ session, ...cpf });
  const range = { start: '2026-05-24', end: '2026-05-24' };
  const statement = await before.provider.statement({ session, ...range });

  const { provider, bank } = await open(clock);
  assert.deepEqual(await provider.pay({ session, order }), receipt);
  assert.equal(await provider.balance({ session }), OPENING_BALANCE_CENTS - 1_050 + 2_599);
  assert.deepEqual(await provider.statement({ session, ...range }), statement);
  assert.deepEqual(await provider.createDynamicCharge({ session, order: chargeOrder() }), code);
  const again = await bank.payCharge(chargeOrder().transactionIdentification);
  assert.equal(again.outcome, 'refused');
  assert.deepEqual((await provider.listKeys({ session, account: payer }))['keys'], [key]);
});

test('an end-to-end id from before a crash is good for one payment', async (context) => {
  const { open } = await oneJournal(context);
  const clock = manualClock();
  const before = await open(clock);
  const session = await logIn(before.provider);
  const order = await orderFor(before.provider, session);
  const { provider } = await open(clock);
  await provider.pay({ session, order });
  const third = await open(clock);
  const other = { ...order, clientRequestId: 'request-2' };
  assert.deepEqual(
    await failure(third.provider.pay({ session, order: other })),
    doubted('DuplicatedEndToEndId'),
  );
});

test('a payment refused before a crash stays refused after it', async (context) => {
  const { open } = await oneJournal(context);
  const clock = manualClock();
  const before = await open(clock, { openingBalanceCents: 1_000 });
  const session = await logIn(before.provider);
  const order = await orderFor(before.provider, session);
  assert.equal((await failure(before.provider.pay({ session, order }))).code, 'INSUFFICIENT_FUNDS');
  const { provider } = await open(clock);
  assert.equal((await failure(provider.pay({ session, order }))).code, 'INSUFFICIENT_FUNDS');
});

test('a webhook that fell due meanwhile is posted at once, others in time', async (context) => {
  const { open } = await oneJournal(context);
  const clock = manualClock();
  const before = await open(clock);
  const session = await logIn(before.provider);
  const soon = await orderFor(before.provider, session, { clientRequestId: 'soon' });
  await before.provider.pay({ session, order: soon });
  const slow = { key: 'slow@ponte.test', clientRequestId: 'slow' };
  await before.provider.pay({ session, order: await orderFor(before.provider, session, slow) });
  const silent = { key: 'silent@ponte.test', clientRequestId: 'silent' };
  await before.provider.pay({ session, order: await orderFor(before.provider, session, silent) });

  // The first process is gone: only the second one's clock runs.
  const later = manualClock(new Date(clock.now().getTime() + 20_000));
  const { bank, notices } = await open(later);
  const requests = () => notices().map((notice) => notice['clientRequestId']);
  assert.deepEqual(requests(), []);
  await later.advance(0);
  await bank.idle();
  assert.deepEqual(requests(), ['soon']);
  await later.advance(9_999);
  await bank.idle();
  assert.deepEqual(requests(), ['soon']);
  await later.advance(1);
  await bank.idle();
  assert.deepEqual(requests(), ['soon', 'slow']);
});

test('a notice that was not delivered is posted again, the same bytes', async (context) => {
  const { open } = await oneJournal(context);
  const clock = manualClock();
  const tried: string[] = [];
  const before = await open(clock, {
    settleMs: 0,
    notify: async (payload) => {
      tried.push(payload.toString());
      if (tried.length > 1) throw new Error('the process is dying');
    },
  });
  const session = await logIn(before.provider);
  for (const clientRequestId of ['delivered', 'lost']) {
    const order = await orderFor(before.provider, session, { clientRequestId });
    await before.provider.pay({ session, order });
    await before.bank.settle(order.endToEnd);
  }
  const later = manualClock(clock.now());
  const { bank, payloads } = await open(later);
  await later.advance(0);
  await bank.idle();
  assert.deepEqual(
    payloads.map((payload) => payload.toString()),
    [tried[1]],
  );
});

test('the bank answers only after its line is written', async () => {
  const written = Promise.withResolvers<void>();
  let lines = 0;
  const journal: Journal = {
    history: [],
    append: () => ((lines += 1) < 2 ? Promise.resolve() : written.promise),
    close: async () => {},
  };
  const { provider } = openBank({ journal });
  const session = await logIn(provider);
  const order = await orderFor(provider, session);
  const events: string[] = [];
  const first = provider.pay({ session, order }).then(() => events.push('answered'));
  const repeat = provider.pay({ session, order }).then(() => events.push('answered'));
  await new Promise((resolve) => setImmediate(resolve));
  events.push('written');
  written.resolve();
  await Promise.all([first, repeat]);
  assert.deepEqual(events, ['written', 'answered', 'answered']);
});

test('a payment that cannot be written is never answered as made', async () => {
  let lines = 0;
  const journal: Journal = {
    history: [],
    append: async () => {
      lines += 1;
      if (lines > 1) throw new Error('no space left');
    },
    close: async () => {},
  };
  const { provider } = openBank({ journal });
  const session = await logIn(provider);
  const order = await orderFor(provider, session);
  assert.deepEqual(await failure(provider.pay({ session, order })), UNAVAILABLE);
  assert.deepEqual(await failure(provider.pay({ session, order })), UNAVAILABLE);
});

test('a journal that fails where nobody waits is reported', async () => {
  let lines = 0;
  const faults: unknown[] = [];
  const journal: Journal = {
    history: [],
    append: async () => {
      lines += 1;
      if (lines > 2) throw new Error('no space left');
    },
    close: async () => {},
  };
  const { provider, clock, notices } = openBank({
    journal,
    onFault: (fault) => faults.push(fault),
  });
  const session = await logIn(provider);
  await provider.pay({ session, order: await orderFor(provider, session) });
  await clock.advance(1_500);
  assert.match(String(faults[0]), /no space left/);
  assert.deepEqual(notices(), []);
});

test('a last line that a crash has cut is dropped, and the next one is whole', async (context) => {
  const path = await newFile(context);
  const first = await openJournal(path);
  await first.append(entryNo(1));
  await first.close();
  await appendFile(path, '{"entry":"key_del');
  const second = await openJournal(path);
  assert.deepEqual(second.history, [entryNo(1)]);
  await second.append(entryNo(2));
  await second.close();
  const third = await openJournal(path);
  assert.deepEqual(third.history, [entryNo(1), entryNo(2)]);
  await third.close();
});

test('entries are written in the order in which they came, even together', async (context) => {
  const path = await newFile(context);
  const journal = await openJournal(path);
  const entries = Array.from({ length: 500 }, (_, nth) => entryNo(nth));
  await Promise.all(entries.map((entry) => journal.append(entry)));
  await journal.close();
  const again = await openJournal(path);
  assert.deepEqual(again.history, entries);
  await again.close();
});

test('closing writes what is waiting and then refuses', async (context) => {
  const path = await newFile(context);
  const journal = await openJournal(path);
  const appended = [journal.append(entryNo(1)), journal.append(entryNo(2))];
  await journal.close();
  await Promise.all(appended);
  await assert.rejects(journal.append(entryNo(3)), /closed/);
  assert.equal((await readFile(path, 'utf8')).split('\n').length, 3);
});

test('a line that is no entry is named, and the file is left as it is', async (context) => {
  const path = await newFile(context);
  await (await openJournal(path)).close();
  const content = `${JSON.stringify(entryNo(1))}\nnonsense\n{}\n`;
  await writeFile(path, content);
  await assert.rejects(openJournal(path), /journal\.jsonl:2 is no entry/);
  assert.equal(await readFile(path, 'utf8'), content);
});

test('only its owner can read the file, and it holds no token and no password', async (context) => {
  const { path, open } = await oneJournal(context);
  const { provider } = await open(manualClock());
  const session = await logIn(provider);
  await provider.pay({ session, order: await orderFor(provider, session) });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const content = await readFile(path, 'utf8');
  assert.ok(!content.includes(session.token) && !content.includes('ponte-dev-password'));
});
