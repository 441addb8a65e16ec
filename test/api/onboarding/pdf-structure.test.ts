/** Which PDFs show pages only, whatever way a script is written into them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { AppError } from '../../../src/errors.ts';
import { PdfStructure } from '../../../src/onboarding/pdf-structure.ts';
import { pdfOf, pdfOfSize } from '../../support/documents.ts';
import { heldMs, MAX_HELD_MS } from '../../support/held.ts';

type Verdict = 'accepted' | 'active' | 'broken';

const ACTIVE = /^The PDF must not contain scripts/;

async function verdict(file: Buffer, pieceBytes = 128 * 1024): Promise<Verdict> {
  const structure = new PdfStructure();
  try {
    for (let at = 0; at < file.length; at += pieceBytes) {
      if (!(await structure.take(file.subarray(at, at + pieceBytes)))) return 'broken';
    }
    return structure.isWhole() ? 'accepted' : 'broken';
  } catch (error) {
    assert.ok(error instanceof AppError);
    assert.match(error.fields?.['arquivo']?.[0]?.en ?? '', ACTIVE);
    return 'active';
  }
}

/** A PDF of these objects, written as they are. */
function pdf(...objects: readonly (string | Buffer)[]): Buffer {
  const parts = ['%PDF-1.7\n', ...objects, '\nstartxref\n9\n%%EOF\n'];
  return Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')));
}

/** A list of objects in a stream, compressed as writers do it. */
function list(objects: string | Buffer, dictionary = '/Type /ObjStm /Filter /FlateDecode'): Buffer {
  const packed = typeof objects === 'string' ? deflateSync(objects) : objects;
  return Buffer.concat([
    Buffer.from(`1 0 obj << ${dictionary} >>\nstream\r\n`),
    packed,
    Buffer.from('\nendstream endobj\n'),
  ]);
}

const script = '<< /S /JavaScript /JS (app.alert(1)) >>';

const cases: readonly [what: string, file: Buffer, verdict: Verdict][] = [
  ['pages', pdf('1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj'), 'accepted'],
  ['a page to open at', pdf('<< /OpenAction [3 0 R /Fit] >>'), 'accepted'],
  ['names that only begin like it', pdf('<< /JSON 1 /Launcher 2 /JavaScripts 3 >>'), 'accepted'],
  ['the words in a text', pdf('(JavaScript, JS, Launch)'), 'accepted'],
  ['a list of objects', pdf(list('1 0 2 20 << /Type /Page >> << /Type /Font >>')), 'accepted'],
  ['a list as it is', pdf(list(Buffer.from('1 0 << /A 1 >>'), '/Type /ObjStm')), 'accepted'],
  ['/JS by chance in a picture', pdfOf('\xff/JS(\xff/XFA[\xff'), 'accepted'],
  ['a script', pdf(`1 0 obj ${script} endobj`), 'active'],
  ['a script of a rendition', pdf('<< /S /Rendition /JS 7 0 R >>'), 'active'],
  ['an escaped script', pdf('<< /S /J#61vaScript >>'), 'active'],
  ['a script escaped throughout', pdf('<< /S /#4a#61#76#61#53#63#72#69#70#74 >>'), 'active'],
  ['a short escaped script', pdf('<< /#4AS (x) >>'), 'active'],
  ['an action at the opening', pdf('<< /OpenAction 7 0 R >>'), 'active'],
  ['a program', pdf('<</S/Launch/F(cmd.exe)>>'), 'active'],
  ['a file', pdf('<< /Names << /EmbeddedFiles 4 0 R >> >>'), 'active'],
  ['a file in a stream', pdf('<< /Type /EmbeddedFile >> stream\nMZ\nendstream'), 'active'],
  ['a form with scripts', pdf('<< /AcroForm << /XFA [ (a) 4 0 R ] >> >>'), 'active'],
  ['a script at the very end', Buffer.concat([pdf(), Buffer.from('/JavaScript')]), 'active'],
  ['a script in a list', pdf(list(`7 0 ${script}`)), 'active'],
  ['a short script in a list', pdf(list('7 0 << /JS (x) >>')), 'active'],
  [
    'a script in a list by another name',
    pdf(list(script, '/Type /Obj#53tm /Filter /Fl')),
    'active',
  ],
  [
    'a script in a list behind a long dictionary',
    pdf(list(script, `/Type /ObjStm /Filter /FlateDecode${' '.repeat(9_000)}`)),
    'active',
  ],
  ['a list that does not unpack', pdf(list(Buffer.from('packed otherwise'))), 'broken'],
  ['a list that unpacks to a bomb', pdf(list(deflateSync(Buffer.alloc(3_000_000)))), 'broken'],
  ['a list with a predictor', pdf(list('1 0', '/ObjStm /Filter /Fl /DecodeParms 1')), 'broken'],
  ['a list within a stream', pdf('<<>>stream\n', list(script)), 'broken'],
  ['a list whose stream is not seen to begin', pdf('<</ObjStm>>%\nstream\n1 endstream'), 'broken'],
  ['a thousand and one lists', pdf(...Array(1_001).fill(list('1 0'))), 'broken'],
  ['no end', Buffer.from('%PDF-1.7\n1 0 obj << >> endobj'), 'broken'],
  ['an end that says nothing', Buffer.from('%PDF-1.7\nstartxref\n%%EOF'), 'broken'],
  ['a stream without an end', pdf('<< >> stream\n 1 2 3'), 'broken'],
  ['an end far before the end', Buffer.concat([pdf(), Buffer.alloc(3_000, ' ')]), 'broken'],
];

for (const [what, file, expected] of cases) {
  test(`a PDF with ${what} is ${expected}, however it comes`, async () => {
    for (const pieceBytes of [128 * 1024, 4_096, 61, 1]) {
      if (file.length / pieceBytes > 20_000) continue;
      assert.equal(await verdict(file, pieceBytes), expected, `in pieces of ${pieceBytes}`);
    }
  });
}

test('a large PDF of pictures is accepted', async () => {
  const pictures = Array.from({ length: 40 }, () => list(randomBytes(250_000), '/Subtype /Image'));
  assert.equal(await verdict(pdf(...pictures)), 'accepted');
  assert.equal(await verdict(pdfOfSize(10_000_000)), 'accepted');
});

const piece = 128 * 1024;

const hostile: Readonly<Record<string, string>> = {
  slashes: '/',
  names: '/#4a#',
  'ends of dictionaries': '>> ',
  streams: '>>stream\nendstream ',
  'open names': '/aaaaaaaa',
  blanks: ' ',
  'ends of files': 'startxref ',
};

for (const [what, unit] of Object.entries(hostile)) {
  test(`a piece full of ${what} does not hold the event loop`, async () => {
    const bytes = Buffer.from(unit.repeat(Math.ceil(piece / unit.length)).slice(0, piece));
    const held = heldMs(() => void new PdfStructure().take(bytes).catch(() => undefined));
    assert.ok(held < MAX_HELD_MS, `${held} ms`);
  });
}
