import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  JpegStructure,
  PngStructure,
  type FileStructure,
} from '../../../src/onboarding/document-types.ts';
import { jpeg, jpegSegment, png, pngChunk, pngSignature } from '../../support/documents.ts';

const film = Buffer.from('a film, which a phone appends to a photograph');
const script = Buffer.from('<script>alert(1)</script>');

/** Whether a file is accepted that comes in pieces of so many bytes. */
function isAccepted(structure: FileStructure, file: Buffer, pieceBytes: number): boolean {
  for (let at = 0; at < file.length; at += pieceBytes) {
    if (!structure.take(file.subarray(at, at + pieceBytes))) return false;
  }
  return structure.isWhole();
}

const soi = [0xff, 0xd8];
const frame = jpegSegment(0xc2, [8, 0, 1, 0, 1, 1, 1, 0x11, 0]);
const scan = jpegSegment(0xda, [1, 1, 0, 0, 63, 0]);
const eoi = [0xff, 0xd9];
const chunk = { header: [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0] };
const data = pngChunk('IDAT', [1, 2, 3]);
const header = pngChunk('IHDR', chunk.header);
const end = pngChunk('IEND', []);

const cases: readonly [kind: 'jpeg' | 'png', what: string, file: Buffer, isAccepted: boolean][] = [
  ['jpeg', 'a photograph', jpeg, true],
  ['jpeg', 'with a film after it', Buffer.concat([jpeg, film]), true],
  ['jpeg', 'of several scans', bytes(soi, frame, scan, [1, 2], scan, [3], eoi), true],
  ['jpeg', 'with fill bytes', bytes(soi, [0xff, 0xff], frame, scan, [7, 0xff, 0xff, 0xd9]), true],
  ['jpeg', 'only a beginning', jpeg.subarray(0, 3), false],
  ['jpeg', 'a script behind the beginning', Buffer.concat([jpeg.subarray(0, 3), script]), false],
  ['jpeg', 'a script behind a segment', bytes(soi, frame, [...script]), false],
  ['jpeg', 'without an end', jpeg.subarray(0, -2), false],
  ['jpeg', 'without a scan', bytes(soi, frame, eoi), false],
  ['jpeg', 'without a frame', bytes(soi, scan, [1], eoi), false],
  ['jpeg', 'without anything', bytes(soi, eoi), false],
  ['jpeg', 'with a segment of no length', bytes(soi, [0xff, 0xe0, 0, 1], frame, scan, eoi), false],
  ['jpeg', 'with a second beginning', bytes(soi, soi, frame, scan, eoi), false],
  ['jpeg', 'with a table for a frame', bytes(soi, jpegSegment(0xc4, [0]), scan, eoi), false],
  ['png', 'a picture', png, true],
  ['png', 'with bytes after it', Buffer.concat([png, film]), true],
  ['png', 'only a signature', bytes(pngSignature), false],
  ['png', 'a script behind the signature', bytes(pngSignature, [...script]), false],
  ['png', 'without a header', bytes(pngSignature, data, end), false],
  ['png', 'with two headers', bytes(pngSignature, header, header, data, end), false],
  ['png', 'with a late header', bytes(pngSignature, data, header, end), false],
  ['png', 'without data', bytes(pngSignature, header, end), false],
  ['png', 'without an end', bytes(pngSignature, header, data), false],
  ['png', 'with half an end', bytes(pngSignature, header, data, end.slice(0, -1)), false],
  ['png', 'with a filled end', bytes(pngSignature, header, data, pngChunk('IEND', [1])), false],
  [
    'png',
    'of no width',
    bytes(pngSignature, pngChunk('IHDR', Array(13).fill(0)), data, end),
    false,
  ],
  [
    'png',
    'of a chunk without a name',
    bytes(pngSignature, header, pngChunk('<a/>', []), end),
    false,
  ],
];

function bytes(...parts: readonly (readonly number[])[]): Buffer {
  return Buffer.from(parts.flat());
}

for (const [kind, what, file, expected] of cases) {
  test(`a ${kind}: ${what} is ${expected ? 'accepted' : 'refused'}, however it comes`, () => {
    for (const pieceBytes of [1, 2, 3, 7, file.length + 1]) {
      const structure = kind === 'jpeg' ? new JpegStructure() : new PngStructure();
      assert.equal(isAccepted(structure, file, pieceBytes), expected, `${pieceBytes} bytes`);
    }
  });
}
