/**
 * Scans documents by clamd, over its command INSTREAM: each piece after its length in four bytes,
 * and a length of zero at the end. A document whose scan has no result is not kept.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AppError } from '../errors.ts';
import type { DocumentScan } from '../domain/document-scan.ts';

/** Longer than clamd takes for the largest document. */
const silentMs = 30_000;

/** A response is a line of some words. */
const maxResponseLength = 1_024;

/** Where nothing is scanned. */
const unscanned: DocumentScan = {
  take: () => Promise.resolve(),
  isClean: () => Promise.resolve(true),
  close: () => undefined,
};

/** @param address `host:port`, or the path of a Unix socket; undefined: nothing is scanned. */
export function openScan(address: string | undefined): DocumentScan {
  if (address === undefined) return unscanned;
  const socket = connect(readAddress(address));
  const response = readResponse(socket);
  // It is awaited at the end; until then a failure shows in the next write.
  response.catch(() => undefined);
  socket.write('zINSTREAM\0');
  return {
    async take(piece) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(piece.length);
      socket.write(length);
      if (socket.write(piece)) return;
      // A response before the end is an error, such as a limit of the size.
      await Promise.race([once(socket, 'drain').catch(away), response]);
    },
    async isClean() {
      socket.write(Buffer.alloc(4));
      const text = await response;
      if (text.endsWith(' FOUND')) return false;
      if (text === 'stream: OK') return true;
      return away(new Error('the scanner has not scanned a document'));
    },
    close: () => void socket.destroy(),
  };
}

function readAddress(address: string) {
  if (address.startsWith('/')) return { path: address };
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(address.slice(colon + 1)) };
}

/** Reads the response, up to a NUL. */
async function readResponse(socket: Socket): Promise<string> {
  socket.setTimeout(silentMs, () => socket.destroy(new Error('the scanner is silent')));
  let text = '';
  try {
    for await (const piece of socket) {
      text += String(piece);
      const [line, rest] = text.split('\0', 2);
      if (rest !== undefined) return line ?? '';
      if (text.length > maxResponseLength) break;
    }
  } catch (error) {
    return away(error);
  } finally {
    socket.destroy();
  }
  return away(new Error('the scanner has closed the connection'));
}

function away(cause: unknown): never {
  throw new AppError('BUSY', { cause, headers: { 'Retry-After': '30' } });
}
