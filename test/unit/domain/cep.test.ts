import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isTownCep, locateCep, normaliseCep, sampleCeps, states } from '../../../src/domain/cep.ts';

describe('normaliseCep', () => {
  for (const text of [
    '01310100',
    '01310-100',
    '01.310-100',
    '01.310100',
    '01310 100',
    '01310 - 100',
    '0131 0100',
    '01 310 100',
    '0 1 3 1 0 1 0 0',
    ' 01310-100\n',
    '01310\u2013100',
    '01310\u00a0100',
    '\u200e01310-100',
  ]) {
    it(`reads ${JSON.stringify(text)}`, () => {
      assert.equal(normaliseCep(text), '01310100');
    });
  }

  for (const text of [
    '',
    '0131010',
    '013101000',
    '0131-0100',
    '0.1310-100',
    '01310--100',
    '01310-100 São Paulo',
    `${' '.repeat(100)}01310100`,
    '0131010a',
    '٠١٣١٠١٠٠',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.equal(normaliseCep(text), null);
    });
  }
});

describe('locateCep', () => {
  /** The first and the last code of every range, as Correios publishes them. */
  const bounds: [state: string, first: string, last: string][] = [
    ['SP', '01000000', '19999999'],
    ['RJ', '20000000', '28999999'],
    ['ES', '29000000', '29999999'],
    ['MG', '30000000', '39999999'],
    ['BA', '40000000', '48999999'],
    ['SE', '49000000', '49999999'],
    ['PE', '50000000', '56999999'],
    ['AL', '57000000', '57999999'],
    ['PB', '58000000', '58999999'],
    ['RN', '59000000', '59999999'],
    ['CE', '60000000', '63999999'],
    ['PI', '64000000', '64999999'],
    ['MA', '65000000', '65999999'],
    ['PA', '66000000', '68899999'],
    ['AP', '68900000', '68999999'],
    ['AM', '69000000', '69299999'],
    ['RR', '69300000', '69399999'],
    ['AM', '69400000', '69899999'],
    ['AC', '69900000', '69999999'],
    ['DF', '70000000', '72799999'],
    ['GO', '72800000', '72999999'],
    ['DF', '73000000', '73699999'],
    ['GO', '73700000', '76799999'],
    ['RO', '76800000', '76999999'],
    ['TO', '77000000', '77999999'],
    ['MT', '78000000', '78899999'],
    ['MS', '79000000', '79999999'],
    ['PR', '80000000', '87999999'],
    ['SC', '88000000', '89999999'],
    ['RS', '90000000', '99999999'],
  ];
  for (const [state, first, last] of bounds) {
    it(`places ${first} and ${last} in ${state}`, () => {
      assert.equal(locateCep(first)?.estado, state);
      assert.equal(locateCep(last)?.estado, state);
    });
  }

  it('places no code outside the ranges', () => {
    for (const cep of ['00000000', '00999999', '78900000', '78999999']) {
      assert.equal(locateCep(cep), null);
    }
  });

  it('knows the state alone of a code that is not in the sample', () => {
    assert.deepEqual(locateCep('01310999'), {
      cep: '01310999',
      logradouro: null,
      bairro: null,
      cidade: null,
      estado: 'SP',
    });
  });

  it('knows the street, the district and the city of a code in the sample', () => {
    assert.deepEqual(locateCep('01310100'), {
      cep: '01310100',
      logradouro: 'Avenida Paulista',
      bairro: 'Bela Vista',
      cidade: 'São Paulo',
      estado: 'SP',
    });
  });

  it('knows the town alone of a code that is the only one of its town', () => {
    assert.deepEqual(locateCep('54580000'), {
      cep: '54580000',
      logradouro: '',
      bairro: '',
      cidade: 'Cabo de Santo Agostinho',
      estado: 'PE',
    });
    assert.deepEqual(
      ['17400-000', '54580000', '17402-000', '01310100', '13216000', '1740000', 'x'].map(isTownCep),
      [true, true, true, false, false, false, false],
    );
  });

  it('has a code of every state in its sample, each with eight digits', () => {
    const ceps = [...sampleCeps.keys()];
    assert.deepEqual(
      ceps.filter((cep) => normaliseCep(cep) !== cep),
      [],
    );
    const known = new Set(ceps.map((cep) => locateCep(cep)?.estado));
    assert.deepEqual(known, new Set(states));
  });
});
