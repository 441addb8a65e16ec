import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hasError, isStaticPix, parsePix } from 'pix-utils';
import { encodeStaticBrCode } from '../../../src/provider/sandbox/bank/br-code.ts';
import { BrCodeFault, brCodeError, crc16Ccitt, decodeBrCode } from '../../../src/domain/br-code.ts';
import { anyCharacters } from '../../support/any-characters.ts';

const evp = '123e4567-e12b-12d1-a456-426655440000';
const fromTheManual =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000' +
  '5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D';
const oneTime =
  '00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99' +
  '5204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304EEAB';

const withCrc = (text: string) => text + crc16Ccitt(text);
const body = fromTheManual.slice(0, -4);

function rejects(text: string, field: string): void {
  assert.throws(
    () => decodeBrCode(text),
    (error) => {
      assert.ok(error instanceof BrCodeFault);
      assert.equal(error.field, field, error.message);
      return true;
    },
  );
}

describe('decodeBrCode', () => {
  it('ignores space around the code', () => {
    assert.deepEqual(decodeBrCode(`\n ${fromTheManual}\r\n`), decodeBrCode(fromTheManual));
  });

  const pasted: [what: string, text: string][] = [
    ['a byte order mark', `\ufeff${fromTheManual}`],
    ['a direction mark', `\u200e${fromTheManual}\u200f`],
    ['direction isolates', `\u2068${fromTheManual}\u2069`],
    ['a zero-width space', fromTheManual.replace('5204', '\u200b5204')],
    ['a zero-width joiner', fromTheManual.replace('Fulano', 'Fu\u200dlano')],
    ['soft hyphens', fromTheManual.replaceAll('0', '0\u00ad')],
    ['a variation selector', `${fromTheManual}\ufe0f`],
    ['line breaks', fromTheManual.replace(/.{60}/g, '$&\r\n')],
    ['indented lines', fromTheManual.replace(/.{60}/g, '$&\r\n\t  ')],
    ['spaces before line breaks', fromTheManual.replace(/.{60}/g, '$& \n')],
    ['line breaks for spaces', fromTheManual.replaceAll(' ', '\n')],
    ['a line separator', fromTheManual.replace('5204', '\u20285204')],
    ['no-break spaces at the ends', `\u00a0${fromTheManual}\u202f`],
    ['no-break spaces for spaces', fromTheManual.replaceAll(' ', '\u00a0')],
    ['a space between two fields', fromTheManual.replace('5204', ' 5204')],
    ['spaces after every fifth digit', fromTheManual.replace(/\d{5}/g, '$& ')],
    [
      'a tab, and two spaces for one',
      fromTheManual.replace('5204', '\t5204').replace(' de', '  de'),
    ],
  ];
  for (const [what, text] of pasted) {
    it(`ignores ${what} that pasting adds`, () => {
      assert.deepEqual(decodeBrCode(text), decodeBrCode(fromTheManual));
    });
  }

  const amounts: [text: string, cents: number | null][] = [
    ['10', 1_000],
    ['10.', 1_000],
    ['10.0', 1_000],
    ['308.9', 30_890],
    ['0010.00', 1_000],
    ['0.01', 1],
    ['0', null],
    ['0.', null],
    ['0.0', null],
    ['0.00', null],
    ['', null],
  ];
  for (const [text, cents] of amounts) {
    it(`reads the amount '${text}' as ${cents ?? 'none'}`, () => {
      const length = String(text.length).padStart(2, '0');
      const code = decodeBrCode(withCrc(body.replace('5802BR', `54${length}${text}5802BR`)));
      assert.ok(code.kind === 'static');
      assert.equal(code.amountCents, cents);
    });
  }

  const zipcodes = ['6100', '610501310', '610901310-100', '6108CURITIBA'];
  for (const zipcode of zipcodes) {
    it(`reads past the postal code ${zipcode}`, () => {
      const text = withCrc(body.replace('6207', `${zipcode}6207`));
      assert.deepEqual(decodeBrCode(text), decodeBrCode(fromTheManual));
    });
  }

  const names: [counting: string, field: string, name: string][] = [
    ['bytes', '5914João da Silva', 'João da Silva'],
    ['characters', '5913João da Silva', 'João da Silva'],
    ['bytes', '5917Açaí & Cia 🍇', 'Açaí & Cia 🍇'],
    ['UTF-16 units', '5913Açaí & Cia 🍇', 'Açaí & Cia 🍇'],
    ['code points', '5912Açaí & Cia 🍇', 'Açaí & Cia 🍇'],
    ['code points, with a joiner', '5905👩\u200d🍳 A', '👩\u200d🍳 A'],
  ];
  for (const [counting, field, name] of names) {
    it(`reads ${name}, counted in ${counting}`, () => {
      const code = decodeBrCode(withCrc(body.replace('5913Fulano de Tal', field)));
      assert.equal(code.receiverName, name);
    });
  }

  it('reads a name with invisible characters of its own between those that pasting adds', () => {
    for (const name of ['Açaí ❤️', '👩\u200d🍳 A']) {
      const field = `59${String(Buffer.byteLength(name)).padStart(2, '0')}${name}`;
      const code = withCrc(body.replace('5913Fulano de Tal', field));
      assert.equal(decodeBrCode(`\u200e${code}\u200b \n`).receiverName, name);
    }
  });

  it('reads a description with accents, whose template is counted in the same way', () => {
    for (const [account, description] of [
      ['2641', '0204'],
      ['2642', '0205'],
    ]) {
      const template = `${account}0014br.gov.bcb.pix011111144477735${description}café`;
      const code = decodeBrCode(withCrc(body.replace(/26.{60}/, template)));
      assert.ok(code.kind === 'static');
      assert.deepEqual([code.key, code.description], ['11144477735', 'café']);
    }
  });

  it('counts only the URL of a dynamic code', () => {
    const others = [
      ['5204000053039865802BR', '5204000053039865406123.455802BR'],
      ['5802BR', '540300a5802BR'],
      ['62070503***', '62190515RP12345678-2019'],
      ['62070503***', `62300526${'a'.repeat(26)}`],
      ['62070503***', ''],
      ['5303986', '5303840'],
      ['5802BR', '5802US'],
      ['52040000', '5204ABCD'],
      ['010212', '010213'],
    ] as const;
    const dynamic = decodeBrCode(oneTime);
    assert.ok(dynamic.kind === 'dynamic');
    for (const [from, to] of others) {
      const code = decodeBrCode(withCrc(oneTime.slice(0, -4).replace(from, to)));
      assert.deepEqual({ ...code, oneTime: true }, dynamic, to);
    }
    const nameless = oneTime.slice(0, -4).replace('5907EMPRESA6009SAO PAULO', '');
    const { receiverName, city } = decodeBrCode(withCrc(nameless));
    assert.deepEqual([receiverName, city], ['', '']);
  });

  it('marks a code for cash', () => {
    const account = '26510014br.gov.bcb.pix0117silent@ponte.test030812345678';
    const code = decodeBrCode(withCrc(body.replace(/26.{60}/, account)));
    assert.ok(code.kind === 'static' && code.isWithdrawal);
  });

  const recurrence = '80450014br.gov.bcb.pix2523pix.example.com/rec/abc';

  it('marks a charge that also authorises recurring payments', () => {
    const both = decodeBrCode(withCrc(oneTime.slice(0, -4).replace('6304', `${recurrence}6304`)));
    assert.ok(both.kind === 'dynamic' && both.isRecurring);
  });

  const foreign: [template: string, tag: string][] = [
    ['261499887766554433', '27'],
    ['26190015com.example.foo', '27'],
    ['5010not a list', '26'],
  ];
  for (const [template, tag] of foreign) {
    it(`does not read the account ${template} of another arrangement`, () => {
      const text = body.replace('2658', `${template}${tag}58`);
      assert.deepEqual(decodeBrCode(withCrc(text)), decodeBrCode(fromTheManual));
    });
  }

  it("reads the static code of the central bank's manual", () => {
    assert.deepEqual(decodeBrCode(fromTheManual), {
      kind: 'static',
      key: evp,
      description: null,
      isWithdrawal: false,
      oneTime: false,
      amountCents: null,
      receiverName: 'Fulano de Tal',
      city: 'BRASILIA',
      txid: null,
    });
  });

  it('reads a dynamic one-time code', () => {
    assert.deepEqual(decodeBrCode(oneTime), {
      kind: 'dynamic',
      url: 'pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99',
      oneTime: true,
      isRecurring: false,
      receiverName: 'EMPRESA',
      city: 'SAO PAULO',
    });
  });

  it('reads every optional field', () => {
    const text = withCrc(
      '000201010211' +
        '26410014br.gov.bcb.pix0111111444777350204cafe' +
        '520458125303986540512.345802BR5905MARIA6006RECIFE610850030000' +
        '62130509Pedido12380200014br.gov.bcb.pix99026304',
    );
    assert.throws(() => decodeBrCode(text), BrCodeFault);
    const right = withCrc(
      '000201010211' +
        '26410014br.gov.bcb.pix0111111444777350204cafe' +
        '520458125303986540512.345802BR5905MARIA6006RECIFE610850030000' +
        '62130509Pedido12380180014br.gov.bcb.pix6304',
    );
    assert.deepEqual(decodeBrCode(right), {
      kind: 'static',
      key: '11144477735',
      description: 'cafe',
      isWithdrawal: false,
      oneTime: false,
      amountCents: 1234,
      receiverName: 'MARIA',
      city: 'RECIFE',
      txid: 'Pedido123',
    });
  });

  it('finds the account of PIX beside another arrangement', () => {
    const text = withCrc(
      '00020126190015com.example.foo27370014br.gov.bcb.pix0115a@exemplo.teste' +
        '5204000053039865802BR5905MARIA6006RECIFE62070503***6304',
    );
    const code = decodeBrCode(text);
    assert.ok(code.kind === 'static');
    assert.equal(code.key, 'a@exemplo.teste');
  });

  it('rejects a wrong length although the CRC is right', () => {
    const phone =
      '00020126360014br.gov.bcb.pix0114+55119876543215204000053039865802BR5905MARIA6006RECIFE';
    rejects(withCrc(`${phone}62080503***6304`), 'payload');
    assert.equal(decodeBrCode(withCrc(`${phone}62070503***6304`)).receiverName, 'MARIA');
  });

  it('reads a code that its way has changed', () => {
    const accented = withCrc(body.replace('5913Fulano', '5913Joãooo'));
    for (const [text, name] of [
      [accented.normalize('NFD'), 'Joãooo de Tal'],
      [fromTheManual.replaceAll('-', '\u2011'), 'Fulano de Tal'],
      [fromTheManual.replaceAll('-', '–'), 'Fulano de Tal'],
      [`“${fromTheManual}”`, 'Fulano de Tal'],
      [`'${fromTheManual.replaceAll('-', '–')}'.`, 'Fulano de Tal'],
    ] as const) {
      assert.equal(decodeBrCode(text).receiverName, name, text);
    }
  });

  const refused: [string, string, string][] = [
    ['nothing', '', '00'],
    ['a code without its CRC', body, '63'],
    ['a CRC of another text', `${body}0000`, '63'],
    ['a CRC in lower case', `${body}1d3d`, '63'],
    ['two codes', `${fromTheManual}, ${oneTime}`, '63'],
    ['a code after another word', `Pix\n${fromTheManual}, ${oneTime}`, '00'],
    ['a byte after the CRC', `${fromTheManual}0`, '63'],
    ['a space for a letter of its name', fromTheManual.replace('Fulano', 'Ful no'), '63'],
    ['a control character', withCrc(body.replace('Fulano ', 'Fulano\u0007')), 'payload'],
    ['half of a surrogate pair', withCrc(body.replace('Fulano ', 'Fulano\ud800')), 'payload'],
    [
      'a length of neither characters nor bytes',
      withCrc(body.replace('5913Fulano', '5915Fúlánó')),
      'payload',
    ],
    [
      'over 512 characters',
      withCrc(body.replace('6304', '8099'.padEnd(103, 'x').repeat(5))),
      'payload',
    ],
    ['an empty name', withCrc(body.replace('5913Fulano de Tal', '5900')), '59'],
    ['a repeated field', withCrc(body.replace('5802BR', '5802BR5802BR')), 'payload'],
    ['another currency', withCrc(body.replace('5303986', '5303840')), '53'],
    ['another country', withCrc(body.replace('5802BR', '5802US')), '58'],
    ['no country', withCrc(body.replace('5802BR', '')), '58'],
    ['a category of letters', withCrc(body.replace('52040000', '5204ABCD')), '52'],
    ['an amount with a comma', withCrc(body.replace('5802BR', '54041,005802BR')), '54'],
    ['an amount of three decimals', withCrc(body.replace('5802BR', '54051.0005802BR')), '54'],
    ['a recurrence', withCrc(body.replace('6304', `${recurrence}6304`)), '80'],
    [
      'a name of 26 characters',
      withCrc(body.replace('5913Fulano de Tal', `5926${'A'.repeat(26)}`)),
      '59',
    ],
    [
      'a city of 16 characters',
      withCrc(body.replace('6008BRASILIA', `6016${'A'.repeat(16)}`)),
      '60',
    ],
    ['no txid field', withCrc(body.replace('62070503***', '')), '62'],
    ['a template without txid', withCrc(body.replace('62070503***', '62070103abc')), '62-05'],
    [
      'a txid of 26 characters',
      withCrc(body.replace('62070503***', `62300526${'a'.repeat(26)}`)),
      '62-05',
    ],
    ['a txid with punctuation', withCrc(body.replace('0503***', '0503a-b')), '62-05'],
    [
      'a template that does not fill its length',
      withCrc(body.replace('62070503***', '62070502***')),
      '62',
    ],
    ['another GUI', withCrc(body.replace('br.gov.bcb.pix', 'br.gov.bcb.pox')), '26'],
    [
      'an account without key',
      withCrc(body.replace(`26580014br.gov.bcb.pix0136${evp}`, '26180014br.gov.bcb.pix')),
      '26',
    ],
    ['a key with a space', withCrc(body.replace('e12b-', 'e12b ')), '26-01'],
    [
      'both a key and an address',
      withCrc(
        body.replace(`26580014br.gov.bcb.pix0136${evp}`, '26340014br.gov.bcb.pix0104a@bc2504d.ef'),
      ),
      '26',
    ],
    [
      'two accounts of PIX',
      withCrc(body.replace('5204', '27260014br.gov.bcb.pix0104a@bc5204')),
      '26',
    ],
    ['a CRC field that is not the last', withCrc(`00020163041234${body.slice(6)}`), 'payload'],
    ['another initiation method', withCrc(body.replace('000201', '000201010213')), '01'],
  ];
  for (const [name, text, field] of refused) {
    it(`rejects ${name}`, () => rejects(text, field));
  }

  it('rejects every single changed character', () => {
    fc.assert(
      fc.property(
        fc.nat(fromTheManual.length - 1),
        fc.integer({ min: 0x20, max: 0x7e }),
        (at, code) => {
          const changed = String.fromCharCode(code);
          fc.pre(fromTheManual[at] !== changed);
          assert.throws(
            () => decodeBrCode(fromTheManual.slice(0, at) + changed + fromTheManual.slice(at + 1)),
            BrCodeFault,
          );
        },
      ),
    );
  });

  it('throws nothing but BrCodeFault, also under a right CRC', () => {
    const text = fc.oneof(
      anyCharacters,
      fc.string().map((inner) => withCrc(`000201${inner}6304`)),
      fc
        .tuple(fc.nat(body.length), fc.nat(9))
        .map(([at, length]) => withCrc(body.slice(0, at) + body.slice(at + length))),
    );
    fc.assert(
      fc.property(text, (candidate) => {
        try {
          decodeBrCode(candidate);
        } catch (error) {
          assert.ok(error instanceof BrCodeFault);
        }
      }),
    );
  });
});

describe('beside the reader of another library', () => {
  const upTo = (max: number, min = 1) =>
    fc
      .string({ unit: fc.constantFrom(...'abcXYZ 0189'), minLength: min, maxLength: max })
      .filter((text) => text === text.trim());
  const contents = fc.record({
    key: fc.constantFrom(evp, '+5511987654321', '11144477735', 'ana@example.com'),
    receiverName: upTo(25).filter((text) => /[a-z]/i.test(text)),
    city: upTo(15).filter((text) => /[a-z]/i.test(text)),
    amountCents: fc.option(fc.integer({ min: 1, max: 999_999_999 }), { nil: undefined }),
    txid: fc.option(fc.stringMatching(/^[A-Za-z0-9]{1,25}$/), { nil: undefined }),
  });

  it('reads the same of what the simulated bank writes', () => {
    fc.assert(
      fc.property(contents, (content) => {
        const text = encodeStaticBrCode(content);
        const ours = decodeBrCode(text);
        const theirs = parsePix(text);
        assert.ok(ours.kind === 'static' && !hasError(theirs) && isStaticPix(theirs));
        assert.deepEqual(
          [ours.key, ours.receiverName, ours.city, ours.amountCents ?? 0, ours.txid ?? '***'],
          [
            theirs.pixKey,
            theirs.merchantName,
            theirs.merchantCity,
            Math.round((theirs.transactionAmount ?? 0) * 100),
            theirs.txid,
          ],
        );
      }),
    );
  });
});

describe('brCodeError', () => {
  it('says in words what is wrong with a code', () => {
    const wrong: [text: string, error: RegExp][] = [
      ['ana@example.com', /not a Pix code/],
      [fromTheManual.slice(0, -9), /incomplete or was changed/],
      [withCrc(body.replace('Fulano ', 'Fulano\u0007')), /a control character/],
      [withCrc(body.replace(/26.{60}/, '26180014br.gov.bcb.pix')), /either a key or an address/],
      [
        withCrc(
          body
            .replace(/26.{60}/, '26180014br.gov.bcb.pix')
            .replace('6304', '80450014br.gov.bcb.pix2523pix.example.com/rec/abc6304'),
        ),
        /Pix Automático/,
      ],
      [withCrc(body.replace('5802BR', '5803BR')), /a length in it does not match/],
      [withCrc(body.replace('5802BR', '')), /lacks the field 58/],
      [withCrc(body.replace('5303986', '5303840')), /field 53 of the code is not valid/],
      [withCrc(body.replace('br.gov.bcb.pix', 'br.gov.bcb.pox')), /exactly one Pix account/],
    ];
    for (const [text, error] of wrong) assert.match(brCodeError(text)?.en ?? '', error, text);
    assert.equal(brCodeError(fromTheManual), null);
  });
});

describe('crc16Ccitt', () => {
  it('passes its self-test and keeps leading zeros', () => {
    assert.equal(crc16Ccitt('123456789'), '29B1');
    assert.equal(crc16Ccitt(''), 'FFFF');
    assert.ok(
      Array.from({ length: 64 }, (_, n) => crc16Ccitt(`${n}`)).every((c) => c.length === 4),
    );
  });
});
