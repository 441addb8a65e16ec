import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  cpfCheckDigits,
  fitsMask,
  isCnpj,
  isCpf,
  maskTaxId,
  normaliseTaxId,
  readMaskedTaxId,
  taxIdKind,
} from '../../../src/domain/tax-id.ts';

const digits = [...'0123456789'];
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

const text = (characters: string[], length: number) =>
  fc.string({ unit: fc.constantFrom(...characters), minLength: length, maxLength: length });

/** Every pair of digits: `00` to `99`. */
const pairs = Array.from({ length: 100 }, (_, pair) => String(pair).padStart(2, '0'));

describe('check digits', () => {
  it('of a CPF follow the published vectors', () => {
    assert.equal(cpfCheckDigits('123456789'), '09');
    assert.equal(cpfCheckDigits('111444777'), '35');
  });

  it('of a CPF are refused for a base of another form', () => {
    for (const base of ['', '12345678', '1234567890', '12345678A', '1234 5678']) {
      assert.throws(() => cpfCheckDigits(base), RangeError);
    }
  });

  it('make a valid CPF of any nine digits that are not all equal', () => {
    fc.assert(
      fc.property(text(digits, 9), (base) => {
        const cpf = base + cpfCheckDigits(base);
        assert.equal(isCpf(cpf), new Set(cpf).size > 1);
      }),
    );
  });

  it('of a CNPJ follow the published vectors, numeric and alphanumeric', () => {
    assert.equal(isCnpj('00000000000191'), true);
    assert.equal(isCnpj('12ABC34501DE35'), true);
  });

  it('are one pair only, whatever precedes them', () => {
    fc.assert(
      fc.property(text(digits, 9), text([...digits, ...letters], 12), (base9, base12) => {
        fc.pre(new Set(base9).size > 1 && new Set(base12).size > 1);
        assert.equal(pairs.filter((pair) => isCpf(base9 + pair)).length, 1);
        assert.equal(pairs.filter((pair) => isCnpj(base12 + pair)).length, 1);
      }),
    );
  });
});

describe('isCpf and isCnpj', () => {
  it('refuse numbers that were never issued although their digits are right', () => {
    for (const digit of digits) {
      assert.equal(isCpf(digit.repeat(11)), false);
      assert.equal(isCnpj(digit.repeat(14)), false);
    }
  });

  it('read normalised text only', () => {
    assert.equal(isCpf('111.444.777-35'), false);
    assert.equal(isCnpj('12abc34501de35'), false);
    assert.equal(isCnpj('12ABC34501DEAB'), false);
    assert.equal(isCpf('11144477735\n'), false);
  });
});

describe('maskTaxId', () => {
  for (const [taxId, masked] of [
    ['12345678909', '***.456.789-**'],
    ['12345678000190', '**.345.678/0001-**'],
    ['12ABC34501DE35', '**.ABC.345/01DE-**'],
    ['123', null],
    ['', null],
    ['12.345.678/0001-90', null],
  ] as const) {
    it(`shows ${taxId} as ${masked}`, () => {
      assert.equal(maskTaxId(taxId), masked);
    });
  }
});

describe('normaliseTaxId', () => {
  const vectors: [string, string | null, 'CPF' | 'CNPJ' | null][] = [
    ['111.444.777-35', '11144477735', 'CPF'],
    ['11144477735', '11144477735', 'CPF'],
    [' 111 444 777 35 ', '11144477735', 'CPF'],
    ['111.444.777\u201135', '11144477735', 'CPF'],
    ['\u202a111.444.777-35\u202c', '11144477735', 'CPF'],
    ['00.000.000/0001-91', '00000000000191', 'CNPJ'],
    ['12.ABC.345/01DE-35', '12ABC34501DE35', 'CNPJ'],
    ['12.abc.345/01de-35', '12ABC34501DE35', 'CNPJ'],
    ['111.444.777-36', null, null],
    ['12.ABC.345/01DE-36', null, null],
    ['111.111.111-11', null, null],
    ['CPF 111.444.777-35', null, null],
    ['1114447773', null, null],
    ['12ABC3450ıDE35', null, null],
    ['', null, null],
    ['.-/', null, null],
    [`${'.'.repeat(40)}11144477735`, null, null],
  ];
  for (const [typed, taxId, kind] of vectors) {
    it(`reads ${JSON.stringify(typed)} as ${taxId}`, () => {
      assert.equal(normaliseTaxId(typed), taxId);
      assert.equal(taxIdKind(typed), kind);
    });
  }

  it('never removes a letter', () => {
    assert.equal(normaliseTaxId('A111.444.777-35'), null);
    assert.equal(normaliseTaxId('111.444.777-35X'), null);
  });
});

describe('a masked tax id', () => {
  it('is read without its punctuation, in the length of a CPF or a CNPJ', () => {
    assert.equal(readMaskedTaxId(' ***.982.247-** '), '***982247**');
    assert.equal(readMaskedTaxId('**.222.333/0001-**'), '**2223330001**');
    for (const other of ['529.982.247-25', '982.247-**', '***', 'a**@ponte.test', '*'.repeat(60)]) {
      assert.equal(readMaskedTaxId(other), null, other);
    }
  });

  it('fits every tax id that has the digits that it shows', () => {
    assert.ok(fitsMask('52998224725', '***982247**'));
    assert.ok(fitsMask('52998224725', '***********'));
    assert.ok(!fitsMask('11144477735', '***982247**'));
    assert.ok(!fitsMask('11222333000181', '***********'));
  });
});
