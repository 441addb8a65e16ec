import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import {
  escapeControls,
  foldTypography,
  hasControls,
  randomAlphanumerics,
  stripAccents,
} from '../../../src/domain/text.ts';

describe('stripAccents', () => {
  it('removes accents, precomposed or combining, and keeps the rest', () => {
    assert.equal(stripAccents('São João Ça va'), 'Sao Joao Ca va');
    assert.equal(stripAccents('Sa\u0303o'), 'Sao');
    assert.equal(stripAccents('ß 中 😀'), 'ß 中 😀');
  });
});

describe('foldTypography', () => {
  it('replaces pasted dashes and spaces and removes invisible marks', () => {
    assert.equal(foldTypography('\u202a 11\u00a098765\u20114321\u200b \u202c'), '11 98765-4321');
    assert.equal(foldTypography('1\u22122\u20143'), '1-2-3');
  });
});

describe('randomAlphanumerics', () => {
  it('returns the requested number of characters', () => {
    assert.equal(randomAlphanumerics(0), '');
    assert.match(randomAlphanumerics(11), /^[A-Za-z0-9]{11}$/);
  });
});

test('control characters of a text are found, and escaped in what is printed', () => {
  const [escape, csi, bidi, joiner] = ['\u001b', '\u009b', '\u202e', '\u200d'];
  for (const control of ['\0', '\u0007', escape, '\u007f', csi, '\u200f', bidi, '\u2067']) {
    assert.equal(hasControls(`a${control}b`), true);
  }
  for (const text of ['', 'Rent\tof\r\nMay', `👩${joiner}🔧`, 'ação']) {
    assert.equal(hasControls(text), false);
  }
  assert.equal(
    escapeControls(`${escape}]0;x\u0007 ${csi}2J ${bidi}\r\u2028`),
    '\\u001b]0;x\\u0007 \\u009b2J \\u202e\\u000d\\u2028',
  );
  assert.equal(
    escapeControls(`${escape}[31mred${escape}[39m\n`),
    `${escape}[31mred${escape}[39m\n`,
  );
});
