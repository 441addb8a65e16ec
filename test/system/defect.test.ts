/** A real process throws an error that nothing catches, in the middle of a payment. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/db/database.ts';
import { openSandbox } from '../../src/provider/sandbox/open.ts';
import { createTestDatabase } from '../support/db.ts';
import { eventually } from '../support/eventually.ts';
import { settingsFor, startService } from './service-process.ts';

/** Loaded before the service: the signal makes the process throw. */
const defect = `process.on('SIGUSR2', () => { throw new Error('of ana@example.com'); });`;

it('an uncaught exception ends the process after its payments, logged at fatal', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const at = { clock: systemClock, host: '127.0.0.1', port: 0, ispb: '11165756', settleMs: 0 };
  const sandbox = await openSandbox({ ...at, faults: 'payments:hang' });
  t.after(() => sandbox.close());
  const service = startService(t, {
    ...settingsFor(database),
    PROVIDER_STUB: 'false',
    PROVIDER_BASE_URL: sandbox.url,
    PROVIDER_TIMEOUT_MS: '1500',
    PROVIDER_RETRIES: '0',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(defect)}`,
  });
  await service.ready();
  const token = await service.logIn();
  const body = { pix_key: 'ana@example.com', amount: 12.34 };
  const sent = service.call('/pix/send', { token, key: 'under-way', body });
  await eventually(() => hasExecuted(sandbox.url), 'the payment');
  service.signal('SIGUSR2');

  const response = await sent;
  assert.deepEqual([response.status, response.body.status], [200, 'PROCESSING']);
  const { code, stdout } = await service.ended;
  assert.equal(code, 1);
  const fatal = stdout.split('\n').filter((line) => line.includes('"level":"fatal"'));
  assert.equal(fatal.length, 1);
  assert.match(fatal[0] ?? '', /"kind":"uncaught_exception"/);
  assert.doesNotMatch(stdout, /ana@/);

  const { databaseUrl, dataDir } = database;
  const db = await openDatabase({ databaseUrl, dataDir, clock: systemClock });
  t.after(() => db.close());
  const statement = { name: '', text: 'select phase from pix_transactions' };
  assert.deepEqual(await db.query(statement, []), [{ phase: 'UNKNOWN' }]);
});

async function hasExecuted(sandboxUrl: string): Promise<boolean> {
  const response = await fetch(`${sandboxUrl}/sandbox/ledger`);
  const { payments } = (await response.json()) as { payments: readonly unknown[] };
  return payments.length === 1;
}
