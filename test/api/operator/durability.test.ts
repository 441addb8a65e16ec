/** What `ponte doctor` says of settings that let a crash lose what was stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexedSettings } from '../../../src/db/pool.ts';
import { durability } from '../../../src/operator/doctor.ts';
import { inspectDatabase } from '../../../src/operator/inspect-database.ts';
import { startTestApp } from '../../support/app.ts';
import { unwatched } from './asking.ts';

const safe = {
  fsync: 'on',
  fullPageWrites: 'on',
  synchronousCommit: 'on',
  hasSynchronousStandby: true,
  standbys: 1,
};

test('settings that lose commits are bad, and an asynchronous standby is doubtful', () => {
  assert.equal(durability(safe).state, 'ok');
  assert.match(durability(safe).says, /and on a standby/);
  const alone = durability({ ...safe, hasSynchronousStandby: false, standbys: 0 });
  assert.deepEqual([alone.state, alone.todo], ['ok', null]);
  const asynchronous = durability({ ...safe, hasSynchronousStandby: false });
  assert.equal(asynchronous.state, 'doubtful');
  assert.match(asynchronous.says, /failover loses the last commits/);
  for (const [name, changes] of [
    ['fsync', { fsync: 'off' }],
    ['full_page_writes', { fullPageWrites: 'off' }],
    ['synchronous_commit', { synchronousCommit: 'off' }],
    ['synchronous_commit', { synchronousCommit: 'local' }],
  ] as const) {
    const found = durability({ ...safe, ...changes });
    assert.equal(found.state, 'bad', name);
    assert.ok(found.says.startsWith(`${name} is `), found.says);
  }
});

test('commits are synchronous on the connections of the service', async () => {
  assert.ok(indexedSettings.includes('synchronous_commit=on'));
  const app = await startTestApp({ environment: { JOBS: 'off' } });
  const { durability: found } = await inspectDatabase.run(app.context, {}, unwatched);
  if (app.context.db.kind === 'embedded') return;
  assert.equal(found.synchronousCommit, 'on');
});
