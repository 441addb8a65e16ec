/** Webhooks that are refused show: in a counter by reason, and in `doctor`, another process. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Finding } from '../../../src/operator/doctor.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { runPonte } from './command-line.ts';

const secret = 'the-right-secret-of-the-provider-1234';
const signingSecret = 'the-right-signing-secret-1234567890';
const app = await startTestApp({ environment: { WEBHOOK_SECRET: secret } });
const signed = await startTestApp({ environment: { WEBHOOK_SIGNING_SECRET: signingSecret } });
const distant = await startTestApp({ environment: { WEBHOOK_ALLOWED_ADDRESSES: '203.0.113.7' } });

const body = '{"event": "NEWS"}';

function post(to: TestApp, headers: Record<string, string> = {}) {
  return to.call('/webhooks/provider', { method: 'POST', body, headers });
}

async function countRefusals(to: TestApp): Promise<Record<string, number>> {
  const text = await to.context.metrics.registry.metrics();
  const lines = text.matchAll(/^ponte_webhook_refusals_total\{reason="(\w+)"\} (\d+)$/gm);
  const counts = [...lines].map(([, reason = '', count]) => [reason, Number(count)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

async function line(to: TestApp): Promise<Finding | undefined> {
  const { stdout } = await runPonte(to, ['doctor', '--json']);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return findings.find(({ name }) => name === 'refused webhooks');
}

describe('a refused webhook', () => {
  it('is counted by its reason, from zero on', async () => {
    const text = await app.context.metrics.registry.metrics();
    assert.match(text, /^ponte_webhook_refusals_total\{reason="wrong_secret"\} 0$/m);
    assert.equal((await post(app, { 'X-Webhook-Secret': secret })).status, 200);
    assert.equal((await post(app, { 'X-Webhook-Secret': 'another' })).status, 401);
    assert.equal((await post(app)).status, 401);
    assert.deepEqual(await countRefusals(app), { wrong_secret: 1, missing_secret: 1 });
  });

  it('shows in doctor within a second, for an hour, with the reason', async () => {
    for (let sent = 0; sent < 17; sent += 1) await post(app, { 'X-Webhook-Secret': 'another' });
    await app.clock.advance(1_000);
    await app.clock.skip(4 * 60_000);
    const finding = await line(app);
    assert.equal(finding?.state, 'doubtful');
    assert.equal(
      finding.says,
      '19 within an hour, the last one 4 min ago: 18 wrong_secret, 1 missing_secret',
    );
    assert.match(String(finding.todo), /"A webhook did not arrive" in the handbook/);
    await app.clock.skip(61 * 60_000);
    assert.equal((await line(app))?.state, 'ok');
  });

  it('leaves nothing else: no event, no secret, no address', async () => {
    const rows = await app.rows('select * from webhook_refusals order by reason');
    assert.ok(rows.length > 0);
    for (const row of rows) {
      assert.deepEqual(Object.keys(row).sort(), ['last_at', 'minute', 'reason', 'refusals']);
    }
    assert.equal((await app.rows('select * from webhook_events')).length, 1);
    assert.doesNotMatch(app.logLines.join('\n'), /another|right-secret/);
  });

  it('of a signed service says what is wrong with the signature', async () => {
    const seconds = Math.floor(signed.clock.now().getTime() / 1_000);
    const headersFor = (key: string, timestamp: number): Record<string, string> => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${createHmac('sha256', key)
        .update(`msg_1.${timestamp}.${body}`)
        .digest('base64')}`,
    });
    assert.equal((await post(signed, headersFor(signingSecret, seconds))).status, 200);
    await post(signed, headersFor('another', seconds));
    await post(signed, headersFor(signingSecret, seconds - 301));
    await post(signed);
    assert.deepEqual(await countRefusals(signed), {
      wrong_signature: 1,
      stale_signature: 1,
      missing_signature: 1,
    });
  });

  it('from an address that is not listed is counted, too', async () => {
    assert.equal((await post(distant)).status, 401);
    assert.deepEqual(await countRefusals(distant), { wrong_address: 1 });
  });

  it('is stored later when the database does not take it', async () => {
    const { refusedWebhooks, db } = distant.context;
    const query = db.query.bind(db);
    // The instance has this object: a failing query in it is a database that is away.
    Object.assign(db, { query: () => Promise.reject(new Error('away')) });
    refusedWebhooks.count('wrong_address');
    await refusedWebhooks.store();
    Object.assign(db, { query });
    refusedWebhooks.count('wrong_address');
    await refusedWebhooks.store();
    const [row] = await distant.rows<{ refusals: number }>(
      'select sum(refusals)::int as refusals from webhook_refusals',
    );
    assert.equal(row?.refusals, 3);
  });
});
