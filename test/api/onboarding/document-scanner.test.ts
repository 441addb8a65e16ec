/** Documents that a clamd scans before they are kept. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { makePdf, pdfOfSize } from '../../support/documents.ts';
import { fieldPart, filePart, formType, makeForm } from '../../support/forms.ts';
import { afterFile } from '../../support/suite.ts';
import { register } from './applicants.ts';

/** What the fake clamd answers in place of its finding; null: it closes the connection. */
const scripted: (string | null)[] = [];

function respondTo(content: Buffer): string | null {
  if (scripted.length > 0) return scripted.pop() ?? null;
  return content.includes('EICAR') ? 'stream: Eicar-Test FOUND' : 'stream: OK';
}

const scanned: Buffer[] = [];

/** Speaks INSTREAM: each piece after its length, until a length of zero. */
async function serve(socket: Socket): Promise<void> {
  const command = 'zINSTREAM\0';
  let bytes = Buffer.alloc(0);
  for await (const piece of socket) {
    bytes = Buffer.concat([bytes, piece as Buffer]);
    const document = documentIn(bytes.subarray(command.length));
    if (document === null) continue;
    assert.equal(bytes.toString('latin1', 0, command.length), command);
    scanned.push(document);
    const response = respondTo(document);
    if (response === null) socket.destroy();
    else socket.end(`${response}\0`);
    return;
  }
}

function documentIn(bytes: Buffer): Buffer | null {
  const pieces: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    if (length === 0) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return null;
}

const clamd = createServer((socket) => void serve(socket).catch(() => socket.destroy()));
clamd.listen(0, '127.0.0.1');
await once(clamd, 'listening');
afterFile(() => void clamd.close());
const { port } = clamd.address() as AddressInfo;

const app = await startTestApp({
  environment: { JOBS: 'off', DOCUMENT_SCANNER: `127.0.0.1:${port}` },
});

async function upload(id: string, content: Buffer, at: TestApp = app) {
  const form = makeForm(fieldPart('1'), filePart(content));
  const headers = { 'content-type': formType };
  return at.call(`/onboarding/${id}/documents`, { body: form, headers });
}

const kept = (at: TestApp = app) => at.rows('select id from onboarding_documents');

test('a document is scanned whole, in its bytes, and kept when nothing is found', async () => {
  const { id } = await register(app);
  const content = pdfOfSize(300_000);
  assert.equal((await upload(id, content)).status, 201);
  assert.ok(scanned.at(-1)?.equals(content));
  assert.equal((await kept()).length, 1);
  await app.rows('delete from onboarding_documents');
});

test('what the scanner finds is refused, and nothing of it is kept', async () => {
  const { id } = await register(app);
  const { status, body } = await upload(id, makePdf(`EICAR${'x'.repeat(200_000)}`));
  assert.equal(status, 422);
  assert.deepEqual(body.errors, {
    arquivo: ['The file is refused by the virus scanner. Save or photograph the document again.'],
  });
  assert.deepEqual(await kept(), []);
});

for (const [what, response] of [
  ['answers an error', 'INSTREAM size limit exceeded. ERROR'],
  ['says something else', 'PONG'],
  ['closes the connection', null],
] as const) {
  test(`503 and nothing kept when the scanner ${what}`, async () => {
    scripted.push(response);
    const { id } = await register(app);
    const { status, headers } = await upload(id, pdfOfSize(200_000));
    assert.equal(status, 503);
    assert.ok(Number(headers.get('retry-after')) > 0);
    assert.deepEqual(await kept(), []);
  });
}

test('503 and nothing kept when no scanner is there', async () => {
  const gone = createServer();
  gone.listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const { port: closed } = gone.address() as AddressInfo;
  gone.close();
  await once(gone, 'close');
  const alone = await startTestApp({
    environment: { JOBS: 'off', DOCUMENT_SCANNER: `127.0.0.1:${closed}` },
  });
  const { id } = await register(alone);
  for (const content of [pdfOfSize(1_000), pdfOfSize(600_000)]) {
    assert.equal((await upload(id, content, alone)).status, 503);
  }
  assert.deepEqual(await kept(alone), []);
});
