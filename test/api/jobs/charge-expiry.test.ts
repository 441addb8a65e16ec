/** Charges that expire: what shows it, what ends them, and what a late payment makes of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { upsertAccountFromLogin } from '../../../src/accounts/account-repository.ts';
import { sweepPix } from '../../../src/settlement/sweep-pix.ts';
import type { DayRange } from '../../../src/provider/provider.ts';
import { findBrokenRules } from '../../support/broken-rules.ts';
import { givenCustomer, logIn } from '../../support/factories.ts';
import { results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

let caller = app.customer;

async function givenCharge(more: Record<string, unknown> = {}, key?: string) {
  caller = { ...caller, token: await logIn(app, caller.email) };
  const body = { type: 'dynamic', amount: 20, expiration_qr: 3600, ...more };
  const response = await app.charge(caller, body, key === undefined ? {} : { key });
  assert.equal(response.status, 200, JSON.stringify(response.body));
  const stored = await app.stored(response.body.transaction_id);
  return { ...stored, txid: stored.transaction_identification ?? '', body: response.body };
}

function expired({ txid }: { txid: string }, more: Record<string, unknown> = {}) {
  return {
    event: 'OPENPIX:CHARGE_EXPIRED',
    charge: { value: 2_000, status: 'EXPIRED', correlationID: txid, ...more },
  };
}

const sweepJob = { id: '0', kind: 'sweep-pix', payload: {}, attempt: 1, worker: 'test' } as const;
const sweep = () => sweepPix.run(app.context, sweepJob);

test('a dynamic charge shows when it expires, in every response; a static one does not', async () => {
  const key = 'charge-that-expires';
  const at = app.clock.now().getTime();
  const charge = await givenCharge({}, key);
  const expiresAt = new Date(at + hourMs).toISOString();
  assert.equal(charge.body.expires_at, expiresAt);
  await app.clock.advance(1_000);
  assert.equal((await givenCharge({}, key)).body.expires_at, expiresAt);
  const { token } = caller;
  assert.equal((await app.view(caller, charge.id)).body.expires_at, expiresAt);
  const receipt = await app.call(`/pix/${charge.id}/receipt`, { token });
  assert.equal(receipt.body.expires_at, expiresAt);
  const page = await app.call('/pix?type=PIX_CHARGE&limit=1', { token });
  assert.equal(page.body.items[0].expires_at, expiresAt);
  const { body } = await givenCharge({ type: 'static', expiration_qr: undefined });
  assert.ok(!('expires_at' in body));
});

test('a charge without its own expiry lasts the day that the provider receives', async () => {
  const at = app.clock.now().getTime();
  const { body } = await givenCharge({ expiration_qr: undefined });
  assert.equal(body.expires_at, new Date(at + dayMs).toISOString());
});

test("the provider's word ends an unpaid charge", async () => {
  const charge = await givenCharge();
  assert.deepEqual(results(await app.receive(expired(charge))), ['applied']);
  const stored = await app.stored(charge.id);
  assert.deepEqual([stored.status, stored.failure_code], ['FAILED', 'CHARGE_EXPIRED']);
  assert.equal((await app.timeline(charge.id)).at(-1), 'SETTLED FAILED event');
  const again = await app.receive(expired(charge, { comment: 'again' }));
  assert.deepEqual(results(again), ['already']);
  const receipt = await app.call(`/pix/${charge.id}/receipt`, {
    token: caller.token,
    headers: { 'Accept-Language': 'pt-BR' },
  });
  assert.deepEqual(receipt.body.failure, {
    code: 'CHARGE_EXPIRED',
    message: 'A cobrança expirou antes de ser paga.',
  });
});

test('an event about a charge whose status is EXPIRED says the same', async () => {
  const charge = await givenCharge();
  const event = { event: 'CHARGE', txid: charge.txid, status: 'EXPIRED', amount: 20 };
  assert.deepEqual(results(await app.receive(event)), ['applied']);
  assert.equal((await app.stored(charge.id)).status, 'FAILED');
});

test('an expiry of another amount, or of no charge, ends nothing', async () => {
  const charge = await givenCharge();
  const other = await app.receive(expired(charge, { value: 2_001 }));
  assert.deepEqual(results(other), ['anomaly: amount_mismatch']);
  const unknown = await app.receive(expired({ txid: 'a'.repeat(26) }));
  assert.deepEqual(results(unknown), ['parked: no_match']);
  assert.equal((await app.stored(charge.id)).status, 'PROCESSING');
});

test('the expiry of a paid charge changes nothing', async () => {
  const charge = await givenCharge();
  const paid = app.pix({ txid: charge.txid, valor: '20.00' });
  assert.deepEqual(results(await app.receive(paid)), ['applied']);
  assert.deepEqual(results(await app.receive(expired(charge))), ['ignored: charge_paid']);
  assert.equal((await app.stored(charge.id)).status, 'COMPLETED');
});

test('the sweep ends an unpaid charge a day after its expiry, and not before', async () => {
  const charge = await givenCharge();
  const fixed = await givenCharge({ type: 'static', expiration_qr: undefined });
  await app.clock.advance(hourMs + dayMs - 1);
  await sweep();
  assert.equal((await app.stored(charge.id)).status, 'PROCESSING');
  await app.clock.advance(1);
  await sweep();
  const stored = await app.stored(charge.id);
  assert.deepEqual([stored.status, stored.failure_code], ['FAILED', 'CHARGE_EXPIRED']);
  assert.equal((await app.timeline(charge.id)).at(-1), 'SETTLED expired');
  assert.equal((await app.stored(fixed.id)).status, 'PROCESSING');
});

/** The charge, paid at the bank, whose webhook is lost; its owner has a session a day later. */
async function givenPaidSilently() {
  const charge = await givenCharge();
  await app.bank.payCharge(charge.txid);
  await app.rows(`delete from webhook_events where status = 'received'`);
  await app.clock.advance(hourMs + dayMs);
  caller = { ...caller, token: await logIn(app, caller.email) };
  return charge;
}

type Statement = Awaited<ReturnType<typeof app.context.provider.statement>>;

/** Sweeps with a provider that changes the statement. */
async function sweepWith(change: (statement: Statement) => Statement): Promise<DayRange[]> {
  const { provider } = app.context;
  const ranges: DayRange[] = [];
  const statement: typeof provider.statement = async (request) => {
    const { start, end } = request;
    ranges.push({ start, end });
    return change(await provider.statement(request));
  };
  await sweepPix.run({ ...app.context, provider: { ...provider, statement } }, sweepJob);
  return ranges;
}

test("a charge that its owner's statement shows as paid is completed and does not end unpaid", async () => {
  const charge = await givenPaidSilently();
  const unpaid = await givenCharge();
  await sweep();
  const stored = await app.stored(charge.id);
  assert.deepEqual([stored.status, stored.failure_code], ['COMPLETED', null]);
  assert.match(stored.end_to_end ?? '', /^E/);
  assert.equal((await app.timeline(charge.id)).at(-1), 'SETTLED found_in_statement');
  assert.equal((await app.stored(unpaid.id)).status, 'PROCESSING');
});

test('a payment of another amount does not complete a charge by the statement', async () => {
  const charge = await givenPaidSilently();
  await app.rows('update pix_transactions set amount = 19 where id = $1', [charge.id]);
  await sweep();
  const { status, failure_code: code } = await app.stored(charge.id);
  assert.deepEqual([status, code], ['FAILED', 'CHARGE_EXPIRED']);
});

test('without a session the charge ends', async () => {
  const charge = await givenPaidSilently();
  await app.call('/auth/logout', { method: 'POST', token: caller.token });
  const ranges = await sweepWith((statement) => statement);
  assert.deepEqual(ranges, []);
  assert.equal((await app.stored(charge.id)).failure_code, 'CHARGE_EXPIRED');
});

test('a statement with a further page is read by days, and else counts as unread for a day', async () => {
  const charge = await givenPaidSilently();
  const pages = (statement: Statement): Statement => ({ ...statement, isWhole: false });
  const ranges = await sweepWith(pages);
  assert.ok(ranges.some(({ start, end }) => start === end));
  assert.equal((await app.stored(charge.id)).status, 'PROCESSING');
  await app.clock.advance(dayMs);
  caller = { ...caller, token: await logIn(app, caller.email) };
  await sweepWith(pages);
  assert.equal((await app.stored(charge.id)).failure_code, 'CHARGE_EXPIRED');
});

test('the statement of another account counts as unread for a day', async () => {
  const before = caller;
  caller = await givenCustomer(app);
  const charge = await givenCharge();
  const parts = { document: null, companyId: null, clientToken: null };
  const other = { userId: caller.id, agency: '0001', accountNumber: '2000225', ...parts };
  await app.clock.advance(hourMs);
  await upsertAccountFromLogin(app.context, other);
  await app.clock.advance(dayMs);
  await sweep();
  assert.equal((await app.stored(charge.id)).status, 'PROCESSING');
  await app.clock.advance(dayMs);
  caller = { ...caller, token: await logIn(app, caller.email) };
  await sweep();
  assert.equal((await app.stored(charge.id)).status, 'FAILED');
  caller = before;
});

test('a statement that cannot be read is read again at the next sweep', async () => {
  const charge = await givenPaidSilently();
  await sweepWith(() => {
    throw new Error('the statement cannot be read');
  });
  assert.equal((await app.stored(charge.id)).status, 'PROCESSING');
  await sweep();
  assert.equal((await app.stored(charge.id)).status, 'COMPLETED');
});

test('a payment after the end is recorded as received, and flagged', async () => {
  const charge = await givenCharge();
  await app.receive(expired(charge));
  const before = await app.receivedBy(caller);
  const late = await app.receive(app.pix({ txid: charge.txid, valor: '20.00' }));
  assert.deepEqual(results(late), ['anomaly: contradicts_final_status']);
  assert.equal(late.items[0]?.transactionId, charge.id);
  assert.equal((await app.receivedBy(caller)).length, before.length + 1);
  assert.equal((await app.stored(charge.id)).status, 'FAILED');
  const timeline = await app.timeline(charge.id);
  assert.equal(timeline.at(-1), 'ANOMALY contradicts_final_status event');
});

test('every rule of the audit holds after all of this', async () => {
  assert.deepEqual(await findBrokenRules(app), []);
});
