/** The form of a document, as the console sends it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { uploadForm } from '../../../console/upload.ts';

const folder = mkdtempSync(join(tmpdir(), 'ponte-upload-'));
after(() => rmSync(folder, { recursive: true }));

function givenFile(name: string, content: Buffer | string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test('the form has the fields and the file, with any name', async () => {
  const name = 'a "scan",\nçã.pdf';
  const body = await uploadForm({ tipo_documento: 3, arquivo: givenFile(name, 'the content') });
  // The form is this test's own.
  // oxlint-disable-next-line typescript/no-deprecated
  const form = await new Response(body).formData();
  const file = form.get('arquivo');
  assert.ok(file instanceof File);
  assert.deepEqual(
    [form.get('tipo_documento'), await file.text(), file.name],
    ['3', 'the content', name],
  );
});

test('a path is read as a terminal writes it when a file is dragged into it', async () => {
  const path = givenFile('my scan.pdf', 'the content');
  for (const arquivo of [
    `'${path}'`,
    `"${path}"`,
    path.replaceAll(' ', String.raw`\ `),
    ` ${path} `,
  ]) {
    const body = await uploadForm({ tipo_documento: 1, arquivo });
    assert.match(await body.text(), /the content/, arquivo);
  }
});

test('a response before the end of an upload leaves no error behind', async (t) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  t.after(() => process.off('unhandledRejection', note));
  const path = givenFile('large.pdf', Buffer.alloc(10_000_000));
  const server = createServer((request, response) => {
    request.once('data', () => response.writeHead(422, { connection: 'close' }).end());
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (let upload = 0; upload < 10; upload += 1) {
    const body = await uploadForm({ tipo_documento: 1, arquivo: path });
    const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body });
    assert.equal(response.status, 422);
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  }
  assert.deepEqual(unhandled, []);
});
