/** Reading a request's JSON off the wire. */
import type { IncomingMessage } from 'node:http';
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
