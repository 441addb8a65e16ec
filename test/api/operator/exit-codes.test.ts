/** Exit 2 is for arguments that can never be right; exit 1 for what the stored state refuses. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { givenUser } from '../../support/factories.ts';
import { runPonte } from './command-line.ts';

const app = await startTestApp();
const { email } = await givenUser(app);

const decision = ['--reason', 'ticket 7', '--yes'];

const cases: readonly (readonly [code: number, ...argv: string[]])[] = [
  [2, 'account', 'block', email, '--reason', '', '--yes'],
  [2, 'jobs', 'retry', 'abc', '--yes'],
  [2, 'webhook', 'show', 'abc'],
  [2, 'webhook', 'accept', 'abc', ...decision],
  [2, 'pix', 'show', ' '],
  [2, 'reconcile', 'accept', 'abc', ...decision],
  [1, 'account', 'block', email, ...decision],
  [1, 'jobs', 'retry', '4711', '--yes'],
  [1, 'webhook', 'show', randomUUID()],
  [1, 'pix', 'show', randomUUID()],
  [1, 'pix', 'show', 'a-key-of-no-payment'],
  [1, 'reconcile', 'accept', '4711', ...decision],
];

for (const [expected, ...argv] of cases) {
  test(`${argv.slice(0, 3).join(' ')}: exit ${expected}`, async () => {
    const { code, stderr } = await runPonte(app, argv);
    assert.equal(code, expected, stderr);
  });
}
