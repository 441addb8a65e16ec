/** What the tests of ops do alike. */
import assert from 'node:assert/strict';
import { OpError, type OpCaller, type OpRefusal } from '../../../src/operator/op.ts';

/** Who runs the ops of tests that do not look at the progress. */
export const unwatched: OpCaller = { operator: 'ana', progress: () => undefined };

/** Asserts that an op refuses, with a sentence for the operator. */
export async function refused(
  work: Promise<unknown>,
  sentence: RegExp,
  code: OpRefusal = 'REFUSED',
): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof OpError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, sentence);
    return true;
  });
}

/** Asserts that a result is plain JSON: it comes through a socket as it is. */
export function isPlainJson(result: unknown): void {
  const text = JSON.stringify(result);
  assert.deepEqual(JSON.parse(text), result);
}
