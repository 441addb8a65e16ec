import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { AppError, errorBody, invalidField } from '../../../src/errors.ts';
import { fileTooLarge } from '../../../src/http/multipart.ts';
import {
  formBoundary,
  fieldPart,
  filePart,
  makeForm,
  partBytes,
  partHead,
  type Part,
} from '../../support/forms.ts';
import { maxFormFileBytes, sendForm, startFormWire, upload } from './form-operation.ts';
import { call } from './wire.ts';

const repeatedParameter = 'The parameter must not be repeated.';
const notWhole = 'The value must be a whole number.';
const required = 'The field is required.';

const file = filePart('some bytes');
const kind = fieldPart('6');

test('the file may come before the fields or after them, and comes byte for byte', async (t) => {
  const wire = await startFormWire(t);
  const nearly = Buffer.from(`\r\n--${formBoundary.slice(0, -1)}\r\n\r--\r\n--`);
  const content = Buffer.concat([nearly, randomBytes(maxFormFileBytes - 200), nearly, nearly]);
  for (const parts of [
    [kind, filePart(content)],
    [filePart(content), kind],
  ]) {
    const response = await upload(wire, ...parts);
    assert.equal(response.status, 201, response.text);
    assert.deepEqual(wire.taken.fields, { tipo_documento: 6, arquivo: '' });
    assert.ok(wire.taken.content?.equals(content));
  }
});

test('the part with the name of the file is one, whatever its headers say', async (t) => {
  const wire = await startFormWire(t);
  const content = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0x00]), randomBytes(5_000)]);
  const types = ['image/jpeg', 'application/octet-stream', 'text/plain', undefined];
  for (const type of types) {
    const unnamed = { name: 'arquivo', ...(type !== undefined && { type }), content };
    for (const parts of [
      [kind, unnamed],
      [unnamed, kind],
    ]) {
      const response = await upload(wire, ...parts);
      assert.equal(response.status, 201, `${type} ${response.text}`);
      assert.ok(wire.taken.content?.equals(content), String(type));
    }
  }
});

test('a field may be declared as text or as JSON', async (t) => {
  const wire = await startFormWire(t);
  for (const type of ['text/plain; charset=utf-8', 'application/json; charset=utf-8']) {
    const response = await upload(wire, { ...kind, type }, file);
    assert.equal(response.status, 201, response.text);
    assert.deepEqual(wire.taken.fields, { tipo_documento: 6, arquivo: '' });
  }
});

test('a file without a name has the limit of every file', async (t) => {
  const wire = await startFormWire(t);
  const unnamed = (bytes: number) => ({
    name: 'arquivo',
    type: 'image/jpeg',
    content: randomBytes(bytes),
  });
  assert.equal((await upload(wire, kind, unnamed(maxFormFileBytes))).status, 201);
  assert.equal((await upload(wire, kind, unnamed(maxFormFileBytes + 1))).status, 413);
});

test('text around the form and unknown fields are ignored', async (t) => {
  const wire = await startFormWire(t);
  const form = [
    Buffer.from('preamble\r\n'),
    partBytes(fieldPart('x', '__proto__')),
    partBytes(fieldPart('x'.repeat(5_000), 'other')),
    partBytes({ ...filePart('x'.repeat(5_000)), name: 'other' }),
    partBytes({ name: '', filename: 'nameless', content: 'x' }),
    Buffer.from(`--${formBoundary}\r\nContent-Type: text/plain\r\n\r\nno name\r\n`),
    Buffer.from(
      `--${formBoundary}\r\nContent-Disposition: attachment; name="arquivo"\r\n\r\nx\r\n`,
    ),
    makeForm(kind, file),
    Buffer.from('epilogue'),
  ];
  const response = await sendForm(wire, Buffer.concat(form));
  assert.equal(response.status, 201, response.text);
  assert.deepEqual(wire.taken.fields, { tipo_documento: 6, arquivo: '' });
});

const faulty: [what: string, parts: readonly Part[], errors: Record<string, string[]>][] = [
  ['nothing', [], { tipo_documento: [required], arquivo: [required] }],
  ['no file', [kind], { arquivo: [required] }],
  ['no kind', [file], { tipo_documento: [required] }],
  ['a kind that is no number', [fieldPart('six'), file], { tipo_documento: [notWhole] }],
  ['an empty kind', [fieldPart(''), file], { tipo_documento: [notWhole] }],
  ['a fraction', [fieldPart('6.5'), file], { tipo_documento: [notWhole] }],
  ['a huge kind', [fieldPart('6'.repeat(20_000)), file], { tipo_documento: [notWhole] }],
  [
    'a kind that cannot be stored',
    [fieldPart('6\0'), file],
    { tipo_documento: ['The text contains a character that is not allowed.'] },
  ],
  [
    'a field as a file',
    [filePart('6', { name: 'tipo_documento' }), file],
    { tipo_documento: [notWhole] },
  ],
  [
    'both twice',
    [file, kind, kind, file],
    { arquivo: [repeatedParameter], tipo_documento: [repeatedParameter] },
  ],
];

test('every fault of a form is reported at once, by the name of its field', async (t) => {
  const wire = await startFormWire(t);
  for (const [what, parts, errors] of faulty) {
    const response = await upload(wire, ...parts);
    assert.equal(response.status, 422, what);
    assert.deepEqual(response.json.errors, errors, what);
    assert.equal(wire.taken.fields, null, what);
  }
});

test('the errors of the file are reported with those of the fields, in any order', async (t) => {
  const refusal = { en: 'No picture.', pt: 'Não é uma imagem.' };
  const wire = await startFormWire(t, async (content) => {
    for await (const _ of content) throw invalidField('arquivo', refusal);
  });
  const large = filePart(Buffer.alloc(maxFormFileBytes));
  for (const parts of [
    [large, fieldPart('x')],
    [fieldPart('x'), large],
  ]) {
    const response = await upload(wire, ...parts);
    assert.equal(response.status, 422);
    const errors = { arquivo: ['No picture.'], tipo_documento: [notWhole] };
    assert.deepEqual(response.json.errors, errors);
  }
});

test('a file that its reader leaves early flows away', async (t) => {
  const wire = await startFormWire(t, async (content) => {
    for await (const _ of content) return;
  });
  const response = await upload(wire, filePart(Buffer.alloc(maxFormFileBytes)), kind);
  assert.equal(response.status, 201);
  const unread = await startFormWire(t, () => Promise.resolve());
  assert.equal((await upload(unread, filePart(Buffer.alloc(maxFormFileBytes)), kind)).status, 201);
});

test('a reader that fails ends the reading, with its own error', async (t) => {
  const wire = await startFormWire(t, async (content) => {
    for await (const _ of content) throw new AppError('DATABASE_UNAVAILABLE');
  });
  const response = await upload(wire, filePart(Buffer.alloc(maxFormFileBytes)), kind);
  assert.equal(response.status, 503);
  const late = await startFormWire(t, async (content) => {
    for await (const _ of content);
    await turn();
    throw new AppError('DATABASE_UNAVAILABLE');
  });
  assert.equal((await upload(late, kind, file)).status, 503);
  assert.equal((await call(wire, { path: '/health/live' })).status, 200);
});

test('the error of a too large file has the limit, in both languages', () => {
  for (const [maxFileBytes, en, pt] of [
    [10_485_760, '10 MB', '10 MB'],
    [1_677_721, '1.5 MB', '1,5 MB'],
    [2_048, '2 kB', '2 kB'],
    [9, '9 bytes', '9 bytes'],
  ] as const) {
    const refusal = fileTooLarge(maxFileBytes);
    assert.equal(refusal.status, 413);
    assert.deepEqual(
      [errorBody(refusal, 'en'), errorBody(refusal, 'pt')],
      [
        { message: `The file is too large: it may have at most ${en}.` },
        { message: `O arquivo é grande demais: pode ter no máximo ${pt}.` },
      ],
    );
  }
});

test('the largest file is taken, one byte more is 413, in any order of parts', async (t) => {
  const wire = await startFormWire(t);
  const largest = filePart(Buffer.alloc(maxFormFileBytes));
  assert.equal((await upload(wire, largest, kind)).status, 201);
  const larger = filePart(Buffer.alloc(maxFormFileBytes + 1));
  for (const parts of [
    [larger, kind],
    [kind, larger],
    [{ ...larger, name: 'other' }, kind, file],
  ]) {
    const response = await upload(wire, ...parts);
    assert.equal(response.status, 413);
    assert.deepEqual(response.json, {
      message: 'The file is too large: it may have at most 292.9 kB.',
    });
  }
});

test('a boundary that is missing or not allowed is 400 before the body comes', async (t) => {
  const wire = await startFormWire(t);
  const odd = ['', ';', '; boundary', '; boundary=', '; boundary=""', '; boundary="a "', '; x=y'];
  const tooLong = `; boundary=${'a'.repeat(71)}`;
  const strange = ['; boundary="é"', '; boundary="a*b"', String.raw`; boundary="a\"b"`, tooLong];
  for (const parameters of [...odd, ...strange]) {
    const headers = { 'Content-Type': `multipart/form-data${parameters}` };
    const response = await sendForm(wire, makeForm(kind, file), headers);
    assert.equal(response.status, 400, parameters);
  }
  assert.equal(wire.calls.length, 0);
});

test('a boundary may stand in quotes, in capitals and beside others', async (t) => {
  const wire = await startFormWire(t);
  const types = [
    `multipart/form-data; boundary="${formBoundary}"`,
    `Multipart/Form-Data;BOUNDARY=${formBoundary};boundary=other`,
    `multipart/form-data; charset=utf-8; boundary=${formBoundary}`,
  ];
  for (const type of types) {
    const response = await sendForm(wire, makeForm(kind, file), { 'Content-Type': type });
    assert.equal(response.status, 201, type);
  }
});

test('any other media type or encoding is 415', async (t) => {
  const wire = await startFormWire(t);
  for (const headers of [
    { 'Content-Type': 'application/json' },
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    { 'Content-Type': `multipart/mixed; boundary=${formBoundary}` },
    { 'Content-Encoding': 'gzip' },
  ]) {
    assert.equal((await sendForm(wire, makeForm(kind, file), headers)).status, 415);
  }
  assert.equal(wire.calls.length, 0);
});

const malformed: [what: string, body: Buffer | string][] = [
  ['no form at all', 'tipo_documento=6'],
  ['another boundary', makeForm(kind, file).toString().replaceAll(formBoundary, 'other')],
  ['no closing boundary', Buffer.concat([partBytes(kind), partBytes(file)])],
  ['a file without an end', Buffer.concat([partBytes(kind), partHead(file), Buffer.from('some')])],
  [
    'a head without an end',
    Buffer.concat([partBytes(kind), Buffer.from(`--${formBoundary}\r\nContent`)]),
  ],
  [
    'a line that is no header',
    `--${formBoundary}\r\nno header\r\n\r\nx\r\n--${formBoundary}--\r\n`,
  ],
  ['a head of 20 KB', makeForm({ ...file, filename: 'x'.repeat(20_000) })],
  [
    'ten thousand header lines',
    `--${formBoundary}\r\n${'X: y\r\n'.repeat(10_000)}\r\nx\r\n--${formBoundary}--\r\n`,
  ],
  [
    'a file that is declared as text of a character set',
    makeForm(kind, {
      ...file,
      filename: null,
      type: 'image/png; charset=utf-8',
      content: '\u2028',
    }),
  ],
  ['an unknown character set', makeForm({ ...kind, type: 'text/plain; charset=x-secret' })],
];

test('a malformed form is 400, whatever has been read of it', async (t) => {
  const wire = await startFormWire(t);
  for (const [what, body] of malformed) {
    const response = await sendForm(wire, body);
    assert.equal(response.status, 400, what);
    assert.deepEqual(response.json, { message: 'The request could not be read.' }, what);
  }
});

test('ten parts are taken, eleven and ten thousand are 413', async (t) => {
  const wire = await startFormWire(t);
  const more = (count: number): Part[] => Array.from({ length: count }, () => fieldPart('', 'x'));
  assert.equal((await upload(wire, kind, file, ...more(8))).status, 201);
  assert.equal((await upload(wire, kind, file, ...more(9))).status, 413);
  assert.equal((await upload(wire, ...more(10_000))).status, 413);
  const files = Array.from({ length: 10_000 }, () => filePart(''));
  assert.equal((await upload(wire, ...files)).status, 413);
});

test('nothing of the form is logged', async (t) => {
  const wire = await startFormWire(t);
  await upload(wire, filePart('%PDF-secret', { filename: 'maria.pdf' }), fieldPart('secret'));
  await sendForm(wire, makeForm(filePart('secret')).subarray(0, -10));
  assert.equal(wire.lines.length, 2);
  assert.doesNotMatch(JSON.stringify(wire.lines), /secret|maria|passwd/);
});
