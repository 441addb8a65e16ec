/** What a worker counts and what waits in the database can be read at the worker, too. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { startWorker } from '../../../src/app/app.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { testConfig } from '../../support/app.ts';
import { manualClock } from '../../support/clock.ts';
import { createTestDatabase } from '../../support/db.ts';
import { eventually } from '../../support/eventually.ts';
import { passUntil } from '../../support/passing-time.ts';

const log = createLog({ level: 'silent', pretty: false });
const database = await createTestDatabase();
const clock = manualClock();
const start = (environment: Record<string, string>) =>
  startWorker(testConfig(database, environment), { clock, log });

after(() => database.drop());

describe('the metrics of a worker', () => {
  it('are served on METRICS_PORT: what its jobs did, and the facts of the database', async () => {
    const worker = await start({ METRICS_PORT: '0' });
    const { metricsUrl } = worker;
    assert.ok(metricsUrl);
    const scrape = async (): Promise<string> => (await fetch(metricsUrl)).text();
    // The first sweep runs at the start.
    const isDone = /^ponte_jobs_total\{kind="sweep-pix",result="done"\} 1$/m;
    await eventually(async () => isDone.test(await scrape()), 'the sweep');
    const text = await scrape();
    assert.match(text, /^ponte_metrics_database_up 1$/m);
    assert.match(text, /^ponte_pix_accepted_oldest_seconds 0$/m);
    assert.equal((await fetch(new URL('/health/live', metricsUrl))).status, 404);
    await passUntil(clock, worker.stop());
    await assert.rejects(fetch(metricsUrl));
  });

  it('are not served without METRICS_PORT', async () => {
    const worker = await start({});
    assert.equal(worker.metricsUrl, null);
    await worker.stop();
  });

  it('need a port of their own: a taken one ends the start, before a job runs', async () => {
    const other = createServer();
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { port } = other.address() as AddressInfo;
    await assert.rejects(start({ METRICS_PORT: String(port) }), { code: 'EADDRINUSE' });
    other.close();
  });
});
