/** Uploads on connections that misbehave: too much, too slow, cut, waiting for 100-continue. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ClientGone } from '../../../src/http/exchange.ts';
import type { Form } from '../../../src/context/operation.ts';
import { readParts } from '../../../src/http/multipart.ts';
import {
  formBoundary,
  fieldPart,
  filePart,
  makeForm,
  partBytes,
  partHead,
} from '../../support/forms.ts';
import { passUntil } from '../../support/passing-time.ts';
import { maxFormFileBytes, sendForm, startFormWire, uploadHead } from './form-operation.ts';
import { call, gate, rawConnection, startWire, until } from './wire.ts';

const kind = fieldPart('6');
const file = filePart('some bytes');

const chunked = 'Transfer-Encoding: chunked';
const gib = 1_073_741_824;

function chunk(bytes: Buffer | string): string {
  return `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes.toString('latin1')}\r\n`;
}

const tooSlow = 'The request took too long to arrive. Try again.';

test('a gigabyte that is announced is 413 before any of it comes', async (t) => {
  const wire = await startFormWire(t);
  const client = await rawConnection(wire);
  client.send(uploadHead(`Content-Length: ${gib}`));
  const response = await client.receive('it may have at most 292.9 kB.');
  assert.match(response, /^HTTP\/1\.1 413 /);
  assert.match(response, /\r\nConnection: close\r\n/i);
  assert.equal(wire.calls.length, 0);
});

test('a gigabyte without a length is 413 as soon as it is too much', async (t) => {
  const wire = await startFormWire(t);
  for (const head of [partHead(file), Buffer.from('a preamble without an end')]) {
    const client = await rawConnection(wire);
    client.send(uploadHead(chunked) + chunk(head));
    const piece = chunk(Buffer.alloc(65_536));
    let sentBytes = 0;
    let response = '';
    client.socket.on('data', (text: string) => (response += text));
    while (response === '' && sentBytes < gib) {
      const isFlushed = client.socket.write(piece, 'latin1');
      sentBytes += 65_536;
      if (isFlushed) await turn();
      else await new Promise((resolve) => client.socket.once('drain', resolve));
    }
    assert.match(response, /^HTTP\/1\.1 413 /);
    assert.ok(sentBytes < 100 * maxFormFileBytes, `${sentBytes} bytes were sent`);
    // The client reads the response and stops; the connection is not good for anything else.
    client.send('0\r\n\r\n');
    await client.closed();
  }
});

test('a reader that is slow makes the client slow', async () => {
  const fileBytes = 8 * 1_048_576;
  const { opened, open } = gate();
  let givenBytes = 0;
  function* form(): Generator<Buffer> {
    yield partHead(file);
    for (; givenBytes < fileBytes; givenBytes += 65_536) yield Buffer.alloc(65_536);
    yield Buffer.from(`\r\n--${formBoundary}--\r\n`);
  }
  const request = Readable.from(form()) as IncomingMessage;
  let takenBytes = 0;
  const read = readParts(
    request,
    { boundary: formBoundary, fileField: 'arquivo', maxFileBytes: fileBytes },
    {
      text: () => undefined,
      async file(_name, content) {
        await opened;
        for await (const bytes of content) takenBytes += (bytes as Buffer).length;
      },
    },
  );
  for (let turns = 0; turns < 1_000; turns += 1) await turn();
  assert.ok(givenBytes < 1_048_576, `${givenBytes} bytes were read ahead`);
  open();
  await read;
  assert.equal(takenBytes, fileBytes);
  assert.deepEqual(request.eventNames(), []);
});

test('a form that is cut is 400, and its reader learns that there is no more', async (t) => {
  const wire = await startFormWire(t);
  const client = await rawConnection(wire);
  client.send(`${uploadHead('Content-Length: 5000')}${partHead(file).toString()}some`);
  client.socket.end();
  assert.match(await client.closed(), /^HTTP\/1\.1 400 /);
  await until(() => wire.taken.error !== null);
  assert.equal(wire.taken.content, null);
  assert.ok(wire.taken.error instanceof ClientGone);
});

test('a client that leaves is noted as gone when the reader has come to rest', async (t) => {
  const { opened, open } = gate();
  const wire = await startFormWire(t, async (content) => {
    try {
      for await (const _ of content) open();
      assert.fail('the content ended as if it were whole');
    } finally {
      await turn();
      wire.taken.content = Buffer.from('at rest');
    }
  });
  const client = await rawConnection(wire);
  client.send(`${uploadHead('Content-Length: 5000')}${partHead(file).toString()}some`);
  await opened;
  client.socket.resetAndDestroy();
  await until(() => wire.taken.error !== null);
  assert.ok(wire.taken.error instanceof ClientGone);
  assert.equal(wire.taken.content?.toString(), 'at rest');
  await until(() => wire.lines.length > 0);
  assert.equal(wire.lines[0]?.['status'], 499);
});

test('a form whose chunks are malformed is 400 while nothing has been done', async (t) => {
  const wire = await startFormWire(t);
  const client = await rawConnection(wire);
  client.send(uploadHead(chunked) + chunk(partBytes(kind)) + chunk(partHead(file)));
  client.send('no size of a chunk\r\n');
  assert.match(await client.receive('The request could not be read.'), /^HTTP\/1\.1 400 /);
  await wire.clock.advance(2_000);
  await client.closed();
  await until(() => wire.taken.error !== null);
  assert.ok(wire.taken.error instanceof ClientGone);
});

test('what follows a whole form is never the response to it', async (t) => {
  const { opened, open } = gate();
  let isReceived = false;
  const wire = await startWire(t, {
    runs: {
      async upload({ input }) {
        await (input.body as Form<unknown>).receive(async () => undefined);
        isReceived = true;
        await opened;
      },
    },
  });
  const client = await rawConnection(wire);
  const form = makeForm(kind, file);
  client.send(uploadHead(`Content-Length: ${form.length}`) + form.toString('latin1'));
  await until(() => isReceived);
  client.send('this is no HTTP\r\n\r\n');
  assert.equal(await client.closed(), '');
  open();
});

test('a form that drips is 408 after a minute', async (t) => {
  const wire = await startFormWire(t);
  const client = await rawConnection(wire);
  client.send(uploadHead('Content-Length: 5000') + partHead(file).toString());
  await until(() => wire.calls.length === 1);
  await wire.clock.advance(59_000);
  client.send('drop');
  assert.equal(wire.taken.error, null);
  await wire.clock.advance(1_000);
  assert.match(await client.receive(tooSlow), /^HTTP\/1\.1 408 /);
  await wire.clock.advance(2_000);
  await client.closed();
  await until(() => wire.lines.length > 0);
  assert.equal(wire.lines[0]?.['status'], 408);
});

test('a form that comes at 32 kbit/s goes on, for as long as it does', async (t) => {
  const wire = await startFormWire(t);
  const client = await rawConnection(wire);
  client.send(uploadHead('Content-Length: 290000') + partHead(file).toString());
  await until(() => wire.calls.length === 1);
  await wire.clock.advance(45_000);
  client.send('x'.repeat(120_000));
  await until(() => wire.taken.bytes >= 100_000);
  await wire.clock.advance(44_000);
  assert.equal(wire.taken.error, null);
  await wire.clock.advance(1_000);
  assert.match(await client.receive(tooSlow), /^HTTP\/1\.1 408 /);
});

test('JSON has thirty seconds', async (t) => {
  const wire = await startFormWire(t);
  const client = await rawConnection(wire);
  const head = 'POST /api/v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  client.send(`${head}Content-Length: 20\r\n\r\n{"text":`);
  await call(wire, { path: '/health/live' });
  await wire.clock.advance(29_000);
  client.send('"a');
  // Its time runs from when the server has read the head, which nothing here tells.
  const response = passUntil(wire.clock, client.receive(tooSlow));
  assert.match(await response, /^HTTP\/1\.1 408 /);
});

test('a body that is not read has thirty seconds too', async (t) => {
  const wire = await startFormWire(t);
  const client = await rawConnection(wire);
  client.send('POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc');
  await client.receive('Not found.');
  await wire.clock.advance(30_000);
  await client.receive('HTTP/1.1 408 ');
  await wire.clock.advance(2_000);
  await client.closed();
});

test('a client that expects 100-continue gets it once the form is read', async (t) => {
  const wire = await startFormWire(t);
  const form = makeForm(kind, file);
  const client = await rawConnection(wire);
  client.send(uploadHead(`Content-Length: ${form.length}`, 'Expect: 100-continue'));
  await client.receive('HTTP/1.1 100 Continue');
  client.send(form.toString('latin1'));
  await client.receive('HTTP/1.1 201 Created');
});

test('a client that asks before it sends is refused without the form', async (t) => {
  const wire = await startFormWire(t);
  const client = await rawConnection(wire);
  client.send(uploadHead(`Content-Length: ${gib}`, 'Expect: 100-continue'));
  const response = await client.closed();
  assert.match(response, /^HTTP\/1\.1 413 /);
  assert.doesNotMatch(response, /100 Continue/);
});

test('a connection goes on after a small form that was refused in the middle', async (t) => {
  const wire = await startFormWire(t);
  const client = await rawConnection(wire);
  const form = `--wrong\r\n${'x'.repeat(100_000)}`;
  client.send(uploadHead(`Content-Length: ${form.length}`) + form);
  await client.receive('HTTP/1.1 400 Bad Request');
  client.send('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
  await client.receive('HTTP/1.1 200 OK');
});

test('an upload under way is finished when the service stops', async (t) => {
  const wire = await startFormWire(t);
  const client = await rawConnection(wire);
  const form = makeForm(filePart(Buffer.alloc(maxFormFileBytes)), kind).toString('latin1');
  client.send(uploadHead(`Content-Length: ${form.length}`) + form.slice(0, 1_000));
  await until(() => wire.calls.length === 1);
  const drained = wire.drain();
  client.send(form.slice(1_000));
  assert.match(await client.closed(), /^HTTP\/1\.1 201 /);
  await drained;
  const late = await sendForm(wire, makeForm(kind, file)).catch((error: unknown) => error);
  assert.ok(late instanceof Error);
});
