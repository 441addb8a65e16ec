/** Messages that are not about a payment that is made now, for its payee, in reais. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();
const { customer, givenSend, stored, receive, newEndToEnd } = app;

/** How many events were counted because they are not understood, by reason. */
async function unread(reason: string): Promise<number> {
  const { values } = await app.context.metrics.unreadEvents.get();
  return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
}

/** More than 24 hours after the test's clock. */
const ahead = '2026-05-26T12:00:00Z';

const foreign: readonly (readonly [reason: string, fields: Record<string, unknown>])[] = [
  ['other_payee_key', { key: 'zoe@example.com' }],
  ['other_payee_key', { chave: '52998224725' }],
  ['other_payee_key', { creditParty: { key: '+5511987654321' } }],
  ['other_payee_key', { key: 'ana@example.com', pixKey: 'zoe@example.com' }],
  ['scheduled', { scheduleDate: '2026-06-01' }],
  ['scheduled', { scheduled_at: '2026-05-24T12:00:00Z' }],
  ['scheduled', { details: { agendamento: { dia: 1 } } }],
  ['scheduled', { recurrence: { interval: 'MONTHLY' } }],
  ['dated_ahead', { createdAt: ahead }],
  ['dated_ahead', { paymentDate: '2026-05-26' }],
  ['dated_ahead', { details: { dataLiquidacao: '26/05/2026 12:00' } }],
  ['dated_ahead', { time: Date.parse(ahead) }],
  ['dated_ahead', { timestamp: Date.parse(ahead) * 1_000 }],
  ['test', { test: true }],
  ['test', { environment: 'SANDBOX' }],
  ['test', { livemode: false }],
  ['other_currency', { currency: 'USD' }],
  ['other_currency', { moeda: 840 }],
  ['cancellation', { cancelledAt: '2026-05-24T12:00:00Z' }],
  ['cancellation', { canceled: 'true' }],
];

for (const [reason, fields] of foreign) {
  for (const status of ['CONFIRMED', 'ERROR']) {
    test(`${status} beside ${JSON.stringify(fields)} proves nothing: ${reason}`, async () => {
      const send = await givenSend();
      const before = await unread(reason);
      const event = await receive(confirmed({ endToEnd: send.end_to_end, status, ...fields }));
      assert.deepEqual(event.items, [
        { index: 0, result: 'ignored', reason, transactionId: send.id },
      ]);
      assert.deepEqual(await stored(send.id), send);
      assert.equal((await unread(reason)) - before, 1);
    });
  }
}

for (const fields of [
  { key: 'ana@example.com' },
  { key: ' ANA@example.com' },
  { key: 'a**@example.com' },
  { scheduleDate: null, scheduled: false, test: 'false', currency: 'BRL', cancelledAt: '' },
  { timestamp: Date.parse('2026-05-25T11:59:00Z') * 1_000 },
  { timestamp: `${Date.parse('2026-05-25T11:59:00Z')}000000` },
  { createdAt: '2026-05-25T11:59:00Z', dueDate: '2030-01-01', environment: 'production' },
]) {
  test(`an event beside ${JSON.stringify(fields)} counts`, async () => {
    const send = await givenSend();
    const event = await receive(confirmed({ endToEnd: send.end_to_end, ...fields }));
    assert.deepEqual(results(event), ['applied']);
  });
}

for (const [reason, outer, inner] of [
  ['test', { test: true }, {}],
  ['scheduled', {}, { agendamento: '2026-06-01' }],
  ['dated_ahead', {}, { paymentDate: ahead }],
] as const) {
  test(`money that came in is not received: ${reason}`, async () => {
    const before = (await app.receivedBy(customer)).length;
    const item = { endToEndId: newEndToEnd(), valor: '2.00', chave: customer.email };
    const event = { ...outer, pix: [{ horario: '2026-05-24T12:00:00Z', ...item, ...inner }] };
    assert.deepEqual(results(await receive(event)), [`ignored: ${reason}`]);
    assert.equal((await app.receivedBy(customer)).length, before);
  });
}

test('a date that has come since does not make a stored event count', async () => {
  const send = await givenSend();
  const event = await receive(confirmed({ endToEnd: send.end_to_end, paymentDate: ahead }));
  assert.deepEqual(results(event), ['ignored: dated_ahead']);
  await app.clock.advance(3 * 24 * 3_600_000);
  assert.deepEqual(results(await app.settle(event.eventId)), ['ignored: dated_ahead']);
});

test('a line of the statement proves nothing beside such a sign', () => {
  const line = { endToEnd: newEndToEnd(), amount: 10.5, type: 'DEBIT', status: 'COMPLETED' };
  const at = app.clock.now();
  const statuses = [
    {},
    { scheduleDate: '2026-06-01' },
    { date: '2026-06-10' },
    { currency: 'USD' },
    { cancelled: true },
    { test: 1 },
    { key: 'zoe@example.com' },
  ].map((sign) => {
    const read = app.context.dialects.readStatement([{ ...line, ...sign }], false, at);
    return read?.lines[0]?.status;
  });
  assert.deepEqual(statuses, ['COMPLETED', null, null, null, null, null, null]);
});
