import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isDatabaseUnavailable } from '../../../src/db/unavailable.ts';
import { manualClock } from '../../support/clock.ts';
import { createTestDatabase } from '../../support/db.ts';
import { openDatabase } from '../../../src/db/database.ts';

const made = await createTestDatabase();
const { databaseUrl, dataDir } = made;
const db = await openDatabase({ databaseUrl, dataDir, clock: manualClock() });
after(async () => {
  await db.close();
  await made.drop();
});

const onServer = { skip: !databaseUrl };

test('an exhausted pool refuses at once what would wait behind 500', onServer, async () => {
  const ask = (): Promise<unknown[]> => db.query({ name: '', text: 'select 1' }, []);
  await ask();
  const settled = await Promise.allSettled(Array.from({ length: 1_000 }, ask));
  const refused = settled.filter((one) => one.status === 'rejected');
  assert.ok(refused.length > 400 && refused.length <= 500, `${refused.length} were refused`);
  for (const { reason } of refused) assert.ok(isDatabaseUnavailable(reason));
  assert.equal((await ask()).length, 1);
});

test('units of work wait for no statement', onServer, async () => {
  const hold = () => db.query({ name: '', text: 'select pg_sleep(0.5)' }, []);
  const held = Promise.all(Array.from({ length: 10 }, hold));
  const em = await db.em();
  const begun = performance.now();
  await em.getConnection().execute('select 1');
  assert.ok(performance.now() - begun < 400);
  await held;
});
