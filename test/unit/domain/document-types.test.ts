import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectContentType } from '../../../src/onboarding/document-types.ts';

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

const contents: [content: string | number[], type: ReturnType<typeof detectContentType>][] = [
  ['%PDF-1.7\n%âãÏÓ', 'application/pdf'],
  ['%PDF-2.0', 'application/pdf'],
  ['\ufeff%PDF-1.4', 'application/pdf'],
  [' \r\n\t%PDF-1.4', 'application/pdf'],
  [[0xff, 0xd8, 0xff, 0xdb], 'image/jpeg'],
  [[0xff, 0xd8, 0xff], 'image/jpeg'],
  [[...PNG, 0, 0], 'image/png'],
  ['', null],
  ['%PDF', null],
  ['%PDF-x', null],
  ['%pdf-1.7', null],
  ['<html>%PDF-1.7', null],
  [`${' '.repeat(40)}%PDF-1.7`, null],
  [[0xff, 0xd8], null],
  [[0xff, 0xd8, 0xfe], null],
  [PNG.slice(0, 7), null],
  [[0x89, 0x50, 0x4e, 0x47, 0x0a], null],
  ['GIF89a', null],
  ['PK\u0003\u0004', null],
  ['<svg xmlns="http://www.w3.org/2000/svg"/>', null],
  ['RIFF....WEBPVP8 ', null],
  ['....ftypheic', null],
];

test('a document is recognised by its first bytes', () => {
  for (const [content, type] of contents) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
    assert.equal(detectContentType(bytes), type, JSON.stringify(content));
  }
});
