/** Events that contradict themselves, come under another media type, or are not JSON. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { test } from 'node:test';
import { listWebhooks, showWebhook } from '../../../src/operator/webhooks.ts';
import { unwatched } from '../operator/asking.ts';
import { confirmed, results, startSettlingApp } from './settling.ts';

const app = await startSettlingApp();

/** Delivers bytes under a media type, and settles them. */
async function receive(body: string | Buffer, headers: Record<string, string> = {}) {
  const response = await app.call('/webhooks/provider', { method: 'POST', body, headers });
  assert.equal(response.status, 200, JSON.stringify(response.body));
  assert.equal(response.body.duplicate, false);
  return app.settle(response.body.event_id);
}

const readStatus = async (id: string) => (await app.stored(id)).status;

type Sent = Awaited<ReturnType<typeof app.givenSend>>;

/** Events of a payment of 10.50, of which an object has one name twice with different values. */
const contradictions: Readonly<Record<string, (sent: Sent) => string>> = {
  'two statuses': ({ end_to_end: id }) =>
    `{"event":"PIX_PAYMENT_OUT","endToEnd":"${id}","status":"ERROR","status":"CONFIRMED"}`,
  'two statuses, the failure last': ({ end_to_end: id }) =>
    `{"event":"PIX_PAYMENT_OUT","endToEnd":"${id}","status":"CONFIRMED","status":"ERROR"}`,
  'two amounts': ({ end_to_end: id }) =>
    `{"event":"PIX_PAYMENT_OUT","endToEnd":"${id}","amount":1,"status":"CONFIRMED","amount":10.5}`,
  'two ids': ({ end_to_end: id }) =>
    `{"event":"PIX_PAYMENT_OUT","endToEnd":"${app.newEndToEnd()}","endToEnd":"${id}","status":"CONFIRMED"}`,
  'a name that is escaped once': ({ end_to_end: id }) =>
    `{"event":"PIX_PAYMENT_OUT","endToEnd":"${id}","st\\u0061tus":"ERROR","status":"CONFIRMED"}`,
  'an inner object twice': ({ end_to_end: id }) =>
    `{"event":"PIX_PAYMENT_OUT","data":{"status":"ERROR"},"data":{"endToEnd":"${id}","status":"CONFIRMED"}}`,
  'a contradiction in an inner object': ({ end_to_end: id }) =>
    `{"event":"PIX_PAYMENT_OUT","data":{"endToEnd":"${id}","status":"ERROR","status":"CONFIRMED"}}`,
  'a contradiction in a field that is not read': ({ end_to_end: id }) =>
    `{"event":"PIX_PAYMENT_OUT","endToEnd":"${id}","status":"CONFIRMED","note":{"a":[{"b":1,"b":2}]}}`,
  'a contradiction beyond the length that is parsed at receipt': ({ end_to_end: id }) =>
    `{"event":"PIX_PAYMENT_OUT","endToEnd":"${id}","status":"ERROR","status":"CONFIRMED","note":"${'x'.repeat(20_000)}"}`,
};

for (const [what, event] of Object.entries(contradictions)) {
  test(`an event with ${what} is stored, moves nothing and is flagged`, async () => {
    const sent = await app.givenSend();
    const before = await app.anomalies();
    const settled = await receive(event(sent));
    assert.deepEqual(results(settled), ['anomaly: contradictory_member']);
    assert.equal(settled.status, 'anomaly');
    assert.equal(await readStatus(sent.id), 'PROCESSING');
    assert.equal(await app.anomalies(), before + 1);
  });
}

test('an event that contradicts itself is noted on the open payment that it names', async () => {
  const sent = await app.givenSend();
  const { end_to_end: id } = sent;
  const { items } = await receive(
    `{"event":"PIX_PAYMENT_OUT","endToEnd":"${id}","status":"ERROR","status":"CONFIRMED"}`,
  );
  assert.equal(items[0]?.transactionId, sent.id);
  const timeline = await app.timeline(sent.id);
  assert.match(timeline.at(-1) ?? '', /contradictory_member/);
});

test('an event that says the same twice is read', async () => {
  const sent = await app.givenSend();
  const { end_to_end: id } = sent;
  const doubled = `"endToEnd":"${id}","status": "CONFIRMED"`;
  const event = `{"event":"PIX_PAYMENT_OUT","status":"CONFIRMED",${doubled}}`;
  assert.deepEqual(results(await receive(event)), ['applied']);
  assert.equal(await readStatus(sent.id), 'COMPLETED');
});

test('one item of a batch that contradicts itself does not lose the others', async () => {
  const [good, bad, last] = [await app.givenSend(), await app.givenSend(), await app.givenSend()];
  const item = ({ end_to_end: id }: Sent, rest = '') =>
    `{"event":"PIX_PAYMENT_OUT","endToEnd":"${id}",${rest}"status":"CONFIRMED"}`;
  const batch = `[${item(good)},${item(bad, '"status":"ERROR",')},[${item(last)}]]`;
  const settled = await receive(batch);
  assert.deepEqual(results(settled), ['applied', 'anomaly: contradictory_member', 'applied']);
  assert.deepEqual(
    [await readStatus(good.id), await readStatus(bad.id), await readStatus(last.id)],
    ['COMPLETED', 'PROCESSING', 'COMPLETED'],
  );
});

test('a list of received Pix keeps the items beside one that contradicts itself', async () => {
  const charges = [await givenCharge(), await givenCharge()];
  const items = charges.map(
    (txid, place) =>
      `{"endToEndId":"${app.newEndToEnd()}","txid":"${txid}","valor":"5.00"${place === 0 ? ',"valor":"6.00"' : ''}}`,
  );
  const settled = await receive(`{"pix":[${items.join(',')}]}`);
  assert.deepEqual(results(settled), ['anomaly: contradictory_member', 'applied']);
  const around = await receive(
    `{"status":"ERROR","status":"CONFIRMED","pix":[{"endToEndId":"${app.newEndToEnd()}","txid":"${charges[0]}","valor":"5.00"}]}`,
  );
  assert.deepEqual(results(around), ['anomaly: contradictory_member']);
});

async function givenCharge(): Promise<string> {
  const { body } = await app.charge(app.customer, { type: 'dynamic', amount: 5 });
  const { transaction_identification: txid } = await app.stored(body.transaction_id);
  assert.ok(txid);
  return txid;
}

const otherTypes: readonly Record<string, string>[] = [
  { 'content-type': 'text/plain' },
  { 'content-type': 'text/json' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': 'application/vnd.bank.event+json' },
  { 'content-type': 'application/json; charset=iso-8859-1' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-type': 'nonsense' },
];

for (const headers of otherTypes) {
  test(`JSON under ${headers['content-type']} is processed as JSON`, async () => {
    const sent = await app.givenSend();
    const event = JSON.stringify(confirmed({ endToEnd: sent.end_to_end }));
    assert.deepEqual(results(await receive(event, headers)), ['applied']);
    assert.equal(await readStatus(sent.id), 'COMPLETED');
  });
}

test('an event with a content coding is refused, so that the provider sends it again', async () => {
  const body = gzipSync('{"event":"PIX"}');
  for (const coding of ['gzip', 'br']) {
    const headers = { 'content-encoding': coding };
    const { status } = await app.call('/webhooks/provider', { method: 'POST', body, headers });
    assert.equal(status, 415);
  }
  const hash = createHash('sha256').update(body).digest();
  const stored = 'select from webhook_events where payload_hash = $1';
  assert.deepEqual(await app.rows(stored, [hash]), []);
  const plain = { 'content-encoding': 'identity' };
  assert.deepEqual(results(await receive('{"event":"UNKNOWN"}', plain)), [
    'ignored: unknown_event',
  ]);
});

const notJson: readonly (readonly [string, string | Buffer, Record<string, string>])[] = [
  ['a form', 'status=CONFIRMED&id=1', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['XML', '<event status="CONFIRMED"/>', { 'content-type': 'text/xml' }],
  ['a text', 'OK', { 'content-type': 'text/plain' }],
  ['bytes', Buffer.from([0x7b, 0xff, 0x7d]), { 'content-type': 'application/octet-stream' }],
  ['a long text', 'x'.repeat(100_000), { 'content-type': 'text/plain' }],
];

for (const [what, body, headers] of notJson) {
  test(`${what} is stored and ignored, counted, and shown to an operator`, async () => {
    const ignored = async () => {
      const { values } = await app.context.metrics.webhookEvents.get();
      return values.find(({ labels }) => labels.result === 'ignored')?.value ?? 0;
    };
    const before = await ignored();
    const settled = await receive(body, headers);
    assert.deepEqual(results(settled), ['ignored: not_json']);
    assert.equal(settled.status, 'ignored');
    assert.equal(await ignored(), before + 1);
    const { eventId: id } = settled;
    const { events } = await listWebhooks.run(
      app.context,
      { state: 'ignored', limit: 1 },
      unwatched,
    );
    assert.deepEqual([events[0]?.id, events[0]?.outcomes], [id, { ignored: 1 }]);
    const shown = await showWebhook.run(app.context, { id }, unwatched);
    assert.equal(shown.payload, '***');
    const raw = await showWebhook.run(app.context, { id, raw: true }, unwatched);
    assert.equal(raw.payload, new TextDecoder().decode(Buffer.from(body)));
  });
}
