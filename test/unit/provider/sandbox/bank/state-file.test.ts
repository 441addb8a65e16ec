import assert from 'node:assert/strict';
import fs, { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { BankOptions } from '../../../../../src/provider/sandbox/bank/bank.ts';
import type { Row } from '../../../../../src/provider/sandbox/bank/rows.ts';
import {
  openStateFile,
  type StateFile,
} from '../../../../../src/provider/sandbox/bank/state-file.ts';
import { type ManualClock, manualClock } from '../../../../support/clock.ts';
import {
  chargeOrder,
  doubted,
  failure,
  logIn,
  openBank,
  orderFor,
  payer,
  unavailable,
} from './open-bank.ts';

const openingBalanceCents = 1_000_000;

const today = { start: '2026-05-24', end: '2026-05-24' };

const rowNumber = (nth: number): Row => ({
  row: 'look_up',
  endToEnd: `E${nth}`,
  email: 'dev@ponte.test',
  payerId: payer.document,
  key: 'maria@example.com',
});

async function newPath(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-bank-'));
  context.after(() => rm(folder, { recursive: true }));
  return join(folder, 'bank', 'state.jsonl');
}

/** Opens banks on one file. Each is left as a crash leaves it: none is closed. */
async function oneFile(context: TestContext) {
  const path = await newPath(context);
  const open = (clock: ManualClock, options: Partial<BankOptions> = {}) => {
    const file = openStateFile(path);
    context.after(() => file.close());
    return openBank({ ...options, clock, file });
  };
  return { path, open };
}

/** A file that fails after some rows. */
function failingAfter(rows: number): StateFile {
  let saved = 0;
  return {
    read: () => [],
    append() {
      saved += 1;
      if (saved > rows) throw new Error('no space left');
    },
    close() {},
  };
}

describe('a bank that is opened after a crash', () => {
  it('knows what was paid, charged and registered before', async (t) => {
    const { open } = await oneFile(t);
    const clock = manualClock();
    const before = open(clock);
    const session = await logIn(before.provider);
    const order = await orderFor(before.provider, session);
    const receipt = await before.provider.pay({ session, order });
    const code = await before.provider.createDynamicCharge({ session, order: chargeOrder() });
    await before.bank.payCharge(chargeOrder().transactionIdentification);
    const cpf = { keyType: 'CPF', key: payer.document, account: payer } as const;
    const key = await before.provider.createKey({ session, ...cpf });
    const email = { keyType: 'E_MAIL', key: 'dev@ponte.test', account: payer } as const;
    await before.provider.createKey({ session, ...email });
    await before.provider.deleteKey({ session, ...email });
    const statement = await before.provider.statement({ session, ...today });

    const { provider, bank } = open(clock);
    assert.deepEqual(await provider.pay({ session, order }), receipt);
    assert.equal((await provider.balance({ session })).cents, openingBalanceCents - 1_050 + 2_599);
    assert.deepEqual(await provider.statement({ session, ...today }), statement);
    assert.deepEqual(await provider.createDynamicCharge({ session, order: chargeOrder() }), code);
    const again = await bank.payCharge(chargeOrder().transactionIdentification);
    assert.equal(again.outcome, 'refused');
    assert.deepEqual((await provider.listKeys({ session, account: payer }))['keys'], [key]);
  });

  it('takes an end-to-end id from before for one payment', async (t) => {
    const { open } = await oneFile(t);
    const clock = manualClock();
    const before = open(clock);
    const session = await logIn(before.provider);
    const order = await orderFor(before.provider, session);
    await open(clock).provider.pay({ session, order });
    const other = { ...order, clientRequestId: 'request-2' };
    assert.deepEqual(
      await failure(open(clock).provider.pay({ session, order: other })),
      doubted('DUPLICATEDENDTOENDID'),
    );
  });

  it('refuses again what it refused before', async (t) => {
    const { open } = await oneFile(t);
    const clock = manualClock();
    const before = open(clock, { openingBalanceCents: 1_000 });
    const session = await logIn(before.provider);
    const order = await orderFor(before.provider, session);
    const refusal = await failure(before.provider.pay({ session, order }));
    assert.equal(refusal.code, 'INSUFFICIENT_FUNDS');
    assert.deepEqual(await failure(open(clock).provider.pay({ session, order })), refusal);
  });

  it('credits a failed payment back once', async (t) => {
    const { open } = await oneFile(t);
    const clock = manualClock();
    const before = open(clock);
    const session = await logIn(before.provider);
    const order = await orderFor(before.provider, session);
    await before.provider.pay({ session, order });
    await before.bank.settle(order.endToEnd, 'FAILED');
    const { provider, bank } = open(clock);
    assert.equal((await provider.balance({ session })).cents, openingBalanceCents);
    await bank.settle(order.endToEnd, 'FAILED');
    assert.equal((await provider.balance({ session })).cents, openingBalanceCents);
    await assert.rejects(bank.settle(order.endToEnd, 'COMPLETED'), /has ended as FAILED/);
  });

  it('posts a webhook that was due in the meantime at once, others in time', async (t) => {
    const { open } = await oneFile(t);
    const clock = manualClock();
    const before = open(clock);
    const session = await logIn(before.provider);
    for (const name of ['maria', 'slow', 'silent']) {
      const wish = { key: `${name}@ponte.test`, clientRequestId: name };
      await before.provider.pay({ session, order: await orderFor(before.provider, session, wish) });
    }
    // The first process has ended: only the clock of the second one runs.
    const later = manualClock(new Date(clock.now().getTime() + 20_000));
    const { bank, notices } = open(later);
    const requests = () => notices().map((notice) => notice['clientRequestId']);
    assert.deepEqual(requests(), []);
    await later.advance(0);
    await bank.idle();
    assert.deepEqual(requests(), ['maria']);
    await later.advance(9_999);
    await bank.idle();
    assert.deepEqual(requests(), ['maria']);
    await later.advance(1);
    await bank.idle();
    assert.deepEqual(requests(), ['maria', 'slow']);
  });

  it('posts only the webhooks that were not received, the same bytes', async (t) => {
    const { open } = await oneFile(t);
    const clock = manualClock();
    const tried: string[] = [];
    const before = open(clock, {
      settleMs: 0,
      notify: async (payload) => {
        tried.push(payload.toString());
        if (tried.length > 2) throw new Error('the process ends');
      },
    });
    const session = await logIn(before.provider);
    for (const key of ['maria@example.com', 'twice@ponte.test']) {
      const order = await orderFor(before.provider, session, { key, clientRequestId: key });
      await before.provider.pay({ session, order });
      await before.bank.settle(order.endToEnd);
    }
    await before.provider.createStaticCharge({ session, order: chargeOrder() });
    await before.bank.payCharge(chargeOrder().transactionIdentification);
    const later = manualClock(new Date(clock.now().getTime() + 5_000));
    const { bank, payloads } = open(later);
    await later.advance(0);
    await bank.idle();
    const [, , second, received] = tried;
    const posted = payloads.map((payload) => payload.toString());
    assert.equal(posted.length, 3);
    assert.ok(posted.includes(second ?? '') && posted.includes(received ?? ''));
    assert.ok(posted.some((text) => text.includes('AB03')));
  });
});

describe('a payment', () => {
  it('is in the file when it is answered', async (t) => {
    const { path, open } = await oneFile(t);
    const { provider } = open(manualClock());
    const session = await logIn(provider);
    const order = await orderFor(provider, session);
    await provider.pay({ session, order });
    const last = JSON.parse(readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '') as Row;
    assert.ok(last.row === 'payment');
    assert.equal(last.endToEnd, order.endToEnd);
  });

  it('that cannot be saved is neither made nor answered as made', async () => {
    const { provider } = openBank({ file: failingAfter(2) });
    const session = await logIn(provider);
    const order = await orderFor(provider, session);
    assert.deepEqual(await failure(provider.pay({ session, order })), unavailable);
    assert.deepEqual(await failure(provider.pay({ session, order })), unavailable);
    assert.equal((await provider.balance({ session })).cents, openingBalanceCents);
  });

  it('whose end cannot be saved is reported, and no webhook is posted', async () => {
    const faults: unknown[] = [];
    const onFault = (fault: unknown) => faults.push(fault);
    const { provider, clock, notices } = openBank({ file: failingAfter(3), onFault });
    const session = await logIn(provider);
    await provider.pay({ session, order: await orderFor(provider, session) });
    await clock.advance(1_500);
    assert.match(String(faults[0]), /no space left/);
    assert.deepEqual(notices(), []);
  });
});

describe('the state file', () => {
  it('drops a last line that a crash has cut, and the next one is whole', async (t) => {
    const path = await newPath(t);
    const first = openStateFile(path);
    first.append(rowNumber(1));
    first.close();
    appendFileSync(path, '{"row":"look');
    const second = openStateFile(path);
    assert.deepEqual([...second.read()], [rowNumber(1)]);
    second.append(rowNumber(2));
    second.close();
    const third = openStateFile(path);
    assert.deepEqual([...third.read()], [rowNumber(1), rowNumber(2)]);
    third.close();
  });

  it('keeps the rows of two processes', async (t) => {
    const path = await newPath(t);
    const [server, worker] = [openStateFile(path), openStateFile(path)];
    for (let nth = 0; nth < 10; nth += 2) {
      server.append(rowNumber(nth));
      worker.append(rowNumber(nth + 1));
    }
    assert.deepEqual(
      [...server.read()],
      Array.from({ length: 10 }, (_, nth) => rowNumber(nth)),
    );
    for (const file of [server, worker]) file.close();
  });

  it('takes no row after one that it could write in part only', async (t) => {
    const path = await newPath(t);
    const file = openStateFile(path);
    file.append(rowNumber(1));
    const { mock } = t.mock.method(fs, 'appendFileSync', (fd: number, line: string) => {
      fs.writeSync(fd, line.slice(0, 9));
      throw new Error('no space left');
    });
    syncBuiltinESMExports();
    try {
      assert.throws(() => file.append(rowNumber(2)), /could not be written/);
    } finally {
      mock.restore();
      syncBuiltinESMExports();
    }
    assert.throws(() => file.append(rowNumber(3)), /could not be written/);
    file.close();
    const again = openStateFile(path);
    assert.deepEqual([...again.read()], [rowNumber(1)]);
    again.close();
  });

  it('refuses rows after it is closed', async (t) => {
    const file = openStateFile(await newPath(t));
    file.close();
    assert.throws(() => file.append(rowNumber(1)), /closed/);
  });

  it('names a line that is no row, and is left as it is', async (t) => {
    const path = await newPath(t);
    openStateFile(path).close();
    for (const wrong of ['nonsense', '{}', 'null', '{"row":1}']) {
      const content = `${JSON.stringify(rowNumber(1))}\n${wrong}\n`;
      writeFileSync(path, content);
      const file = openStateFile(path);
      assert.throws(() => openBank({ file }), /state\.jsonl:2 is no row/);
      file.close();
      assert.equal(readFileSync(path, 'utf8'), content);
    }
  });

  it('is readable by its owner only, and holds no token and no password', async (t) => {
    const { path, open } = await oneFile(t);
    const { provider } = open(manualClock());
    const session = await logIn(provider);
    await provider.pay({ session, order: await orderFor(provider, session) });
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const content = readFileSync(path, 'utf8');
    assert.ok(!content.includes(session.token) && !content.includes('ponte-dev-password'));
  });
});
