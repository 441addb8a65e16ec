import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isPixKey, normalisePixKey, type PixKeyKind } from '../../../src/domain/pix-key.ts';
import { isCpf } from '../../../src/domain/tax-id.ts';

/** A mobile number whose eleven digits also have the check digits of a CPF. */
const phoneAndCpf = '11987654102';
const longLabel = 'a'.repeat(63);

describe('normalisePixKey', () => {
  const vectors: [string, PixKeyKind, string][] = [
    ['111.444.777-35', 'CPF', '11144477735'],
    ['11144477735', 'CPF', '11144477735'],
    ['00.000.000/0001-91', 'CNPJ', '00000000000191'],
    ['12.ABC.345/01DE-35', 'CNPJ', '12ABC34501DE35'],
    ['12abc34501de35', 'CNPJ', '12ABC34501DE35'],
    ['(11) 98765-4321', 'PHONE', '+5511987654321'],
    ['11987654321', 'PHONE', '+5511987654321'],
    ['+5511987654321', 'PHONE', '+5511987654321'],
    ['5511987654321', 'PHONE', '+5511987654321'],
    ['01511987654321', 'UNKNOWN', '01511987654321'],
    ['00551140045678', 'UNKNOWN', '00551140045678'],
    ['01140045678', 'UNKNOWN', '01140045678'],
    ['0 15 11 98765-4321', 'PHONE', '+5511987654321'],
    ['+1 415 555 2671', 'PHONE', '+14155552671'],
    [' Maria.Silva+pix@Exemplo.COM.BR ', 'EMAIL', 'maria.silva+pix@exemplo.com.br'],
    ["d'avila@ponte.test", 'EMAIL', "d'avila@ponte.test"],
    ['\u202amaria@ponte.test\u202c', 'EMAIL', 'maria@ponte.test'],
    ['\ufeffmaria@ponte\r\n.test\u00a0', 'EMAIL', 'maria@ponte.test'],
    ['a@localhost', 'EMAIL', 'a@localhost'],
    [`a@${longLabel}.br`, 'EMAIL', `a@${longLabel}.br`],
    ['123E4567-E12B-12D1-A456-426655440000', 'EVP', '123e4567-e12b-12d1-a456-426655440000'],
    ['12345678900', 'UNKNOWN', '12345678900'],
    ['11887654321', 'UNKNOWN', '11887654321'],
    ['a%b@ponte.test', 'UNKNOWN', 'a%b@ponte.test'],
    ['a@@ponte.test', 'UNKNOWN', 'a@@ponte.test'],
    ['@ponte.test', 'UNKNOWN', '@ponte.test'],
    ['a@ponte..test', 'UNKNOWN', 'a@ponte..test'],
    ['a@-ponte.test', 'UNKNOWN', 'a@-ponte.test'],
    [`a@${longLabel}a.br`, 'UNKNOWN', `a@${longLabel}a.br`],
    ['\u212aelvin@ponte.test', 'UNKNOWN', '\u212aelvin@ponte.test'],
    ['  Some New Kind of Key  ', 'UNKNOWN', 'Some New Kind of Key'],
    ['', 'UNKNOWN', ''],
  ];
  for (const [typed, kind, key] of vectors) {
    it(`reads ${JSON.stringify(typed)} as ${kind}`, () => {
      assert.deepEqual(normalisePixKey(typed), { kind, key });
      assert.equal(isPixKey(typed), kind !== 'UNKNOWN');
    });
  }

  it('takes eleven bare digits that fit both as a CPF', () => {
    assert.equal(isCpf(phoneAndCpf), true);
    assert.equal(normalisePixKey(phoneAndCpf).kind, 'CPF');
    assert.equal(normalisePixKey('119.876.541-02').kind, 'CPF');
  });

  it('takes eleven digits that fit both as a phone when they are grouped as one', () => {
    for (const typed of [
      '(11) 98765-4102',
      '11 98765-4102',
      '11 987654102',
      '11 98765 4102',
      '11.98765.4102',
      '11-98765-4102',
      '1198765-4102',
      '+55 11 98765-4102',
    ]) {
      assert.deepEqual(normalisePixKey(typed), { kind: 'PHONE', key: '+5511987654102' }, typed);
    }
  });

  it('never takes what is grouped as a CPF for a phone, though a digit be wrong', () => {
    assert.equal(normalisePixKey('21987654321').kind, 'PHONE');
    for (const typed of [
      '219.876.543-21',
      '219 876 543 21',
      '219.876.54321',
      '219876543-21',
      '219.876543-21',
      '219 . 876 . 543 - 21',
      '219.876.543\u201121',
    ]) {
      assert.deepEqual(normalisePixKey(typed), { kind: 'UNKNOWN', key: typed }, typed);
    }
  });

  it('forwards a text longer than any key as typed, and soon', () => {
    for (const typed of [
      `${'a'.repeat(67)}@ponte.test`,
      `a@${'a.'.repeat(100_000)}`,
      `${'-'.repeat(200_000)}1`,
    ]) {
      const startedAt = performance.now();
      assert.deepEqual(normalisePixKey(typed), { kind: 'UNKNOWN', key: typed });
      // What looks at each character for each character takes minutes.
      assert.ok(performance.now() - startedAt < 10_000);
    }
  });

  it('accepts an e-mail of 77 characters', () => {
    const email = `${'a'.repeat(65)}@ponte.tests`;
    assert.equal(email.length, 77);
    assert.equal(normalisePixKey(email).kind, 'EMAIL');
  });

  it('leaves every key that it recognised unchanged', () => {
    const typed = fc.oneof(
      fc.string({ maxLength: 80 }),
      fc.stringMatching(/^[0-9 ().+-]{8,20}$/),
      fc.emailAddress(),
      fc.uuid(),
    );
    fc.assert(
      fc.property(typed, (text) => {
        const first = normalisePixKey(text);
        assert.deepEqual(normalisePixKey(first.key), first);
      }),
    );
  });
});
