/** Real processes on a real PostgreSQL, with the faults that a seed draws. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chaos } from '../chaos/run.ts';
import { serverPrograms } from '../chaos/cluster.ts';

const programs = serverPrograms();

const skip = programs === null ? "needs PostgreSQL's server programs on this machine" : false;

test('payments hold through a minute of faults', { skip }, async (t) => {
  assert.ok(programs);
  const findings = await chaos({
    programs,
    seed: 1,
    minutes: 1,
    print: (line) => t.diagnostic(line),
  });
  assert.deepEqual(findings, []);
});
