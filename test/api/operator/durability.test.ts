/** What `ponte doctor` says of settings that let a crash lose what was stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entries } from '../../../src/config/schema.ts';
import { indexedSettings } from '../../../src/db/pool.ts';
import { durability } from '../../../src/operator/durability.ts';
import { inspectDatabase } from '../../../src/operator/inspect-database.ts';
import { startTestApp } from '../../support/app.ts';
import { unwatched } from './asking.ts';

const failovers = entries.DATABASE_FAILOVER.schema.enum;

const safe = {
  fsync: 'on',
  fullPageWrites: 'on',
  synchronousCommit: 'on',
  hasSynchronousStandby: true,
  standbys: 1,
};

const alone = { ...safe, hasSynchronousStandby: false, standbys: 0 };
const asynchronous = { ...safe, hasSynchronousStandby: false };

test('settings that lose commits are bad, whatever is declared', () => {
  for (const [name, changes] of [
    ['fsync', { fsync: 'off' }],
    ['full_page_writes', { fullPageWrites: 'off' }],
    ['synchronous_commit', { synchronousCommit: 'off' }],
    ['synchronous_commit', { synchronousCommit: 'local' }],
  ] as const) {
    const found = durability({ ...safe, ...changes }, 'synchronous-storage');
    assert.equal(found.state, 'bad', name);
    assert.ok(found.says.startsWith(`${name} is `), found.says);
  }
});

test('a synchronous standby is all right, whatever is declared', () => {
  for (const declared of [undefined, ...failovers]) {
    const found = durability(safe, declared);
    assert.equal(found.state, 'ok');
    assert.match(found.says, /and on a standby$/);
  }
});

test('what a failover loses follows from the standbys and from DATABASE_FAILOVER', () => {
  for (const [declared, found, state, says] of [
    [undefined, alone, 'ok', /no standby is connected$/],
    ['none', alone, 'ok', /no standby is connected$/],
    [undefined, asynchronous, 'doubtful', /failover loses the last commits$/],
    ['none', asynchronous, 'doubtful', /failover loses the last commits$/],
    ['synchronous-standby', alone, 'bad', /which DATABASE_FAILOVER declares/],
    ['synchronous-standby', asynchronous, 'bad', /which DATABASE_FAILOVER declares/],
    ['synchronous-storage', asynchronous, 'ok', /declares replicated storage$/],
    ['asynchronous', asynchronous, 'ok', /its script pauses sends$/],
  ] as const) {
    const finding = durability(found, declared);
    assert.equal(finding.state, state, `${declared}`);
    assert.match(finding.says, says);
    assert.equal(finding.todo === null, state === 'ok');
  }
});

test('commits are synchronous on the connections of the service', async () => {
  assert.ok(indexedSettings.includes('synchronous_commit=on'));
  const app = await startTestApp({ environment: { JOBS: 'off' } });
  const { durability: found } = await inspectDatabase.run(app.context, {}, unwatched);
  if (app.context.db.kind === 'embedded') return;
  assert.equal(found.synchronousCommit, 'on');
});
