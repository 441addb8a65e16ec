/** Amounts and times, as they are typed and read. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formatAmount,
  localTime,
  parseAmount,
  parseDay,
  shortLocalTime,
  shortUtcTime,
  utcTime,
  formatBank,
  formatTaxId,
} from '../../../../console/state/format.ts';

describe('an amount', () => {
  const readable: readonly (readonly [text: string, amount: number])[] = [
    ['25', 25],
    ['25,5', 25.5],
    ['25,50', 25.5],
    ['25.50', 25.5],
    [' 0,01 ', 0.01],
    ['1234,56', 1234.56],
    ['1.234,56', 1234.56],
    ['1.234.567,8', 1_234_567.8],
    ['999999999,99', 999_999_999.99],
  ];
  for (const [text, amount] of readable) {
    it(`${text} is read as ${amount}`, () => {
      assert.equal(parseAmount(text), amount);
    });
  }

  const unreadable = [
    '',
    ',5',
    '1,234',
    '1.234',
    '1.000.000',
    '1,234.56',
    '1e3',
    '1e-7',
    '0x1',
    '-5',
    'dez',
  ];
  for (const text of unreadable) {
    it(`'${text}' is not read: it may mean two amounts, or none`, () => {
      assert.equal(parseAmount(text), null);
    });
  }

  it('is written as people in Brazil write it', () => {
    assert.equal(formatAmount(1234.5), 'R$ 1.234,50');
    assert.equal(formatAmount(-0.01), '-R$ 0,01');
  });
});

it('a day is read as people write it, and anything else stays', () => {
  for (const [typed, day] of [
    ['22/11/2026', '2026-11-22'],
    [' 2.1.2026 ', '2026-01-02'],
    ['2026-11-22', '2026-11-22'],
    ['tomorrow', 'tomorrow'],
  ] as const) {
    assert.equal(parseDay(typed), day);
  }
});

it('a CPF or a CNPJ is written as people write it, and nothing else is changed', () => {
  const texts = ['11144477735', '11222333000181', '12ABC34501DE35', '***.444.777-**', '+551199'];
  assert.deepEqual(texts.map(formatTaxId), [
    '111.444.777-35',
    '11.222.333/0001-81',
    '12.ABC.345/01DE-35',
    '***.444.777-**',
    '+551199',
  ]);
});

it('an institution is its name with its ISPB, and its CNPJ where it is known', () => {
  const bank = { ispb: '11165756', name: 'Banco Exemplo S.A.' };
  assert.equal(formatBank(bank), 'Banco Exemplo S.A. (ISPB 11165756)');
  assert.equal(
    formatBank({ ...bank, document: '11165756000107' }),
    'Banco Exemplo S.A. (ISPB 11165756, CNPJ 11.165.756/0001-07)',
  );
  assert.equal(formatBank({ ...bank, name: null }), 'ISPB 11165756');
});

describe('a time', () => {
  const iso = '2026-11-21T06:49:13.829Z';

  it('is in São Paulo for customers', () => {
    assert.equal(localTime(iso), '21/11/2026 03:49:13');
    assert.equal(shortLocalTime(iso), '21/11 03:49');
  });

  it('is in UTC for operators', () => {
    assert.equal(utcTime(iso), '2026-11-21 06:49:13Z');
    assert.equal(shortUtcTime(iso), '21/11 06:49Z');
  });

  it('that is none stays as it is', () => {
    for (const format of [localTime, shortLocalTime, utcTime, shortUtcTime]) {
      assert.equal(format('–'), '–');
      assert.equal(format('Rent 5'), 'Rent 5');
    }
  });
});
