/** `ponte provider dialect`, and what `ponte config check` says of the file of a dialect. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { ConfigReport } from '../../../src/config/report.ts';
import { typePonte } from '../../support/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'ponte-dialects-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const dialect = `
source: bulletin 12 of the bank
markers: kind_of
shapes:
  - name: payment
    kind: payment
    when: { kind_of: [SENT] }
    ids: { endToEnd: e2e }
    amount: { at: cents, unit: centavos }
    status: [{ at: outcome, words: { DONE: COMPLETED } }]
`;

const event = { kind_of: 'SENT', e2e: 'E1', cents: 1050, outcome: 'DONE' };
const reads = {
  shape: 'bank/payment',
  kind: 'payment',
  status: 'COMPLETED',
  endToEnd: 'E1',
  amountCents: 1050,
};
const samples = JSON.stringify([{ name: 'sent', event, reads: [reads] }]);

let files = 0;

/** Writes the file of a dialect, and its samples beside it. */
function given(text = dialect, ofSamples = samples): string {
  const own = mkdtempSync(join(folder, `${(files += 1)}-`));
  writeFileSync(join(own, 'bank.yaml'), text);
  writeFileSync(join(own, 'bank.samples.json'), ofSamples);
  return join(own, 'bank.yaml');
}

function ponte(
  argv: readonly string[],
  changes: Readonly<Record<string, string>> = {},
  stdin = '',
) {
  return typePonte(argv, { environment: { APP_ENV: 'test', ...changes }, stdin });
}

const faulty: Readonly<Record<string, readonly [path: string, fault: RegExp]>> = {
  'a word without a meaning': [
    given(dialect.replace('DONE: COMPLETED', 'DONE: PERHAPS')),
    /bank\/payment: DONE: PERHAPS is none of PROCESSING, COMPLETED/,
  ],
  'a sample that reads otherwise': [
    given(dialect, samples.replace('"amountCents":1050', '"amountCents":105000')),
    /bank: the sample sent reads as .*1050/,
  ],
  'samples that are no JSON': [given(dialect, '['), /bank: its samples are no JSON list/],
  'no file': [join(folder, 'away.yaml'), /away\.yaml cannot be read \(ENOENT\)/],
};

describe('ponte provider dialect check', () => {
  const check = (path: string) => ponte(['provider', 'dialect', 'check', path]);

  it('accepts a dialect whose samples read as they say: exit 0', async () => {
    const { code, stdout, stderr } = await check(given());
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^The dialect can be used, beside ponte, bacen, .*: \d+ shapes\.$/m);
  });

  for (const [title, [path, fault]] of Object.entries(faulty)) {
    it(`names ${title}: exit 1`, async () => {
      const { code, stdout, stderr } = await check(path);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, fault);
    });
  }
});

describe('ponte provider dialect read', () => {
  const read = async (bytes: string, path?: string) => {
    const changes = path === undefined ? {} : { PROVIDER_DIALECT_FILES: path };
    const { code, stdout } = await ponte(['provider', 'dialect', 'read'], changes, bytes);
    assert.equal(code, 0);
    return JSON.parse(stdout) as readonly Readonly<Record<string, unknown>>[];
  };

  it('prints what the active dialects read in an event', async () => {
    const [unread] = await read(JSON.stringify(event));
    assert.equal(unread?.['ignoredBecause'], 'unknown_shape');
    const [item] = await read(JSON.stringify(event), given());
    const { shape, status, amountCents, ignoredBecause } = item ?? {};
    const expected = ['bank/payment', 'COMPLETED', 1050, null];
    assert.deepEqual([shape, status, amountCents, ignoredBecause], expected);
  });

  it('says of bytes that are no JSON that they are none', async () => {
    const [item] = await read('{"status": ');
    assert.equal(item?.['ignoredBecause'], 'not_json');
  });
});

describe('ponte config check', () => {
  it('accepts the file of a dialect that can be used', async () => {
    const { code } = await ponte(['config', 'check'], { PROVIDER_DIALECT_FILES: given() });
    assert.equal(code, 0);
  });

  for (const [title, [path, fault]] of Object.entries(faulty)) {
    it(`names ${title} in the file of a dialect: exit 2`, async () => {
      const settings = { PROVIDER_DIALECT_FILES: path };
      const { code, stdout, stderr } = await ponte(['config', 'check'], settings);
      assert.equal(code, 2);
      assert.match(stdout, /^PROVIDER_DIALECT_FILES +invalid +environment$/m);
      assert.match(stderr, /^ {2}PROVIDER_DIALECT_FILES cannot be used: /m);
      assert.match(stderr, fault);
      const json = await ponte(['config', 'check', '--json'], settings);
      const { valid, faults } = JSON.parse(json.stdout) as ConfigReport;
      assert.deepEqual([json.code, valid], [2, false]);
      assert.match(faults.map(({ message }) => message).join('\n'), fault);
    });
  }

  it('and doctor say the same', async () => {
    const [path, fault] = faulty['a word without a meaning'] ?? assert.fail();
    const { stdout } = await ponte(['doctor'], { PROVIDER_DIALECT_FILES: path });
    assert.match(stdout, fault);
  });
});
