import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sameSecret, sha256 } from '../../../src/security/digests.ts';

describe('sha256', () => {
  it('gives the digest of FIPS 180-2 for "abc", as text and as bytes', () => {
    const expected = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    assert.equal(sha256('abc').toString('hex'), expected);
    assert.equal(sha256(Buffer.from('abc')).toString('hex'), expected);
  });
});

describe('sameSecret', () => {
  it('is true for the same text only', () => {
    assert.equal(sameSecret('s3cret', 's3cret'), true);
    assert.equal(sameSecret('s3cret', 's3creT'), false);
  });

  it('compares texts of different lengths without throwing', () => {
    assert.equal(sameSecret('', 's3cret'), false);
    assert.equal(sameSecret('s3cret and more', 's3cret'), false);
  });
});
