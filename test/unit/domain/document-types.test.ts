import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  detectContentType,
  type DocumentContentType,
} from '../../../src/onboarding/document-types.ts';
import { jpeg, pdfOfSize, png } from '../../support/documents.ts';

const contents: [content: string | Buffer, type: DocumentContentType | null][] = [
  ['%PDF-1.7\n%âãÏÓ', 'application/pdf'],
  ['%PDF-2.0', 'application/pdf'],
  ['\ufeff%PDF-1.4', 'application/pdf'],
  [' \r\n\t%PDF-1.4', 'application/pdf'],
  [pdfOfSize(200_000), 'application/pdf'],
  [jpeg, 'image/jpeg'],
  [Buffer.from([0xff, 0xd8, 0xff, 0xdb]), 'image/jpeg'],
  [png, 'image/png'],
  ['', null],
  ['%pdf-1.7', null],
  ['<html>%PDF-1.7', null],
  [Buffer.from([0xff, 0xd8, 0xfe]), null],
  [png.subarray(0, 7), null],
  ['GIF89a', null],
  ['PK\u0003\u0004', null],
  ['<svg xmlns="http://www.w3.org/2000/svg"/>', null],
  ['RIFF....WEBPVP8 ', null],
  ['....ftypheic', null],
];

test('a document is recognised by its first bytes', async () => {
  for (const [content, type] of contents) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    assert.equal(await detectContentType(bytes), type, bytes.toString('latin1', 0, 40));
  }
});
