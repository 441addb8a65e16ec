import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  BrCodeError,
  encodeDynamicBrCode,
  encodeStaticBrCode,
  type StaticBrCodeInput,
} from '../../../../../src/provider/sandbox/bank/br-code.ts';
import { crc16Ccitt, decodeBrCode } from '../../../../../src/domain/br-code.ts';
import { anyCharacters } from '../../../../support/any-characters.ts';

const evp = '123e4567-e12b-12d1-a456-426655440000';
const oneTime =
  '00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99' +
  '5204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304EEAB';
const receiver = { receiverName: 'Maria', city: 'Recife' };

function decodedStatic(input: Partial<StaticBrCodeInput>) {
  const code = decodeBrCode(encodeStaticBrCode({ key: evp, ...receiver, ...input }));
  assert.ok(code.kind === 'static');
  return code;
}

describe('encodeStaticBrCode', () => {
  it('writes the fields in the order of their tags', () => {
    const text = encodeStaticBrCode({
      key: evp,
      amountCents: 1000,
      receiverName: 'José da Conceição',
      city: 'São Paulo',
      zipcode: '01310-100',
      txid: 'PEDIDO1',
      description: 'Almoço',
      categoryCode: '5812',
    });
    assert.equal(
      text.slice(0, -4),
      `00020126680014br.gov.bcb.pix0136${evp}0206Almoco520458125303986540510.00` +
        '5802BR5917JOSE DA CONCEICAO6009SAO PAULO61080131010062110507PEDIDO16304',
    );
    assert.equal(text.slice(-4), crc16Ccitt(text.slice(0, -4)));
  });

  it('writes the identifier of the service, one character too long, as its first 25', () => {
    const txid = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
    assert.equal(decodedStatic({ txid }).txid, 'ABCDEFGHIJKLMNOPQRSTUVWXY');
  });

  it('writes no txid for one that is empty or not alphanumeric', () => {
    for (const txid of [undefined, '', 'a-b', 'ção', '***']) {
      assert.equal(decodedStatic({ txid }).txid, null);
    }
  });

  it('falls back when nothing of the name or the city can be written', () => {
    for (const blank of ['', '   ', '山田太郎', '😀😀', '\u0301', '!?', '\u0000']) {
      const code = decodedStatic({ receiverName: blank, city: blank });
      assert.deepEqual([code.receiverName, code.city], ['RECEBEDOR', 'SAO PAULO']);
    }
  });

  it('cuts after stripping accents, and leaves no space at the cut', () => {
    const code = decodedStatic({
      receiverName: 'Ângela Conceição de Sá e Silva',
      city: 'Águas de São Pedro',
    });
    assert.equal(code.receiverName, 'ANGELA CONCEICAO DE SA E');
    assert.equal(code.city, 'AGUAS DE SAO PE');
  });

  it('spells letters that are no letter with an accent', () => {
    for (const [name, written] of [
      ['Øl Łódź', 'OL LODZ'],
      ['Đorđe Þór', 'DORDE THOR'],
      ['Strauß & Œuvre', 'STRAUSS & OEUVRE'],
      ['Ivan Иван', 'IVAN IVAN'],
    ] as const) {
      assert.equal(decodedStatic({ receiverName: name }).receiverName, written);
    }
  });

  it('uses a category of four digits only', () => {
    for (const categoryCode of ['', '581', '58125', 'ABCD', '5812\n', '1234567890']) {
      const text = encodeStaticBrCode({ key: evp, ...receiver, categoryCode });
      assert.ok(text.includes('52040000'));
    }
  });

  it('leaves out a CEP that is not eight digits', () => {
    for (const zipcode of ['', '0131010', 'ABCDEFGH', '013101000']) {
      const text = encodeStaticBrCode({ key: evp, ...receiver, zipcode });
      assert.equal(text, encodeStaticBrCode({ key: evp, ...receiver }));
    }
  });

  const rooms: [string, string, number][] = [
    ['an EVP', evp, 37],
    ['a CPF', '11144477735', 62],
    ['a key of 72 characters', 'a'.repeat(72), 1],
    ['a key of 73 characters', 'a'.repeat(73), 0],
    ['an e-mail of 77 characters', `${'a'.repeat(66)}@ponte.test`, 0],
  ];
  for (const [name, key, room] of rooms) {
    it(`cuts the description to the ${room} characters beside ${name}`, () => {
      const code = decodedStatic({ key, description: 'x'.repeat(140) });
      assert.equal(code.key, key);
      assert.equal(code.description, room === 0 ? null : 'x'.repeat(room));
    });
  }

  it('refuses a key that it cannot carry', () => {
    for (const key of ['', 'a'.repeat(78), 'a b', 'josé@ponte.test', 'a\n']) {
      assert.throws(() => encodeStaticBrCode({ key, ...receiver }), BrCodeError);
    }
  });

  it('carries amounts up to thirteen characters and refuses others', () => {
    assert.equal(decodedStatic({ amountCents: 999_999_999_999 }).amountCents, 999_999_999_999);
    assert.equal(decodedStatic({ amountCents: 1 }).amountCents, 1);
    for (const amountCents of [0, -1, 0.5, 1_000_000_000_000, Number.NaN, 1e21]) {
      assert.throws(() => decodedStatic({ amountCents }), BrCodeError);
    }
  });
});

describe('encodeDynamicBrCode', () => {
  it('writes what a bank published, but for the case of the GUI', () => {
    const text = encodeDynamicBrCode({
      url: 'https://pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99',
      receiverName: 'Empresa',
      city: 'São Paulo',
      oneTime: true,
    });
    assert.equal(
      text.slice(0, -4),
      oneTime.slice(0, -4).replace('BR.GOV.BCB.PIX', 'br.gov.bcb.pix'),
    );
    assert.deepEqual(decodeBrCode(text), decodeBrCode(oneTime));
  });

  it('omits the initiation method of a reusable code', () => {
    const text = encodeDynamicBrCode({ url: 'pix.example.com/1', oneTime: false, ...receiver });
    assert.ok(text.startsWith('00020126'));
    assert.equal(decodeBrCode(text).oneTime, false);
  });

  it('refuses an address that it cannot carry', () => {
    for (const url of ['', 'https://', 'a'.repeat(78), 'pix.example.com/a b']) {
      assert.throws(() => encodeDynamicBrCode({ url, oneTime: true, ...receiver }), BrCodeError);
    }
  });
});

describe('every generated code', () => {
  const anyText = fc.oneof(
    anyCharacters,
    fc.string({ unit: 'grapheme' }),
    fc.string({
      unit: fc.constantFrom('Ã', 'ç', 'e\u0301', '😀', '山', 'ß', 'ﬁ', '\ud800', ' ', 'a'),
    }),
  );
  const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
  const common = {
    receiverName: anyText,
    city: anyText,
    zipcode: optional(fc.oneof(anyText, fc.stringMatching(/^\d{8}$/))),
    amountCents: optional(fc.integer({ min: 1, max: 999_999_999_999 })),
    categoryCode: optional(fc.oneof(anyText, fc.stringMatching(/^\d{4}$/))),
  };
  const visible = fc.stringMatching(/^[\x21-\x7e]{1,77}$/);

  function holds(text: string): void {
    assert.match(text, /^[\x20-\x7e]{1,512}$/);
    assert.equal(Buffer.byteLength(text), text.length);
  }

  it('reads back as what went in, static', () => {
    const input = fc.record({
      ...common,
      key: visible,
      txid: optional(fc.oneof(anyText, fc.stringMatching(/^[a-zA-Z0-9]{1,35}$/))),
      description: optional(fc.oneof(anyText, fc.string({ minLength: 100, maxLength: 140 }))),
    });
    fc.assert(
      fc.property(input, (fields) => {
        const text = encodeStaticBrCode(fields);
        holds(text);
        const code = decodeBrCode(text);
        assert.ok(code.kind === 'static');
        assert.equal(code.key, fields.key);
        assert.equal(code.amountCents, fields.amountCents ?? null);
      }),
    );
  });

  it('reads back as what went in, dynamic', () => {
    const input = fc.record({ ...common, url: visible, oneTime: fc.boolean() });
    fc.assert(
      fc.property(input, (fields) => {
        fc.pre(!/^https:\/\//i.test(fields.url));
        const text = encodeDynamicBrCode(fields);
        holds(text);
        const code = decodeBrCode(text);
        assert.ok(code.kind === 'dynamic');
        assert.deepEqual([code.url, code.oneTime], [fields.url, fields.oneTime]);
      }),
    );
  });
});
