/** The audit of the current code, over a database that processes have written. */
import assert from 'node:assert/strict';
import type { PixAudit } from '../../src/operator/pix-audit.ts';
import { typePonte } from '../support/command-line.ts';
import type { Environment } from './service-process.ts';

/** Runs `ponte pix audit`, which must find no violation. @returns what it has checked. */
export async function checkInvariants(environment: Environment): Promise<PixAudit['checked']> {
  const { stdout, stderr } = await typePonte(['pix', 'audit', '--json'], { environment });
  assert.equal(stderr, '');
  const { invariants, checked } = JSON.parse(stdout) as PixAudit;
  assert.deepEqual(
    invariants.filter(({ broken }) => broken > 0),
    [],
  );
  return checked;
}
