/** What `GET /health/ready` says of the schema while the service runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';

const app = await startTestApp();

test('a service whose newest migration is undone is not ready until it is applied again', async () => {
  const readiness = async () => {
    const response = await fetch(`${app.url}/health/ready`);
    const { checks } = (await response.json()) as { readonly checks: Record<string, boolean> };
    return { status: response.status, database: checks['database'], schema: checks['migrations'] };
  };
  assert.deepEqual(await readiness(), { status: 200, database: true, schema: true });
  const newest = '(select max(id) from schema_migrations)';
  const undo = `update schema_migrations set name = 'undone ' || name where id = ${newest}`;
  await app.ownerRows(undo);
  assert.deepEqual(await readiness(), { status: 503, database: true, schema: false });
  const redo = `update schema_migrations set name = substr(name, 8) where id = ${newest}`;
  await app.ownerRows(redo);
  assert.deepEqual(await readiness(), { status: 200, database: true, schema: true });
});
