/** A table of responses and of what the real client reads in them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Provider } from '../../../../src/provider/provider.ts';
import { failure } from '../sandbox/bank/open-bank.ts';
import { notUnderstood, providerAt } from './over-http.ts';
import { responding } from './raw-server.ts';

export type Row = readonly [body: unknown, expected: unknown];

type Call = (provider: Provider) => Promise<unknown>;

/** Each body, answered with 200, is read as the value beside it. */
export function reads(title: string, call: Call, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [body, expected] of rows) {
      it(JSON.stringify(body).slice(0, 100), async () => {
        const { url } = await responding(200, JSON.stringify(body));
        assert.deepEqual(await call(providerAt(url)), expected);
      });
    }
  });
}

/** None of the bodies, answered with 200, is understood; a text is sent unchanged. */
export function understandsNone(title: string, call: Call, bodies: readonly unknown[]): void {
  describe(`${title} that cannot be used:`, () => {
    for (const body of bodies) {
      it((typeof body === 'string' ? body : JSON.stringify(body)).slice(0, 60), async () => {
        const { url } = await responding(200, body);
        assert.deepEqual(await failure(call(providerAt(url))), notUnderstood);
      });
    }
  });
}
