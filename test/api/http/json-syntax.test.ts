import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { outermostValue } from '../../../src/http/json-syntax.ts';

/** What the parser of the language makes of a text. */
function parsed(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return 'array';
    return typeof value === 'object' && value !== null ? 'object' : 'scalar';
  } catch {
    return null;
  }
}

test('a text is JSON exactly when JSON.parse takes it', () => {
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 5 }),
      fc.nat(),
      fc.string({ maxLength: 2 }),
      (json, at, other) => {
        assert.equal(outermostValue(json), parsed(json));
        const place = at % (json.length + 1);
        for (const cut of [0, 1]) {
          const changed = json.slice(0, place) + other + json.slice(place + cut);
          assert.equal(outermostValue(changed), parsed(changed), changed);
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

test('texts of the characters of JSON are judged as JSON.parse judges them', () => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '\\',
    'u00',
    '1',
    '0',
    '-',
    '.',
    'e',
    '+',
  ];
  const texts = fc.array(fc.constantFrom(...pieces, ' ', '\n', 'true', 'null', '\u0001', 'é'));
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join('');
      assert.equal(outermostValue(text), parsed(text), text);
    }),
    { numRuns: 20_000 },
  );
});

test('the edges of the grammar', () => {
  const texts = [
    '',
    ' ',
    '{}',
    ' [ ] ',
    '[1,]',
    '{"a":1,}',
    '{,}',
    '[,]',
    '{"a"}',
    '{"a":}',
    '{1:2}',
    '01',
    '-',
    '-0',
    '1.',
    '.5',
    '1e',
    '1e+',
    '1E-7',
    '0e0',
    '+1',
    'NaN',
    'Infinity',
    '"',
    '"\\',
    '"\\u12',
    '"\\u12g4"',
    '"\\ud800"',
    '"\\x"',
    '"\t"',
    '"\u2028"',
    '\ufeff1',
    'tru',
    'truee',
    'nullnull',
    '[[]',
    '[]]',
    '[}',
    '{]',
    '1 2',
    '\v1',
    '\u00a01',
  ];
  for (const text of texts) {
    assert.equal(outermostValue(text), parsed(text), JSON.stringify(text));
  }
});

test('nesting does not use the stack', () => {
  const depth = 131_072;
  assert.equal(outermostValue('['.repeat(depth) + ']'.repeat(depth)), 'array');
  assert.equal(outermostValue('['.repeat(2 * depth)), null);
  assert.equal(outermostValue(`${'{"":'.repeat(depth)}1${'}'.repeat(depth)}`), 'object');
});
