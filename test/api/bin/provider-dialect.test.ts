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
    /bank\/payment: DONE: PERHAPS is none of PROCESSING, UNDER_ANALYSIS, COMPLETED/,
  ],
  'a sample that reads otherwise': [
    given(dialect, samples.replace('"amountCents":1050', '"amountCents":105000')),
    /bank: the sample sent reads as .*1050/,
  ],
  'samples that are no JSON': [given(dialect, '['), /bank: its samples are no JSON list/],
};

const unread = [join(folder, 'away.yaml'), /away\.yaml cannot be read \(ENOENT\)/] as const;

describe('ponte provider dialect check', () => {
  const check = (path: string) => ponte(['provider', 'dialect', 'check', path]);

  it('accepts a dialect with a list of its own in the statement, alone or beside others', async () => {
    const statement = `
  - { name: page, kind: page, of: statement, when: { moves: list }, each: moves }
  - name: line
    kind: line
    of: page
    when: { e2e: word }
    ids: { endToEnd: e2e }
    amount: { at: cents, unit: centavos }
`;
    const path = given(dialect + statement);
    for (const [names, says] of [
      ['none', 'alone'],
      ['ponte', 'beside ponte'],
    ] as const) {
      const settings = { PROVIDER_DIALECTS: names };
      const { code, stdout } = await ponte(['provider', 'dialect', 'check', path], settings);
      assert.deepEqual([code, stdout.includes(says)], [0, true], stdout);
    }
  });

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

  it('names a file that cannot be read: exit 2', async () => {
    const [path, fault] = unread;
    for (const command of ['check', 'read']) {
      const { code, stderr } = await ponte(['provider', 'dialect', command, path], {}, '{}');
      assert.equal(code, 2);
      assert.match(stderr, fault);
    }
  });
});

describe('ponte provider dialect read', () => {
  const read = async (bytes: string, argv: readonly string[] = [], path?: string) => {
    const changes = path === undefined ? {} : { PROVIDER_DIALECT_FILES: path };
    const { code, stdout } = await ponte(['provider', 'dialect', 'read', ...argv], changes, bytes);
    assert.equal(code, 0);
    return JSON.parse(stdout) as unknown;
  };

  it('prints what the active dialects read in an event, as its sample has it', async () => {
    const ignored = { kind: 'ignored', ignoredBecause: 'unknown_shape' };
    assert.deepEqual(await read(JSON.stringify(event)), { reads: [ignored] });
    assert.deepEqual(await read(JSON.stringify(event), [], given()), { reads: [reads] });
  });

  it('reads an event by a file, which needs no samples yet', async () => {
    assert.deepEqual(await read(JSON.stringify(event), [given(dialect, '[]')]), { reads: [reads] });
  });

  it('reads a statement, and says whether it is whole', async () => {
    const line = { endToEnd: 'E1', amount: 10.5, direction: 'DEBIT', status: 'PAID' };
    const found = { endToEnd: 'E1', amountCents: 1050, direction: 'out', status: 'COMPLETED' };
    const statement = JSON.stringify({ items: [line], total: 1 });
    assert.deepEqual(await read(statement, ['--statement']), { reads: [found], isWhole: true });
    assert.deepEqual(await read('{', ['--statement']), { reads: [], isWhole: false });
  });

  it('says of bytes that are no JSON that they are none', async () => {
    const ignored = { kind: 'ignored', ignoredBecause: 'not_json' };
    assert.deepEqual(await read('{"status": '), { reads: [ignored] });
  });
});

describe('ponte config check', () => {
  it('accepts the file of a dialect that can be used', async () => {
    const { code } = await ponte(['config', 'check'], { PROVIDER_DIALECT_FILES: given() });
    assert.equal(code, 0);
  });

  for (const [title, [path, fault]] of Object.entries({ ...faulty, 'no file': unread })) {
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
