import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  maxAmountCents,
  centsFromDecimal,
  centsFromNumber,
  decimalFromCents,
  hasAtMostTwoDecimals,
  numberFromCents,
} from '../../../src/domain/money.ts';

/** What `numeric(15,2)` holds. */
const maxExactCents = 999_999_999_999_999;

describe('centsFromNumber', () => {
  const vectors: [number, number | null][] = [
    [0, 0],
    [-0, 0],
    [0.01, 1],
    [0.1, 10],
    [0.29, 29],
    [0.57, 57],
    [1.1, 110],
    [4.35, 435],
    [8.2, 820],
    [1e1, 1000],
    [10.0, 1000],
    [1.15, 115],
    [999999999.99, maxAmountCents],
    [1_000_000_000, 100_000_000_000],
    [9999999999999.99, 999_999_999_999_999],
    [0.001, null],
    [1.005, null],
    [0.1 + 0.2, null],
    [1e-7, null],
    [1.5e-7, null],
    [5e-324, null],
    [1e13, null],
    [1e21, null],
    [1.25e21, null],
    [Number.MAX_VALUE, null],
    [-0.01, null],
    [-1, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
    [Number.NEGATIVE_INFINITY, null],
  ];
  for (const [value, cents] of vectors) {
    it(`reads ${Object.is(value, -0) ? '-0' : value} as ${cents}`, () => {
      assert.equal(centsFromNumber(value), cents);
    });
  }

  it('gives back every number of cents that JSON carried as reais', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: maxExactCents }), (cents) => {
        const json = JSON.stringify({ amount: numberFromCents(cents) });
        assert.equal(centsFromNumber(JSON.parse(json).amount), cents);
      }),
    );
  });

  it('never accepts a number whose decimal text has a third decimal', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000_000), fc.integer({ min: 1, max: 9 }), (cents, third) => {
        assert.equal(centsFromNumber(Number(`${decimalFromCents(cents)}${third}`)), null);
      }),
    );
  });

  it('agrees with hasAtMostTwoDecimals up to the largest amount', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 999_999_999.99, noNaN: true }), (value) => {
        assert.equal(centsFromNumber(value) !== null, hasAtMostTwoDecimals(value));
      }),
    );
  });
});

describe('hasAtMostTwoDecimals', () => {
  for (const value of [0, 10, 10.5, 10.55, -3.25, 1e1, 1e21]) {
    it(`accepts ${value}`, () => assert.equal(hasAtMostTwoDecimals(value), true));
  }
  for (const value of [10.555, -0.001, 1e-7, 0.1 + 0.2, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`refuses ${value}`, () => assert.equal(hasAtMostTwoDecimals(value), false));
  }
});

describe('numberFromCents and decimalFromCents', () => {
  const vectors: [number, number, string][] = [
    [0, 0, '0.00'],
    [1, 0.01, '0.01'],
    [99, 0.99, '0.99'],
    [1000, 10, '10.00'],
    [-5, -0.05, '-0.05'],
    [-123456, -1234.56, '-1234.56'],
    [maxAmountCents, 999999999.99, '999999999.99'],
  ];
  for (const [cents, value, text] of vectors) {
    it(`write ${cents} cents as ${text}`, () => {
      assert.equal(numberFromCents(cents), value);
      assert.equal(decimalFromCents(cents), text);
    });
  }

  for (const cents of [0.5, Number.NaN, Number.POSITIVE_INFINITY, maxExactCents + 1]) {
    it(`throw a RangeError for ${cents}`, () => {
      assert.throws(() => numberFromCents(cents), RangeError);
      assert.throws(() => decimalFromCents(cents), RangeError);
    });
  }
});

describe('centsFromDecimal', () => {
  const vectors: [string, number | null][] = [
    ['10.00', 1000],
    ['10.5', 1050],
    ['7', 700],
    ['0.01', 1],
    ['-3.50', -350],
    ['-0.00', 0],
    ['007.10', 710],
    ['9999999999999.99', 999_999_999_999_999],
    ['10000000000000.00', null],
    ['10.000', null],
    ['10.', null],
    ['.5', null],
    ['+1', null],
    ['1e1', null],
    ['1,50', null],
    ['1.000,50', null],
    [' 1', null],
    ['1\n', null],
    ['', null],
    ['-', null],
    ['NaN', null],
    ['١٠', null],
  ];
  for (const [text, cents] of vectors) {
    it(`reads ${JSON.stringify(text)} as ${cents}`, () => {
      assert.equal(centsFromDecimal(text), cents);
    });
  }

  it('gives back what decimalFromCents wrote, of either sign', () => {
    fc.assert(
      fc.property(fc.integer({ min: -maxExactCents, max: maxExactCents }), (cents) => {
        assert.equal(centsFromDecimal(decimalFromCents(cents)), cents);
      }),
    );
  });
});
