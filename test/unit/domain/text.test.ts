import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { foldTypography, randomAlphanumerics, stripAccents } from '../../../src/domain/text.ts';

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
