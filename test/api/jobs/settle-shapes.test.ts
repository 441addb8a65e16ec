/** Every shape of a payload: its transaction is there, or comes later, or never comes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { newEndToEndId, newTransactionIdentification } from '../../../src/domain/pix.ts';
import type { WebhookItem } from '../../../src/provider/webhook-events.ts';
import { endToEnd, shapes, txid } from '../../unit/provider/webhook-shapes.ts';
import { results, startSettlingApp } from './settling.ts';
import { reserveCharge, reserveSend } from './transactions.ts';

const app = await startSettlingApp();
const { clock, customer, deliver, settle, stored, receive } = app;

type Ids = WebhookItem['ids'];

interface Case {
  readonly title: string;
  readonly payload: unknown;
  readonly event: WebhookItem;
}

/** The shapes with ids of their own: no two cases mean one transaction. */
function cases(): Case[] {
  return shapes.map(({ title, payload, event }) => {
    const fresh = new Map<unknown, string>([
      [endToEnd, newEndToEndId('99999999', clock.now())],
      [txid, newTransactionIdentification()],
      ...(['key-1', '7f3c', 'p-1', 12345, '12345'] as const).map(
        (id) => [id, `${id}-${randomUUID()}`] as const,
      ),
    ]);
    fresh.set(12345, fresh.get('12345') ?? '');
    const renew = <T>(value: T): T =>
      JSON.parse(JSON.stringify(value), (_, inner: unknown) => fresh.get(inner) ?? inner);
    return { title, payload: renew(payload), event: renew(event) };
  });
}

/** The provider distinguishes a paid send from an open charge. */
async function makeMeant({ ids, kind, payee }: WebhookItem): Promise<string> {
  if (kind === 'received') return makePaid(ids, payee);
  const send = await reserveSend(app, ids.clientRequestId ?? randomUUID());
  await send.pay(ids.endToEnd ?? newEndToEndId('99999999', clock.now()));
  await send.accept(ids.providerTxid);
  return send.id;
}

/** Without an identification, only another event of the same PIX has its payee. */
async function makePaid(ids: Ids, payee: WebhookItem['payee']): Promise<string> {
  if (ids.transactionIdentification !== null) {
    const { key, document, agency, accountNumber } = payee;
    await app.rows(
      `update accounts set document = coalesce($2, document), agency = coalesce($3, agency),
              account_number = coalesce($4, account_number) where user_id = $1`,
      [customer.id, document, agency, accountNumber],
    );
    return (await reserveCharge(app, ids.transactionIdentification, key ?? undefined)).id;
  }
  const receipt = {
    event: 'PIX_RECEIVED',
    endToEnd: ids.endToEnd,
    amount: 10.5,
    key: customer.email,
  };
  const [received] = (await receive(receipt)).items;
  assert.equal(received?.result, 'applied');
  return received?.transactionId ?? '';
}

/** A failure by ids that other payments may have fails nothing. */
const isWeak = ({ ids, kind, status }: WebhookItem) =>
  kind === 'payment' && status === 'FAILED' && ids.endToEnd === null;

const isSettled = async (id: string, event: WebhookItem) =>
  assert.equal((await stored(id)).status, isWeak(event) ? 'PROCESSING' : event.status);

/** Where another event has recorded the PIX there is nothing left to apply. */
function done(event: WebhookItem): readonly string[] {
  if (isWeak(event)) return ['parked: weak_id'];
  const isKnown = event.kind === 'received' && event.ids.transactionIdentification === null;
  return isKnown ? ['already'] : ['applied'];
}

for (const { title, payload, event } of cases()) {
  test(`it is applied to its transaction: ${title}`, async () => {
    const id = await makeMeant(event);
    assert.deepEqual(results(await receive(payload)), done(event));
    await isSettled(id, event);
  });
}

for (const { title, payload, event } of cases()) {
  test(`it is applied as soon as its transaction is there: ${title}`, async () => {
    const parked = await receive(payload);
    assert.deepEqual([parked.status, results(parked)], ['parked', ['parked: no_match']]);
    assert.notDeepEqual(await app.readWoken(parked.eventId), clock.now(), 'the event waits');
    const id = await makeMeant(event);
    assert.deepEqual(await app.readWoken(parked.eventId), clock.now(), 'the event is due now');
    assert.deepEqual(results(await settle(parked.eventId)), done(event));
    await isSettled(id, event);
  });
}

test('it is an orphan when its transaction does not come within a day, whatever its shape', async () => {
  const parked = [];
  for (const { payload } of cases()) parked.push(await deliver([payload, payload]));
  for (const eventId of parked) assert.equal((await settle(eventId)).status, 'parked');
  await clock.advance(24 * 60 * 60_000);
  for (const [nth, eventId] of parked.entries()) {
    const orphan = await settle(eventId);
    const expected = ['orphaned: no_match', 'orphaned: no_match'];
    assert.deepEqual([orphan.status, results(orphan)], ['orphaned', expected], `shape ${nth}`);
    assert.equal(orphan.retryAt, null);
  }
});
