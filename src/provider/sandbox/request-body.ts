/** Reading a request's body off the wire. */
import type { IncomingMessage } from 'node:http';
import busboy, { type Busboy } from 'busboy';
import { digestOf } from '../stub/onboarding.ts';
import { BadRequest } from './messages.ts';

const maxBodyBytes = 256 * 1024;

/**
 * Reads a body to its end.
 *
 * @returns the JSON; undefined without a body.
 * @throws BadRequest when it is too long, of another media type, or no JSON.
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // What is too long is read on all the same, so that the refusal finds a listener.
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  if (size > maxBodyBytes) throw new BadRequest(`a body of over ${maxBodyBytes} bytes`, 413);
  if (size === 0) return undefined;
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new BadRequest('the content type is not application/json', 415);
  }
  return parse(Buffer.concat(chunks, size));
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new BadRequest('the body is no JSON');
  }
}

/**
 * Reads a form (RFC 7578) to its end, its files as streams.
 *
 * @returns its fields by name: a text, or of a file its name, its media type, its length and its
 *   hash.
 * @throws BadRequest when it is of another media type, or no whole form.
 */
export async function readForm(request: IncomingMessage): Promise<Record<string, unknown>> {
  const form = formOf(request);
  const fields: Promise<[string, unknown]>[] = [];
  form.on('field', (name, value) => fields.push(Promise.resolve([name, value])));
  form.on('file', (name, content, { filename: fileName, mimeType: contentType }) => {
    const field = digestOf(content).then((digest): [string, unknown] => [
      name,
      { fileName, contentType, ...digest },
    ]);
    // What breaks the file off breaks the form off too, and is told there.
    field.catch(() => null);
    fields.push(field);
  });
  await new Promise<void>((resolve, reject) => {
    request.once('error', reject);
    form.once('close', resolve);
    form.once('error', () => {
      // The rest is read all the same, so that the refusal finds a listener.
      request.unpipe(form).resume();
      reject(new BadRequest('the body is no whole form'));
    });
    request.pipe(form);
  });
  return Object.fromEntries(await Promise.all(fields));
}

function formOf(request: IncomingMessage): Busboy {
  try {
    return busboy({ headers: request.headers });
  } catch {
    request.resume();
    throw new BadRequest('the content type is not multipart/form-data with its boundary', 415);
  }
}
