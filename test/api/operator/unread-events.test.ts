/** Events that no dialect reads show: in a counter by reason, and in `doctor`. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Finding } from '../../../src/operator/doctor.ts';
import { startSettlingApp } from '../jobs/settling.ts';
import { runPonte } from './command-line.ts';

const app = await startSettlingApp();

async function unreadEvents(): Promise<Finding | undefined> {
  const { stdout } = await runPonte(app, ['doctor', '--json']);
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
  return findings.find(({ name }) => name === 'unread events');
}

it('an event with an unknown word is counted by its reason, and doubtful', async () => {
  assert.equal((await unreadEvents())?.state, 'ok');
  const body = { event: 'PIX_NOVELTY', endToEnd: app.newEndToEnd(), amount: 10.5 };
  const response = await app.call('/webhooks/provider', { method: 'POST', body });
  await app.settle(response.body.event_id);
  const metrics = await app.context.metrics.registry.metrics();
  assert.match(metrics, /^ponte_unread_events_total\{reason="unknown_event"\} 1$/m);
  const { state, says } = (await unreadEvents()) ?? assert.fail();
  assert.equal(state, 'doubtful');
  assert.match(says, /^1 /);
});

it('an anomaly that an operator has accepted is not one', async () => {
  const before = await unreadEvents();
  const send = await app.givenSend();
  const report = { event: 'PIX_PAYMENT_OUT', endToEnd: send.end_to_end, amount: 10.5 };
  await app.receive({ ...report, status: 'COMPLETED' });
  const { eventId, status } = await app.receive({
    ...report,
    status: 'ERROR',
    error: { code: 'AB03' },
  });
  assert.equal(status, 'anomaly');
  const words = ['webhook', 'accept', eventId, '--reason', 'ticket 7', '--yes'];
  assert.equal((await runPonte(app, words)).code, 0);
  assert.deepEqual(await unreadEvents(), before);
});
