import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findContradictions,
  parseExactly,
  repeatsMembers,
} from '../../../src/domain/json-members.ts';

const cases: readonly (readonly [string, unknown[][]])[] = [
  ['{"a":1,"b":2}', []],
  ['{"a":1,"a":1}', []],
  ['{"a": {"b":[1, 2]} ,"a":{"b":[1, 2]}}', []],
  ['{"a":1,"a":2}', [[]]],
  ['{"a":1,"a":2,"a":3}', [[]]],
  ['{"a":1,"\\u0061":2}', [[]]],
  ['{"a":1e400,"a":2e400}', [[]]],
  ['{"a":"1","a":1}', [[]]],
  ['{"a":{},"a":[]}', [[]]],
  ['{"a,:{}[]\\"":1,"a,:{}[]\\"":2}', [[]]],
  ['{"a":"{\\"b\\":1,\\"b\\":2}"}', []],
  ['[{"a":1},{"a":2}]', []],
  ['[{},[],{"a":1,"a":2}]', [[2]]],
  ['{"x":[[],[{"a":1,"b":{"a":1},"a":2}]]}', [['x', 1, 0]]],
  ['{"__proto__":1,"__proto__":2}', [[]]],
  ['[[[[[[[[[[{"a":1,"a":2}]]]]]]]]]]', [[0, 0, 0, 0, 0, 0, 0, 0]]],
];

for (const [text, expected] of cases) {
  test(`contradictions in ${text}`, () => {
    assert.deepEqual(findContradictions(text), expected);
  });
}

test('a whole number that a double does not hold exactly is parsed as its text', () => {
  const numbers: readonly (readonly [string, unknown])[] = [
    ['{"id":1234567890123456789}', { id: '1234567890123456789' }],
    ['{"a":[ -12345678901234567, 1]}', { a: ['-12345678901234567', 1] }],
    [
      '{"a": 9007199254740992,"b":"9007199254740993"}',
      { a: '9007199254740992', b: '9007199254740993' },
    ],
    ['{"a":9007199254740991,"b":10.50,"c":1e20}', { a: 9_007_199_254_740_991, b: 10.5, c: 1e20 }],
    ['{"a":1000000000000000.5}', { a: 1_000_000_000_000_000.5 }],
  ];
  for (const [text, value] of numbers) assert.deepEqual(parseExactly(text), value, text);
});

test('a text repeats a member whatever the values', () => {
  for (const [text, expected] of [
    ['{"a":1,"b":{"a":1}}', false],
    ['{"a":1,"a":1}', true],
    ['[{"b":[{"a":1,"a":2}]}]', true],
  ] as const) {
    assert.equal(repeatsMembers(text, JSON.parse(text)), expected, text);
  }
});

test('thousands of objects in each other are searched in the memory of their text', () => {
  const depth = 20_000;
  const text = `${'{"a":1,"a":'.repeat(depth)}0${'}'.repeat(depth)}`;
  const found = findContradictions(text);
  assert.equal(found.length, depth);
  assert.ok(found.every(({ length }) => length <= 8));
});
