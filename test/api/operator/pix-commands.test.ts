/** What operators see of payments, and what they can decide about one that stays open. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { listPix, type PixListInput } from '../../../src/operator/pix-list.ts';
import {
  resolvePix,
  riskOfCompleting,
  riskOfFailing,
  type PixResolveInput,
} from '../../../src/operator/pix-resolve.ts';
import { showPix } from '../../../src/operator/pix-show.ts';
import { settleBy } from '../jobs/settling.ts';
import { startPixApp, type StoredPix } from '../pix/pix-app.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { isPlainJson, refused, unwatched } from './asking.ts';

const app = await startPixApp({ environment: { JOBS: 'off' } });
const { context, stored, timeline } = app;
const customer = await givenCustomer(app, { document: '52998224725' });

const minuteMs = 60_000;

async function list(input: Partial<PixListInput>): Promise<string[]> {
  const { transactions } = await listPix.run(context, { limit: 50, ...input }, unwatched);
  return transactions.map(({ id }) => id);
}
const show = (id: string) => showPix.run(context, { id }, unwatched);
const resolve = (
  input: Pick<PixResolveInput, 'id' | 'as'> & Partial<PixResolveInput>,
  operator = 'ana',
) => {
  const confirm = input.as === 'completed' ? { confirm: riskOfCompleting } : {};
  const decided = { reason: 'the bank says so', ...confirm, ...input };
  return resolvePix.run(context, decided, { ...unwatched, operator });
};

/** The statement of the bank shows it. */
const callFailed = (id: string) =>
  resolve({ id, as: 'failed', confirm: riskOfFailing, despiteStatement: true });

async function givenSend(pixKey: string, user: TestUser = customer): Promise<StoredPix> {
  const sent = await app.throughTime(app.send(user, { pix_key: pixKey, amount: 10.5 }));
  const id: string | undefined = sent.body.transaction_id;
  if (id !== undefined) return stored(id);
  const [newest] = await list({ userId: user.id, limit: 1 });
  return stored(newest ?? '');
}

/** As a process that died left it, or one that is at work. */
async function putIn(id: string, phase: string, ago: { ms: number; claimed?: boolean }) {
  const now = app.clock.now().getTime();
  await app.rows(
    `update pix_transactions set phase = $2, outcome = null, updated_at = $3, claimed_until = $4
      where id = $1`,
    [id, phase, new Date(now - ago.ms), ago.claimed ? new Date(now + 1) : null],
  );
}

async function readProviderId(id: string): Promise<{ provider_txid: string | null }> {
  const [row] = await app.rows<{ provider_txid: string | null }>(
    'select provider_txid from pix_transactions where id = $1',
    [id],
  );
  return row ?? { provider_txid: null };
}

const silent = 'silent@ponte.test';
const lost = 'lost@ponte.test';

describe('pix list', () => {
  it('shows the newest first, of a user, in a status and a phase, made long enough ago', async () => {
    const user = await givenCustomer(app);
    const first = await givenSend(silent, user);
    await app.clock.advance(10 * minuteMs);
    const second = await givenSend(lost, user);
    const third = await givenSend('reject@ponte.test', user);
    const of = (input: Partial<PixListInput>) => list({ userId: user.id, ...input });
    assert.deepEqual(await of({}), [third.id, second.id, first.id]);
    assert.deepEqual(await of({ status: 'FAILED' }), [third.id]);
    assert.deepEqual(await of({ status: 'PROCESSING', phase: 'UNKNOWN' }), [second.id]);
    assert.deepEqual(await of({ olderThanMs: 10 * minuteMs }), [first.id]);
    assert.deepEqual(await of({ limit: 1 }), [third.id]);
    assert.deepEqual(await list({ userId: 999_999 }), []);
  });

  it('finds what a customer tells: the e-mail, the amount, and about when', async () => {
    const user = await givenCustomer(app);
    const first = await givenSend(silent, user);
    await app.clock.advance(5 * minuteMs);
    const since = app.clock.now().toISOString();
    const second = await givenSend(silent, user);
    const of = (input: Partial<PixListInput>) => list({ user: user.email, ...input });
    assert.deepEqual(await of({}), [second.id, first.id]);
    assert.deepEqual(await of({ since }), [second.id]);
    const before = new Date(app.clock.now().getTime() - minuteMs).toISOString();
    assert.deepEqual(await of({ until: before }), [first.id]);
    assert.deepEqual(await of({ amountCents: 1_050, since, until: since }), [second.id]);
    assert.deepEqual(await of({ amountCents: 1_051 }), []);
    await refused(of({ user: 'nobody@example.com' }), /there is no user/, 'NOT_FOUND');
  });

  it('lists the stuck payments, oldest first: sent, and advanced by no process', async () => {
    const user = await givenCustomer(app);
    const accepted = await givenSend(silent, user);
    const unknown = await givenSend(lost, user);
    const died = await givenSend(silent, user);
    const paying = await givenSend(silent, user);
    const claimed = await givenSend(silent, user);
    await givenSend('reject@ponte.test', user);
    await app.charge(user, { type: 'dynamic', amount: 5 });
    await putIn(died.id, 'PAYING', { ms: 2 * minuteMs });
    await putIn(paying.id, 'PAYING', { ms: 2 * minuteMs - 1 });
    await putIn(claimed.id, 'PAYING', { ms: 60 * minuteMs, claimed: true });
    const stuck = (input: Partial<PixListInput> = {}) =>
      list({ userId: user.id, stuck: true, ...input });
    assert.deepEqual(await stuck(), [unknown.id, died.id]);
    assert.deepEqual(await stuck({ phase: 'UNKNOWN' }), [unknown.id]);
    assert.deepEqual(await stuck({ olderThanMs: minuteMs }), []);
    assert.deepEqual(await stuck({ status: 'FAILED' }), []);
    await app.clock.advance(10 * minuteMs);
    const { id: last } = claimed;
    assert.deepEqual(await stuck(), [accepted.id, unknown.id, died.id, paying.id, last]);
    assert.deepEqual(await stuck({ limit: 2 }), [accepted.id, unknown.id]);
  });

  it('contains no personal data and is plain JSON', async () => {
    const key = `maria.${randomUUID()}@example.com`;
    const { id } = await givenSend(key);
    const { transactions } = await listPix.run(context, { limit: 1 }, unwatched);
    assert.equal(transactions[0]?.id, id);
    assert.equal(transactions[0].amount, '10.50');
    isPlainJson(transactions);
    assert.ok(!JSON.stringify([transactions, await show(id)]).includes(key));
  });
});

describe('pix show', () => {
  it('shows the transaction and its timeline in order', async () => {
    const send = await givenSend(lost);
    const shown = await show(send.id);
    assert.equal(shown.transaction.endToEnd, send.end_to_end);
    assert.equal(shown.transaction.status, 'PROCESSING');
    assert.deepEqual(
      shown.timeline.map(({ phase, attempt, providerStatus, note }) => [
        phase,
        attempt,
        providerStatus,
        note,
      ]),
      [
        ['RESERVED', null, null, null],
        ['RESOLVED', null, null, null],
        ['PAYING', 1, null, null],
        ['PAYING', 2, '5xx', 'after_unknown'],
        ['PAYING', 3, '5xx', 'after_unknown'],
        ['UNKNOWN', 3, '5xx', null],
      ],
    );
    assert.equal(shown.timelineIsCut, false);
    const { ispb, bank } = shown.payee ?? {};
    assert.deepEqual([ispb, bank], ['11165756', 'GLOBAL SCM LTDA']);
    isPlainJson(shown);
  });

  const waits: readonly { phase: string; ms: number; claimed?: boolean; says: RegExp }[] = [
    { phase: 'RESERVED', ms: 0, says: /process that works on it.*Nothing has been sent/ },
    { phase: 'RESERVED', ms: 60 * minuteMs, says: /A request with the same key.*the sweep/ },
    { phase: 'RESOLVED', ms: 60 * minuteMs, says: /A request with the same key.*the sweep/ },
    { phase: 'PAYING', ms: 0, says: /a process is sending the payment/ },
    { phase: 'PAYING', ms: 60 * minuteMs, claimed: true, says: /is sending the payment/ },
    { phase: 'PAYING', ms: 2 * minuteMs, says: /process that sent the payment has died/ },
    { phase: 'UNKNOWN', ms: 0, says: /its webhook, or its statement, which the sweep reads/ },
    {
      phase: 'ACCEPTED',
      ms: 0,
      says: /The webhook of the provider, which has accepted the payment/,
    },
  ];

  it('says what a send waits for, and what can be done', async () => {
    const { id } = await givenSend(silent);
    for (const { phase, says, ...ago } of waits) {
      await putIn(id, phase, ago);
      const { waitsFor, operator } = await show(id);
      assert.match(waitsFor, says, `${phase} ${ago.ms}`);
      const isOpen = /UNKNOWN|ACCEPTED/.test(phase) || says.source.includes('died');
      assert.equal(operator.includes(`ponte pix resolve ${id}`), isOpen, `${phase} ${ago.ms}`);
    }
  });

  it('says that a statement cannot be read once the user has logged out', async () => {
    const user = await givenCustomer(app);
    const { id } = await givenSend(lost, user);
    await app.call('/auth/logout', { method: 'POST', token: user.token });
    assert.match((await show(id)).waitsFor, /only after the user has logged in again/);
  });

  it('says that a charge waits for its payer', async () => {
    const charge = await app.charge(customer, { type: 'dynamic', amount: 5 });
    assert.match(
      (await show(charge.body.transaction_id)).waitsFor,
      /received Pix completes the charge/,
    );
    await putIn(charge.body.transaction_id, 'RESERVED', { ms: 0 });
    assert.match((await show(charge.body.transaction_id)).waitsFor, /gets the BR Code/);
  });

  it('says that COMPLETED is final, and FAILED only until a proof, if anything can have left', async () => {
    const { id } = await givenSend('reject@ponte.test');
    const failed = await show(id);
    assert.match(failed.waitsFor, /^Nothing. It stays FAILED unless .* proves that it was paid/);
    assert.ok(failed.operator.includes(`\`ponte pix resolve ${id} --as completed\``));
    const unsent = await givenSend('unavailable@ponte.test');
    assert.match((await show(unsent.id)).waitsFor, /FAILED is final/);
    const paid = await givenSend(silent);
    await resolve({ id: paid.id, as: 'completed' });
    assert.match((await show(paid.id)).waitsFor, /COMPLETED is final/);
  });

  it('shows the steps once that an earlier release has stored as rows', async () => {
    const { id } = await givenSend(silent);
    const before = (await show(id)).timeline;
    await app.rows(
      `insert into pix_timeline (id, transaction_id, phase, at)
       values (-2, $1, 'RESERVED', $2), (-1, $1, 'RESOLVED', $2)`,
      [id, app.clock.now()],
    );
    assert.deepEqual((await show(id)).timeline, before);
    assert.equal(before.length, 4);
  });

  it('cuts a timeline that a provider has filled with contradictions, and says so', async () => {
    const { id } = await givenSend(silent);
    await app.rows(
      `insert into pix_timeline (transaction_id, phase, at, note)
       select $1, 'ANOMALY', $2, 'contradicts_final_status' from generate_series(1, 600)`,
      [id, app.clock.now()],
    );
    const shown = await show(id);
    assert.equal(shown.timeline.length, 500);
    assert.equal(shown.timelineIsCut, true);
    assert.equal(shown.timeline[0]?.phase, 'RESERVED');
  });

  it('reports a transaction that does not exist, whatever the command', async () => {
    await refused(show(randomUUID()), /there is no transaction/, 'NOT_FOUND');
  });

  it('finds a transaction by whatever of its ids is quoted', async () => {
    const sent = await givenSend(silent);
    const { provider_txid: providerId } = await readProviderId(sent.id);
    const key = (await show(sent.id)).transaction.clientRequestId;
    assert.ok(sent.end_to_end && key && providerId);
    const charge = await app.charge(customer, { type: 'static', amount: 5 });
    const chargeId: string = charge.body.transaction_id;
    const { transaction_identification: txid } = await stored(chargeId);
    assert.ok(txid);
    for (const [reference, id] of [
      [sent.id, sent.id],
      [sent.id.toUpperCase(), sent.id],
      [sent.end_to_end, sent.id],
      [` ${sent.end_to_end} `, sent.id],
      [key, sent.id],
      [providerId, sent.id],
      [txid, chargeId],
      // A static code has room for 25 of the 26 characters.
      [txid.slice(0, 25), chargeId],
    ] as const) {
      assert.equal((await show(reference)).transaction.id, id, reference);
    }
  });

  it('names every transaction of an id that several have', async () => {
    const other = await givenCustomer(app);
    const key = randomUUID();
    const ids = [];
    for (const user of [customer, other]) {
      const { body } = await app.send(user, { pix_key: silent, amount: 1 }, { key });
      ids.push(body.transaction_id);
    }
    const [one, two] = ids;
    const several = new RegExp(`is an id of 2 transactions: ${one} \\(SEND of user .*${two}`);
    await refused(show(key), several, 'REFUSED');
  });

  it('calls no unknown form an id, and an id of a known form no unknown form', async () => {
    const unknown = /^'.*' is not an id of a transaction: give its id \(a UUID\)/;
    for (const text of ['', 'everything', '*', '42', `E${'1'.repeat(30)}`, 'maria@example.com']) {
      await refused(show(text), unknown, text === '' ? 'INVALID' : 'NOT_FOUND');
    }
    for (const id of [randomUUID(), `E1116575620261121${'0'.repeat(15)}`, 'A1'.repeat(13)]) {
      await refused(show(id), /there is no transaction/, 'NOT_FOUND');
    }
  });

  it('names the payee, masked', async () => {
    const { payee } = await show((await givenSend('bruno@example.com')).id);
    assert.ok(payee?.name && payee.document);
    assert.match(payee.name, /^\p{L}\*{3}(?: \p{L}\*{3})*$/u);
    assert.match(payee.document, /\*/);
    assert.doesNotMatch(payee.document, /\d{9}/);
  });
});

describe('pix resolve', () => {
  it('completes an open send, and writes down who decided and why', async () => {
    for (const key of [silent, lost]) {
      const send = await givenSend(key);
      const { transaction } = await resolve({
        id: send.id,
        as: 'completed',
        reason: ' protocol 20261121-7 of the bank ',
      });
      assert.equal(transaction.status, 'COMPLETED');
      assert.equal(transaction.phase, 'SETTLED');
      assert.equal(transaction.outcome, 'accepted');
      assert.equal(transaction.settledAt, app.clock.now().toISOString());
      assert.equal(
        (await timeline(send.id)).at(-1),
        'SETTLED operator ana: protocol 20261121-7 of the bank',
      );
    }
  });

  it('only checks whether it may be done, with onlyCheck', async () => {
    const { id } = await givenSend(lost);
    const { transaction } = await resolve({ id, as: 'completed', onlyCheck: true });
    assert.equal(transaction.status, 'PROCESSING');
    assert.equal((await stored(id)).status, 'PROCESSING');
    await refused(
      resolve({ id, as: 'failed', onlyCheck: true }),
      /money may have moved/,
      'INVALID',
    );
  });

  it('resolves one whose process died in PAYING', async () => {
    const { id } = await givenSend(silent);
    await putIn(id, 'PAYING', { ms: 2 * minuteMs });
    const { transaction } = await resolve({ id, as: 'completed' });
    assert.equal(transaction.status, 'COMPLETED');
  });

  it('fails an open send only when the risk is named, word for word', async () => {
    const { id } = await givenSend(lost);
    for (const confirm of [undefined, 'yes', 'Money may have moved']) {
      const input = { id, as: 'failed' as const, ...(confirm !== undefined && { confirm }) };
      await refused(resolve(input), /money may have moved.*pay twice/, 'INVALID');
    }
    assert.equal((await stored(id)).status, 'PROCESSING');
    const { transaction } = await callFailed(id);
    assert.deepEqual(
      [transaction.status, transaction.outcome, transaction.failureCode],
      ['FAILED', 'rejected', 'OPERATOR_DECISION'],
    );
  });

  it('completes one only when it is said, word for word, that money has moved', async () => {
    const { id } = await givenSend(lost);
    for (const confirm of ['yes', riskOfFailing, 'Money has moved']) {
      const refusal = /confirm that “money has moved”: the person is told so/;
      await refused(resolve({ id, as: 'completed', confirm }), refusal, 'INVALID');
    }
    assert.equal((await stored(id)).status, 'PROCESSING');
  });

  it('wakes the requests that wait for the transaction', async () => {
    const { id } = await givenSend(silent);
    const waiting = app.view(customer, id, { prefer: 'wait=30' });
    await app.waiting(30_000);
    await resolve({ id, as: 'completed' });
    assert.equal((await waiting).body.status, 'COMPLETED');
  });

  it('makes a webhook that contradicts it later an anomaly', async () => {
    const { id, end_to_end: endToEnd } = await givenSend(silent);
    await callFailed(id);
    const posted = await app.call('/webhooks/provider', {
      body: { event: 'PIX_PAYMENT_OUT', endToEnd, status: 'CONFIRMED' },
    });
    const { event_id: eventId } = posted.body;
    await settleBy(app, eventId);
    const [event] = await app.rows('select status from webhook_events where id = $1', [eventId]);
    assert.equal(event?.['status'], 'anomaly');
    assert.equal((await stored(id)).status, 'FAILED');
    const { operator } = await show(id);
    assert.match(operator, new RegExp(`what explains the anomalies .*list --transaction ${id}`));
    assert.match(operator, new RegExp(`If it was paid, run .*resolve ${id} --as completed`));
  });

  it('corrects a send that failed and was paid, and names the payment after it', async () => {
    const failed = await givenSend('reject@ponte.test');
    await app.clock.advance(minuteMs);
    const again = await givenSend(silent);
    await app.rows('update pix_transactions set pix_key = $2 where id = $1', [
      again.id,
      failed.pix_key,
    ]);
    const checked = await resolve({ id: failed.id, as: 'completed', onlyCheck: true });
    assert.equal(checked.transaction.status, 'FAILED');
    const { transaction } = await resolve({ id: failed.id, as: 'completed', corrects: true });
    assert.deepEqual(
      [transaction.status, transaction.outcome, transaction.paidAgainBy],
      ['COMPLETED', 'accepted', again.id],
    );
    const note = 'SETTLED corrected operator ana: the bank says so';
    assert.equal((await timeline(failed.id)).at(-1), note);
    assert.match((await show(failed.id)).operator, new RegExp(`that ${again.id} has paid`));
    const [action] = await app.rows<{ command: string; outcome: string }>(
      'select command, outcome from operator_actions where target = $1',
      [`pix:${failed.id}`],
    );
    assert.deepEqual(
      [action?.command, action?.outcome],
      ['pix resolve --as completed', 'COMPLETED'],
    );
  });

  it('completes, fails and corrects a charge', async () => {
    const make = async (): Promise<string> =>
      (await app.charge(customer, { type: 'dynamic', amount: 5 })).body.transaction_id;
    const [paid, unpaid] = [await make(), await make()];
    await resolve({ id: paid, as: 'completed' });
    assert.equal((await stored(paid)).status, 'COMPLETED');
    await refused(resolve({ id: unpaid, as: 'failed' }), /money may have moved/, 'INVALID');
    await resolve({ id: unpaid, as: 'failed', confirm: riskOfFailing });
    assert.equal((await stored(unpaid)).status, 'FAILED');
    await refused(resolve({ id: unpaid, as: 'completed' }), /FAILED: check it again/);
    await resolve({ id: unpaid, as: 'completed', corrects: true });
    assert.equal((await stored(unpaid)).status, 'COMPLETED');
  });

  it('does not call a charge failed whose payment the statement shows', async () => {
    const { body } = await app.charge(customer, { type: 'dynamic', amount: 5 });
    const { id, transaction_identification: txid } = await stored(body.transaction_id);
    assert.equal((await app.bank.payCharge(txid ?? '')).outcome, 'done');
    const failed = { id, as: 'failed', confirm: riskOfFailing } as const;
    await refused(
      resolve(failed),
      /the statement shows this payment: from tomorrow, `ponte reconcile/,
    );
    assert.equal((await stored(id)).status, 'PROCESSING');
  });

  it('refuses what is completed, was never sent, or is being sent', async () => {
    const completed = await givenSend(silent);
    await resolve({ id: completed.id, as: 'completed' });
    for (const [as, says] of [
      ['completed', /it is COMPLETED already$/],
      ['failed', /COMPLETED, and that is final/],
    ] as const) {
      await refused(resolve({ id: completed.id, as, confirm: riskOfFailing }), says);
    }
    const failed = await givenSend('reject@ponte.test');
    const failedAgain = resolve({ id: failed.id, as: 'failed', confirm: riskOfFailing });
    await refused(failedAgain, /FAILED already/);
    const unsent = await givenSend('notfound@ponte.test');
    await refused(
      resolve({ id: unsent.id, as: 'completed', corrects: true }),
      /failed before it was sent/,
    );
    const { id } = await givenSend(silent);
    for (const phase of ['RESERVED', 'RESOLVED']) {
      await putIn(id, phase, { ms: 60 * minuteMs });
      await refused(resolve({ id, as: 'completed' }), new RegExp(`in ${phase}: nothing was sent`));
    }
    await putIn(id, 'PAYING', { ms: 2 * minuteMs - 1 });
    await refused(resolve({ id, as: 'completed' }), /may be sending it at this moment/);
    await putIn(id, 'PAYING', { ms: 60 * minuteMs, claimed: true });
    await refused(resolve({ id, as: 'completed' }), /may be sending it at this moment/);
    const missing = resolve({ id: randomUUID(), as: 'completed' });
    await refused(missing, /there is no transaction/, 'NOT_FOUND');
    await refused(
      resolve({ id: '*', as: 'completed' }),
      /'\*' is not an id of a transaction/,
      'NOT_FOUND',
    );
  });

  it('refuses a reason that does not belong in a timeline, and a decision without an operator', async () => {
    const { id } = await givenSend(silent);
    const mistakes: readonly [Partial<PixResolveInput>, RegExp][] = [
      [{ reason: '  ' }, /a reason is required/],
      [{ reason: 'x'.repeat(501) }, /has 501 characters/],
      [{ reason: 'one\nSETTLED operator eve: two' }, /control characters/],
      [{ reason: 'paid \u001B[2J' }, /control characters/],
      [{ reason: 'paid \u202Eto' }, /control characters/],
      [{ reason: 'reported by maria@example.com' }, /must not contain an e-mail/],
      [{ reason: 'account of (529.982.247-25)' }, /must not contain an e-mail/],
    ];
    for (const [input, sentence] of mistakes) {
      await refused(resolve({ id, as: 'completed', ...input }), sentence, 'INVALID');
    }
    for (const operator of ['', 'a\nb', 'x'.repeat(129)]) {
      await refused(resolve({ id, as: 'completed' }, operator), /name the operator/, 'INVALID');
    }
    assert.equal((await stored(id)).status, 'PROCESSING');
    await resolve({ id, as: 'completed', reason: '😀'.repeat(500) });
  });

  it('changes nothing when the provider was quicker', async () => {
    const { id } = await givenSend(lost);
    const transaction: typeof context.db.transaction = async (work) => {
      await app.rows(`update pix_transactions set phase = 'ACCEPTED' where id = $1`, [id]);
      return context.db.transaction(work);
    };
    const db = { ...context.db, transaction };
    const completed = { id, as: 'completed', confirm: riskOfCompleting } as const;
    const input = { ...completed, reason: 'because' };
    await refused(
      resolvePix.run({ ...context, db }, input, unwatched),
      /moved to ACCEPTED meanwhile/,
    );
    assert.equal((await stored(id)).status, 'PROCESSING');
  });
});
