/** What is refused when dialects are loaded: whatever could be read in two ways, or in none. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DialectError, loadDialects, openDialects } from '../../../../src/provider/dialect/load.ts';
import { dialectNames } from '../../../../src/config/formats.ts';

const payment = `
  - name: payment
    kind: payment
    when: {kind_of: [SENT], code: absent}
    ids: {endToEnd: e2e}
    amount: {at: amount, unit: reais}
    status: [{at: state, words: {DONE: COMPLETED, REFUSED: FAILED}}]
`;

const head = 'source: a page\nmarkers: [kind_of]\nshapes:';

/** The faults of one file, without its samples. */
function findFaults(text: string, ...others: readonly string[]): readonly string[] {
  const texts = [text, ...others].map((one, nth) => ({
    name: nth === 0 ? 'bank' : `other${nth}`,
    text: one,
    samples: null,
  }));
  try {
    loadDialects(texts, { runSamples: false });
  } catch (error) {
    assert.ok(error instanceof DialectError, String(error));
    return error.faults;
  }
  return [];
}

const changed = (from: string, to: string): string => {
  assert.ok(payment.includes(from), from);
  return `${head}${payment.replace(from, to)}`;
};

const refused: readonly (readonly [what: string, text: string, fault: RegExp])[] = [
  ['text that is no YAML', 'shapes: [', /^bank: /],
  ['a key that is written twice', `${head}${payment}source: other\n`, /unique/],
  ['an unknown key of the file', `${head}${payment}colour: red\n`, /unknown key colour/],
  ['a file without shapes and codes', 'source: a page', /neither shapes nor not_executed/],
  ['a file without a source', `shapes:${payment}`, /required property 'source'/],
  [
    'an unknown key of a shape',
    changed('kind: payment', 'kind: payment\n    sort: x'),
    /unknown key sort/,
  ],
  ['an unknown kind', changed('kind: payment', 'kind: gift'), /one of the allowed values: payment/],
  ['an unknown unit', changed('unit: reais', 'unit: dollars'), /allowed values: reais/],
  ['an unknown meaning', changed('DONE: COMPLETED', 'DONE: PERHAPS'), /PERHAPS is none of/],
  [
    'a word that is listed twice',
    changed('DONE: COMPLETED', 'DONE: COMPLETED, done: COMPLETED'),
    /done is listed twice/,
  ],
  ['an unknown table', changed('{DONE: COMPLETED, REFUSED: FAILED}', 'paid'), /no table paid/],
  [
    'a failure with a code that has no place',
    changed('REFUSED: FAILED', 'REFUSED: FAILED_WITH_CODE'),
    /needs code/,
  ],
  [
    'an id that stands alone and has no place',
    changed('    amount:', "    alone: 'true'\n    amount:"),
    /alone needs the id providerId/,
  ],
  ['a payment that expires', changed('REFUSED: FAILED', 'REFUSED: EXPIRED'), /may be EXPIRED/],
  [
    'a shape that anything meets',
    changed('{kind_of: [SENT], code: absent}', '{code: absent}'),
    /must require something/,
  ],
  ['an unknown condition', changed('code: absent', 'code: perhaps'), /perhaps is none of absent/],
  [
    'money without an amount',
    changed('    amount: {at: amount, unit: reais}\n', ''),
    /needs amount/,
  ],
  ['money without ids', changed('    ids: {endToEnd: e2e}\n', ''), /needs ids/],
  [
    'money without a status',
    changed('    status: [{at: state, words: {DONE: COMPLETED, REFUSED: FAILED}}]\n', ''),
    /needs status/,
  ],
  [
    'a refund without its ids',
    changed('kind: payment', 'kind: refund'),
    /needs the ids returnId, and endToEnd or txid/,
  ],
  [
    'a scope that does not exist',
    changed('kind: payment', 'kind: payment\n    of: parcel'),
    /there is no shape bank\/parcel/,
  ],
  [
    'a scope without a list',
    `${changed('kind: payment', 'kind: payment\n    of: outer')}${payment.replace('name: payment', 'name: outer')}`,
    /outer has no list/,
  ],
  [
    'a list in itself',
    `${head}\n  - {name: ring, of: ring, kind: list, when: {a: list}, each: a}\n`,
    /list of itself/,
  ],
  ['two shapes of one name', `${head}${payment}${payment}`, /used twice/],
  [
    'two shapes of one message',
    `${head}${payment}${payment.replace('name: payment', 'name: other').replace('[SENT]', '[GIVEN, SENT]')}`,
    /may match a message of bank\/other/,
  ],
  [
    'a word that is recognised and has no meaning',
    changed(
      '{at: state, words: {DONE: COMPLETED, REFUSED: FAILED}}',
      '{at: kind_of, words: {GONE: COMPLETED, SENT: COMPLETED}}',
    ),
    /GONE is in only one/,
  ],
];

describe('a dialect', () => {
  it('that can be read in one way only is accepted', () => {
    assert.deepEqual(findFaults(`${head}${payment}`), []);
  });

  for (const [what, text, fault] of refused) {
    it(`is refused with ${what}`, () => {
      const faults = findFaults(text);
      assert.ok(
        faults.some((one) => fault.test(one)),
        faults.join('\n') || 'no fault',
      );
    });
  }

  it('is refused beside another one that reads the same message', () => {
    const [fault] = findFaults(`${head}${payment}`, `${head}${payment}`);
    assert.match(fault ?? '', /^bank\/payment: may match a message of other1\/payment/);
  });

  it('is told apart from others by its event word, without a word about it in theirs', () => {
    const other = payment.replace('kind_of: [SENT], code: absent', 'state: word');
    assert.deepEqual(findFaults(`${head}${payment}`, `source: a page\nshapes:${other}`), []);
  });

  it('keeps codes and words as they are written', () => {
    const text = changed('DONE: COMPLETED', '001: COMPLETED, 1E5: PROCESSING, NO: SILENT');
    assert.deepEqual(findFaults(text), []);
  });
});

describe('the samples of a dialect', () => {
  const bank = { name: 'bank', text: `${head}${payment}` };
  const sample = {
    name: 'sent',
    event: { kind_of: 'SENT', e2e: 'E1', amount: 10.5, state: 'DONE' },
  };
  const reads = {
    shape: 'bank/payment',
    kind: 'payment',
    status: 'COMPLETED',
    amountCents: 1050,
    endToEnd: 'E1',
  };
  const load = (samples: unknown) =>
    loadDialects([{ ...bank, samples: samples === null ? null : JSON.stringify(samples) }]);

  it('are run whenever it is loaded', () => {
    assert.equal(load([{ ...sample, reads: [reads] }]).shapes.length, 1);
    assert.throws(
      () => load([{ ...sample, reads: [{ ...reads, amountCents: 105_000 }] }]),
      /the sample sent reads as/,
    );
  });

  it('cover each shape, with an amount that has centavos', () => {
    assert.throws(() => load(null), /bank\/payment: no sample is read by it/);
    const whole = {
      ...sample,
      event: { ...sample.event, amount: 10 },
      reads: [{ ...reads, amountCents: 1000 }],
    };
    assert.throws(() => load([whole]), /no sample has an amount with centavos/);
  });

  it('are a list of objects with a name and a reading', () => {
    for (const samples of ['[', '{}', '["x"]', '[{"name": "x", "event": {}}]', '[{"reads": []}]']) {
      assert.throws(
        () => loadDialects([{ name: 'bank', text: `${head}${payment}`, samples }]),
        { name: 'DialectError', message: /^bank: its samples are no JSON list/ },
        samples,
      );
    }
  });

  it('of others fail when it changes their reading', () => {
    const folder = 'contract/provider/dialects/';
    const names = dialectNames.map((name) => ({
      name,
      text: readFileSync(`${folder}${name}.yaml`, 'utf8'),
      samples: readFileSync(`${folder}${name}.samples.json`, 'utf8'),
    }));
    const text = `${head}${payment}`.replace(
      'markers: [kind_of]',
      'markers: [kind_of]\nguards: [createdAt]',
    );
    const own = { name: 'bank', text, samples: JSON.stringify([{ ...sample, reads: [reads] }]) };
    assert.throws(
      () => loadDialects([...names, own]),
      /ponte: the sample payment reads as .*undeclared_field/,
    );
  });
});

describe('codes that mean not executed', () => {
  const withCodes = (codes: string) =>
    loadDialects(
      [{ name: 'bank', text: `not_executed: ${codes}\n${head}${payment}`, samples: null }],
      {
        runSamples: false,
      },
    ).refusals;

  it('are those of the common table and of each dialect, in upper case', () => {
    const codes = withCodes(
      '{e42: bulletin 12, 1E5: x, N1: {source: y, meaning: none, error: INSUFFICIENT_FUNDS}}',
    );
    assert.deepEqual(codes.get('E42')?.source, 'bulletin 12');
    assert.ok(codes.has('1E5'));
    assert.equal(codes.get('N1')?.error, 'INSUFFICIENT_FUNDS');
    assert.match(codes.get('AC03')?.source ?? '', /ISO 20022/);
    assert.equal(codes.has('AM05'), false);
  });

  it('may be all that a file has', () => {
    const text = 'source: bulletin 12\nnot_executed: {E42: bulletin 12}';
    assert.ok(loadDialects([{ name: 'bank', text, samples: null }]).refusals.has('E42'));
  });

  it('keep the common meaning', () => {
    assert.equal(
      withCodes('{NOT_ENOUGH_BALANCE: x}').get('NOT_ENOUGH_BALANCE')?.error,
      'INSUFFICIENT_FUNDS',
    );
  });

  it('have a source, a form, a known error, and are listed once', () => {
    const faulty =
      "{E1: '', 'Maria da Silva': x, E2: {source: x, error: NO}, E3: {source: x, y: z}, e2: x}";
    assert.throws(() => withCodes(faulty), {
      name: 'DialectError',
      faults: [
        'bank: not_executed: code 1 has no source',
        'bank: not_executed: code 2 is not 1 to 32 letters, digits, or _.-',
        'bank: not_executed: code 3 has an error that is not in the catalogue',
        'bank: not_executed: code 4 has an unknown key y',
        'bank: not_executed: code 5 is listed twice',
      ],
    });
  });
});

it('the faults of several files are reported at once', () => {
  const faults = findFaults('shapes: [', 'source: a page');
  assert.deepEqual(
    faults.map((fault) => /^\w+/.exec(fault)?.[0]),
    ['bank', 'other1'],
  );
});

it('a file that cannot be read is named', () => {
  assert.throws(
    () => openDialects({ names: [], files: ['/nowhere/bank.yaml'] }),
    /\/nowhere\/bank.yaml cannot be read \(ENOENT\)/,
  );
});

describe('the fields of dialects that are not active', () => {
  it('are guarded: a second status makes a message undeclared, whatever dialects are chosen', () => {
    const bacen = openDialects({ names: ['bacen'], files: [] });
    const event = { pix: [{ endToEndId: 'E1', valor: '10.50', situacao: 'PENDENTE' }] };
    const [item] = bacen.readEvents(event);
    assert.deepEqual([item?.ignoredBecause, item?.word], ['undeclared_field', 'situacao']);
  });
});

it('the example of the document reads its samples, beside every dialect and alone', () => {
  const document = readFileSync(
    new URL('../../../../src/provider/README.md', import.meta.url),
    'utf8',
  );
  const [text = '', samples = ''] = ['yaml', 'json'].map((language) => {
    const [, block = ''] = document.split(`\`\`\`${language}\n`);
    return block.split('```')[0];
  });
  const example = { name: 'bank', text: text.replaceAll(/^ {3}/gm, ''), samples };
  const folder = fileURLToPath(new URL('../../../../contract/provider/dialects/', import.meta.url));
  const own = dialectNames.map((name) => ({
    name,
    text: readFileSync(`${folder}${name}.yaml`, 'utf8'),
    samples: readFileSync(`${folder}${name}.samples.json`, 'utf8'),
  }));
  for (const others of [own, []]) assert.ok(loadDialects([...others, example]).shapes.length >= 4);
});
