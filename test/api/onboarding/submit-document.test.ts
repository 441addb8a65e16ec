/** Uploads as they are stored and refused; how the step moves is in `steps.test.ts`. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestApp, type TestResponse } from '../../support/app.ts';
import { createTestDatabase } from '../../support/db.ts';
import { jpeg, makePdf, pdfOfSize, png } from '../../support/documents.ts';
import { eventually } from '../../support/eventually.ts';
import {
  fieldPart,
  filePart,
  formType,
  makeForm,
  partHead,
  type Part,
} from '../../support/forms.ts';
import { afterFile } from '../../support/suite.ts';
import { rawConnection } from '../http/wire.ts';
import { givenUser } from '../../support/factories.ts';
import { register } from './applicants.ts';

const maxFileBytes = 400_000;

const database = await createTestDatabase({ isOwn: true });
const app = await startTestApp({
  environment: { UPLOAD_MAX_BYTES: String(maxFileBytes) },
  database,
});
afterFile(() => database.drop());
const port = Number(new URL(app.url).port);

const notADocument = 'The file must be a PDF, JPEG or PNG.';
const missingId = '8f0cb1c5-8c5e-4f5e-9f0b-0d6f1f0a2b11';

function send(id: string, ...parts: readonly Part[]): Promise<TestResponse> {
  const headers = { 'content-type': formType };
  return app.call(`/onboarding/${id}/documents`, { body: makeForm(...parts), headers });
}

function upload(id: string, type: number, content: Buffer | string): Promise<TestResponse> {
  return send(id, fieldPart(String(type)), filePart(content));
}

function readDocuments(id: string) {
  return app.rows(
    `select d.status, tipo_documento, content_type, size_bytes, chunk_count, content_hash,
            count(c.place)::int as chunks
       from onboarding_documents d left join onboarding_document_chunks c on c.document_id = d.id
      where application_id = $1 group by d.id order by d.created_at, d.id`,
    [id],
  );
}

/** Puts an application where no step leads to. */
async function moveTo(id: string, ...statuses: readonly string[]): Promise<void> {
  for (const status of statuses) {
    await app.rows('update onboarding_applications set status = $2 where id = $1', [id, status]);
  }
}

test('a document is stored with the properties of its content', async () => {
  const { id } = await register(app);
  const content = pdfOfSize(300_000);
  const response = await upload(id, 1, content);
  assert.equal(response.status, 201, JSON.stringify(response.body));
  assert.equal(response.body.id, id);
  assert.deepEqual(await readDocuments(id), [
    {
      status: 'stored',
      tipo_documento: 1,
      content_type: 'application/pdf',
      size_bytes: 300_000,
      chunk_count: 3,
      content_hash: createHash('sha256').update(content).digest(),
      chunks: 3,
    },
  ]);
});

test('a document is what its content says, not what the client says', async () => {
  const { id } = await register(app);
  const beginnings: [content: Buffer, type: string][] = [
    [jpeg, 'image/jpeg'],
    [png, 'image/png'],
    [Buffer.from('\n%PDF-1.4\nstartxref\n9\n%%EOF'), 'application/pdf'],
  ];
  for (const [content, type] of beginnings) {
    const lie = filePart(content, { type: 'text/html', filename: 'a.exe' });
    assert.equal((await send(id, lie, fieldPart('7'))).status, 201, type);
  }
  const stored = await readDocuments(id);
  assert.deepEqual(
    stored.map(({ content_type: type }) => type),
    beginnings.map(([, type]) => type),
  );
});

test('only the first bytes of a file are looked at', async () => {
  const { id } = await register(app);
  const script = '<</S/JavaScript/OpenAction 1 0 R/EmbeddedFile 2 0 R>>';
  for (const content of [
    Buffer.concat([jpeg.subarray(0, 20), Buffer.from(script)]),
    makePdf(script),
    pdfOfSize(300_000).subarray(0, 299_000),
  ]) {
    assert.equal((await upload(id, 1, content)).status, 201);
  }
});

test('nothing of a document can be read in the database', async () => {
  const { id } = await register(app);
  const marker = `MARKER-${randomBytes(12).toString('hex')}`;
  await upload(id, 1, makePdf(Buffer.concat([randomBytes(200_000), Buffer.from(marker)])));
  const witness = `witness-${randomBytes(12).toString('hex')}@example.com`;
  await givenUser(app, { email: witness });

  const rows = await app.rows<{ text: string }>(
    `select concat(encode(sealed_content, 'escape'), ' ') as text from onboarding_document_chunks
     union all select onboarding_documents::text from onboarding_documents
     union all select users::text from users`,
  );
  const text = rows.map((row) => row.text).join('\n');
  assert.ok(text.includes(witness) && !text.includes(marker));

  if (app.database.databaseUrl !== undefined) return;
  await app.rows('checkpoint');
  const folder = join(app.database.dataDir, 'postgres');
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name))),
  );
  assert.ok(contents.some((content) => content.includes(witness)));
  assert.ok(!contents.some((content) => content.includes(marker)));
});

test('a repeat changes nothing, the same file as another type is another document', async () => {
  const { id } = await register(app);
  const content = pdfOfSize(150_000);
  const first = await upload(id, 5, content);
  const repeats = await Promise.all([upload(id, 5, content), upload(id, 5, content)]);
  for (const repeat of repeats) {
    assert.equal(repeat.status, 201);
    assert.deepEqual(repeat.body, first.body);
  }
  assert.equal((await readDocuments(id)).length, 1);
  assert.equal((await upload(id, 8, content)).status, 201);
  assert.equal((await readDocuments(id)).length, 2);
});

test('two that are sent at once and are the same become one', async () => {
  const { id } = await register(app);
  const content = pdfOfSize(150_000);
  const responses = await Promise.all([1, 2, 3].map(() => upload(id, 6, content)));
  assert.deepEqual(
    responses.map(({ status }) => status),
    [201, 201, 201],
  );
  assert.equal((await readDocuments(id)).length, 1);
});

test('an application takes twenty documents, and repeats of them', async () => {
  const { id } = await register(app);
  const contents = Array.from({ length: 20 }, () => pdfOfSize(130));
  for (const content of contents) assert.equal((await upload(id, 7, content)).status, 201);
  const more = await upload(id, 7, pdfOfSize(130));
  assert.equal(more.status, 422);
  assert.deepEqual(more.body.errors, { arquivo: ['The application has 20 documents already.'] });
  assert.equal((await upload(id, 7, contents[0] ?? '')).status, 201);
  assert.equal((await readDocuments(id)).length, 20);
});

test('five documents may come at once, without what a dead process has left', async () => {
  const { id } = await register(app);
  const receiving = (minutesAgo: number) =>
    app.rows(
      `insert into onboarding_documents (id, application_id, status, created_at)
       values (gen_random_uuid(), $1, 'receiving', $2)`,
      [id, new Date(app.clock.now().getTime() - minutesAgo * 60_000)],
    );
  for (const minutesAgo of [0, 1, 4, 5, 6, 11]) await receiving(minutesAgo);
  assert.equal((await upload(id, 1, pdfOfSize(150))).status, 201);
  await receiving(0);
  const response = await upload(id, 2, pdfOfSize(150));
  assert.equal(response.status, 429);
  assert.equal(response.headers.get('retry-after'), '10', 'the oldest has no more time than that');
  assert.equal((await readDocuments(id)).length, 8);
});

test('the longer the uploads have run, the longer is Retry-After of the next one', async () => {
  const { id } = await register(app);
  for (let turn = 0; turn < 5; turn += 1) {
    await app.rows(
      `insert into onboarding_documents (id, application_id, status, created_at)
       values (gen_random_uuid(), $1, 'receiving', $2)`,
      [id, app.clock.now()],
    );
  }
  for (const [afterMs, expected] of [
    [0, '5'],
    [60_000, '60'],
    [180_000, '70'],
    [65_000, '5'],
  ] as const) {
    await app.clock.advance(afterMs);
    const response = await upload(id, 2, pdfOfSize(150));
    assert.deepEqual([response.status, response.headers.get('retry-after')], [429, expected]);
  }
  await app.clock.advance(5_000);
  assert.equal((await upload(id, 2, pdfOfSize(150))).status, 201);
});

const refused: [what: string, parts: readonly Part[], errors: Record<string, string[]>][] = [
  ['a text', [fieldPart('1'), filePart('hello')], { arquivo: [notADocument] }],
  ['an archive', [fieldPart('1'), filePart('PK\u0003\u0004')], { arquivo: [notADocument] }],
  ['an empty file', [fieldPart('1'), filePart('')], { arquivo: ['The file must not be empty.'] }],
  [
    'type 0 and no document',
    [filePart('<svg/>'), fieldPart('0')],
    { arquivo: [notADocument], tipo_documento: ['The value must be at least 1.'] },
  ],
  [
    'type 22',
    [filePart(pdfOfSize(200_000)), fieldPart('22')],
    { tipo_documento: ['The value must be at most 21.'] },
  ],
  ['no type', [filePart(pdfOfSize(200_000))], { tipo_documento: ['The field is required.'] }],
  [
    'two files',
    [filePart(pdfOfSize(200_000)), filePart(pdfOfSize(100)), fieldPart('1')],
    { arquivo: ['The parameter must not be repeated.'] },
  ],
];

test('errors are reported by field, and nothing is stored', async () => {
  const { id } = await register(app);
  for (const [what, parts, errors] of refused) {
    const response = await send(id, ...parts);
    assert.equal(response.status, 422, what);
    assert.deepEqual(response.body.errors, errors, what);
    assert.deepEqual(await readDocuments(id), [], what);
  }
});

test('a refusal is worded in Portuguese for those who prefer it', async () => {
  const { id } = await register(app);
  const headers = { 'content-type': formType, 'accept-language': 'pt-BR' };
  const body = makeForm(fieldPart('1'), filePart('hello'));
  const response = await app.call(`/onboarding/${id}/documents`, { body, headers });
  assert.deepEqual(response.body.errors, { arquivo: ['O arquivo deve ser PDF, JPEG ou PNG.'] });
});

test('a file that turns out too large is 413, and what was stored of it is gone', async () => {
  const { id } = await register(app);
  assert.equal((await upload(id, 1, pdfOfSize(maxFileBytes))).status, 201);
  const response = await upload(id, 2, pdfOfSize(maxFileBytes + 1));
  assert.equal(response.status, 413);
  assert.equal((await readDocuments(id)).length, 1);
});

test('an unknown application is 404 and a decided one 422, before the document comes', async () => {
  const { id } = await register(app);
  await moveTo(id, 'UNDER_ANALYSIS', 'APPROVED');
  for (const [path, status] of [
    [missingId, 404],
    ['no-uuid', 404],
    [id, 422],
  ] as const) {
    const client = await rawConnection({ port });
    client.send(
      `POST /api/v1/onboarding/${path}/documents HTTP/1.1\r\nHost: x\r\n` +
        `Content-Type: ${formType}\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n`,
    );
    const response = await client.closed();
    assert.match(response, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.doesNotMatch(response, /100 Continue/);
  }
});

test('an application that is decided while a document comes does not take it', async () => {
  const { id } = await register(app);
  const form = makeForm(fieldPart('1'), filePart(pdfOfSize(300_000))).toString('latin1');
  const client = await rawConnection({ port });
  client.send(uploadHead(id, form.length) + form.slice(0, 200_000));
  await eventually(async () => (await readDocuments(id))[0]?.['chunks'] === 1, 'the first chunk');
  await moveTo(id, 'UNDER_ANALYSIS', 'REJECTED');
  client.send(form.slice(200_000));
  const response = await client.receive('"application"');
  assert.match(response, /^HTTP\/1\.1 422 /);
  assert.deepEqual(await readDocuments(id), []);
});

test('a client that leaves in the middle leaves nothing behind', async () => {
  const { id } = await register(app);
  for (const leave of ['end', 'resetAndDestroy'] as const) {
    const client = await rawConnection({ port });
    const head = partHead(filePart('')).toString();
    client.send(uploadHead(id, 390_000) + head + pdfOfSize(150_000).toString('latin1'));
    await eventually(async () => (await readDocuments(id))[0]?.['chunks'] === 1, 'the first chunk');
    client.socket[leave]();
    await eventually(async () => (await readDocuments(id)).length === 0, 'the removal');
  }
});

test('neither the document nor its application is logged', async () => {
  const { id } = await register(app);
  await send(id, filePart(makePdf(id), { filename: 'maria-silva.pdf' }), fieldPart('1'));
  await upload(id, 1, 'hello');
  const log = app.logLines.join('\n');
  assert.ok(log.includes('"submitDocument"'));
  assert.ok(!log.includes(id) && !log.includes('maria-silva') && !log.includes('passwd'));
  const unusual = app.logLines.filter((line) => /"level":"(?:warn|error)"/.test(line));
  assert.deepEqual(unusual, []);
});

function uploadHead(id: string, contentLength: number): string {
  return (
    `POST /api/v1/onboarding/${id}/documents HTTP/1.1\r\nHost: x\r\n` +
    `Content-Type: ${formType}\r\nContent-Length: ${contentLength}\r\n\r\n`
  );
}

test('a place is taken before a byte of the form comes', async (t) => {
  const { id } = await register(app);
  const { mock } = t.mock.method(app.context.uploads, 'hold');
  const clients = await Promise.all(Array.from({ length: 20 }, () => rawConnection({ port })));
  for (const client of clients) client.send(uploadHead(id, 1_000));
  await eventually(() => mock.callCount() === 20, 'twenty uploads with a place');
  const late = await rawConnection({ port });
  late.send(uploadHead(id, 1_000));
  assert.match(await late.receive('HTTP/1.1 '), /^HTTP\/1\.1 429 /);
  late.socket.destroy();
  for (const { socket } of clients) socket.destroy();
});

test('a limit of documents for the whole service, which raises an alarm at half', async () => {
  const small = await startTestApp({ environment: { JOBS: 'off', UPLOADS_MIB_PER_HOUR: '3' } });
  const sendAnew = async () => {
    const { id } = await register(small);
    const form = makeForm(fieldPart('1'), filePart(pdfOfSize(1_000)));
    const headers = { 'content-type': formType };
    return small.call(`/onboarding/${id}/documents`, { body: form, headers });
  };
  for (let nth = 0; nth < 3; nth += 1) assert.equal((await sendAnew()).status, 201);
  const tooMuch = await sendAnew();
  assert.equal(tooMuch.status, 429);
  assert.equal(tooMuch.headers.get('retry-after'), '3600');
  const text = await small.context.metrics.registry.metrics();
  const reached = (share: string) =>
    text.includes(`ponte_service_limits_reached_total{limit="uploads",share="${share}"} 1`);
  assert.ok(reached('half') && reached('whole'));
});

test('an address may have half a gibibyte stored in an hour, and one in a day', async () => {
  const limited = await startTestApp({
    environment: { JOBS: 'off', THROTTLE_ADDRESS_PER_MINUTE: '30' },
  });
  const { id } = await register(limited);
  const formHeaders = { 'content-type': formType };
  const sendNew = () => {
    const form = makeForm(fieldPart('1'), filePart(pdfOfSize(1_000)));
    return limited.call(`/onboarding/${id}/documents`, { body: form, headers: formHeaders });
  };
  assert.equal((await sendNew()).status, 201);
  const set = (scope: string, attempts: number, before: number) =>
    limited.rows(
      `update throttle_counters set attempts = $1 where key like $2 || ':%' and attempts = $3`,
      [attempts, scope, before],
    );
  await set('upload-mib-hour', 511, 1);
  assert.equal((await sendNew()).status, 201);
  const tooMany = await sendNew();
  assert.equal(tooMany.status, 429);
  assert.equal(tooMany.headers.get('retry-after'), '3600');
  await limited.clock.advance(60 * 60_000);
  await set('upload-mib', 1_023, 2);
  assert.equal((await sendNew()).status, 201);
  const tooMuch = await sendNew();
  assert.equal(tooMuch.status, 429);
  assert.ok(Number(tooMuch.headers.get('retry-after')) > 60 * 60);
  await limited.clock.advance(24 * 60 * 60_000);
  assert.equal((await sendNew()).status, 201);
});
