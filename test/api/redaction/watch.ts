/**
 * Runs flows and looks at what they leave in the log, the metrics and the refusals: nothing
 * personal and nothing secret may come out, whatever is done.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { operations } from '../../../src/app/operations.ts';
import { unhurriedTimeoutMs } from '../../support/passing-time.ts';
import type { Flow } from './flows.ts';
import { listForms, others, person, secrets } from './values.ts';
import type { World } from './world.ts';

/** Settings under which the flows are run. */
export const watchedEnvironment = {
  WEBHOOK_SECRET: secrets.webhookSecret,
  // The clock moves far when a provider hangs.
  JWT_TTL_SECONDS: '2592000',
  PROVIDER_TIMEOUT_MS: String(unhurriedTimeoutMs),
  PROVIDER_RETRIES: '1',
} as const;

/** Runs the flows one after the other; each is a test, so that a hit has a name. */
export function watch(world: World, all: readonly Flow[]): void {
  for (const flow of all) {
    it(flow.name, async () => {
      const { app, hidden } = world;
      const seen = app.logLines.length;
      await flow.run(world);
      assert.deepEqual(hidden.foundIn(app.logLines.slice(seen).join('')), []);
    });
  }
}

/** Outputs other than the log, and the log as a whole: a flow hides values that are older. */
export function watchTheRest(world: World): void {
  it('lets nothing out in the log before it was hidden', () => {
    const { app, hidden } = world;
    assert.deepEqual(hidden.foundIn(app.logLines.join('')), []);
  });

  it('lets nothing out in the metrics', async () => {
    const { app, hidden } = world;
    const text = await (await fetch(`${app.url}/metrics`)).text();
    assert.match(text, /ponte_http_request_seconds_count\{operation="sendPix",status="502"\}/);
    assert.deepEqual(hidden.foundIn(text), []);
  });

  it('lets nothing out in a refusal, not even what was just sent', () => {
    const { hidden, refusals } = world;
    assert.ok(refusals.length > 30);
    const out = refusals.filter((refusal) => hidden.foundIn(refusal).length > 0);
    assert.deepEqual(out, []);
  });

  it('is a proof: every operation was used, and the finest lines are there', () => {
    const { app } = world;
    const lines = app.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const used = new Set(lines.map(({ operation }) => operation));
    assert.deepEqual(
      Object.keys(operations).filter((operation) => !used.has(operation)),
      [],
      'Use the operation in a flow of test/api/redaction/flows.ts, with personal data if it takes any',
    );
    const messages = new Set(lines.map(({ level, msg }) => `${String(level)} ${String(msg)}`));
    for (const message of [
      'debug provider call',
      'warn provider call failed',
      'error a job failed',
      'error the request failed',
    ]) {
      assert.ok(messages.has(message), `${message}: ${[...messages].join(', ')}`);
    }
  });

  it('is a proof: what is searched for would be found', () => {
    const { app, hidden } = world;
    for (const value of Object.values({ ...person, ...others, ...secrets })) {
      for (const form of listForms(value)) {
        const seen = app.logLines.length;
        app.context.log.debug({ note: form }, 'let out');
        assert.notDeepEqual(hidden.foundIn(app.logLines.slice(seen).join('')), [], form);
      }
    }
  });
}
