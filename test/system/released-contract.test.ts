/** Clients of every released contract keep working. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { fuzz } from '../fuzz/run.ts';

const folder = new URL('../../contract/released/', import.meta.url);

for (const name of await readdir(folder)) {
  test(`a client of ${name} is answered as that contract says`, async () => {
    const lines: string[] = [];
    const released = fileURLToPath(new URL(name, folder));
    const print = (line: string): void => void lines.push(line);
    const findings = await fuzz({ seed: 1, requests: 2_000, only: null, released, print });
    assert.deepEqual(findings, []);
    assert.match(lines.at(-1) ?? '', /2xx: \d{3}/);
  });
}
