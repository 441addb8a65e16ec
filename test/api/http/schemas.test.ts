import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSchemaCompiler } from '../../../src/contract/schemas.ts';

const compiler = createSchemaCompiler({});

function accepts(schema: object, value: unknown): boolean {
  return compiler.compile(schema)()(value);
}

test('a pattern and a form need a limit of the length beside them', () => {
  for (const keyword of ['pattern', 'x-format']) {
    const schema = { type: 'string', [keyword]: keyword === 'pattern' ? '^a$' : 'name' };
    assert.throws(compiler.compile(schema), new RegExp(`${keyword} needs a maxLength`));
    assert.doesNotThrow(compiler.compile({ ...schema, maxLength: 10 }));
  }
});

test('a pattern and a form do not look at a text over its limit', () => {
  const validate = compiler.compile({ type: 'string', maxLength: 2, pattern: '^a*$' })();
  for (const [text, keywords] of [
    ['b', ['pattern']],
    ['bbb', ['maxLength', 'pattern']],
    ['bbbbb', ['maxLength']],
  ] as const) {
    assert.equal(validate(text), false);
    assert.deepEqual(
      validate.errors?.map(({ keyword }) => keyword),
      keywords,
    );
  }
  const name = compiler.compile({ type: 'string', maxLength: 140, 'x-format': 'name' })();
  assert.equal(name('1'.repeat(281)), false);
  assert.deepEqual(
    name.errors?.map(({ keyword }) => keyword),
    ['maxLength'],
  );
});

test('no format accepts what is over its length', () => {
  const email = (length: number): string => `${'a'.repeat(length - 8)}@mail.cc`;
  assert.ok(accepts({ type: 'string', format: 'email' }, email(2_048)));
  assert.ok(!accepts({ type: 'string', format: 'email' }, email(2_049)));
  const uri = (length: number): string => 'https://a.cc/'.padEnd(length, 'a');
  assert.ok(accepts({ type: 'string', format: 'uri' }, uri(2_048)));
  assert.ok(!accepts({ type: 'string', format: 'uri' }, uri(2_049)));
});

test('of a list that is too long the items up to one over the limit are validated', () => {
  const validate = compiler.compile({ type: 'array', maxItems: 2, items: { type: 'string' } })();
  assert.equal(validate(Array(10_000).fill(0)), false);
  assert.deepEqual(
    validate.errors?.map(({ keyword, instancePath }) => `${keyword} ${instancePath}`),
    ['maxItems ', 'type /0', 'type /1', 'type /2'],
  );
  assert.equal(validate(['a', 'b']), true);
});
