import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openSandbox } from '../../../../src/provider/sandbox/open.ts';
import { manualClock } from '../../../support/clock.ts';
import { afterFile } from '../../../support/suite.ts';
import { logIn, orderFor } from './bank/open-bank.ts';
import { testSandbox } from './sandbox.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'ponte-sandbox-'));
  afterFile(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe('opening a sandbox', () => {
  it('keeps the state of the bank in a folder, tokens included', async () => {
    const dataDir = await folder();
    const first = await testSandbox({ dataDir });
    const session = await logIn(first.provider);
    const order = await orderFor(first.provider, session);
    const receipt = await first.provider.pay({ session, order });
    const before = await first.ledger();
    await first.close();

    const second = await testSandbox({ dataDir });
    assert.equal((await second.provider.balance({ session })).cents, 1_000_000 - order.amountCents);
    assert.deepEqual(await second.ledger(), before);
    assert.deepEqual(await second.provider.pay({ session, order }), receipt);
    assert.equal((await second.ledger()).payments.length, 1);
  });

  it('forgets everything without a folder', async () => {
    const first = await testSandbox();
    const session = await logIn(first.provider);
    await first.provider.pay({ session, order: await orderFor(first.provider, session) });
    const second = await testSandbox();
    assert.equal((await second.provider.balance({ session })).cents, 1_000_000);
  });

  it('takes another opening balance', async () => {
    const { provider } = await testSandbox({ openingBalanceCents: 7 });
    assert.equal((await provider.balance({ session: await logIn(provider) })).cents, 7);
  });

  it('refuses a port that is taken, and leaves nothing open', async () => {
    const { url } = await testSandbox();
    const dataDir = await folder();
    const options = { ispb: '11165756', settleMs: 0, clock: manualClock(), host: '127.0.0.1' };
    const taken = Number(new URL(url).port);
    await assert.rejects(openSandbox({ ...options, port: taken, dataDir }), { code: 'EADDRINUSE' });
    const again = await testSandbox({ dataDir });
    assert.match(again.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('refuses faults that it cannot read', async () => {
    await assert.rejects(testSandbox({ faults: 'x:401' }), { name: 'FaultSyntaxError' });
  });

  it('goes wrong as its schedule says', async () => {
    const { provider } = await testSandbox({ faults: 'auth/login:5xx-before' });
    await assert.rejects(logIn(provider), { statusClass: '5xx' });
  });

  it('may be closed twice', async () => {
    const { close } = await testSandbox();
    await close();
    await close();
  });
});
