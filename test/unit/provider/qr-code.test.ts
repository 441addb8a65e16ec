import assert from 'node:assert/strict';
import { test } from 'node:test';
import jsQRModule from 'jsqr';
import { PNG } from 'pngjs';
import { qrCodePng } from '../../../src/provider/qr-code.ts';

// The package is CommonJS with a `default` of its own, which Node does not unwrap.
const jsQR = jsQRModule as unknown as typeof jsQRModule.default;

test('the image of a code of any length can be scanned, and is the same every time', () => {
  for (const length of [1, 14, 150, 511, 2_000]) {
    const text = 'Pix 0002'.repeat(250).slice(0, length);
    const image = qrCodePng(text);
    const { width, height, data } = PNG.sync.read(Buffer.from(image, 'base64'));
    assert.equal(jsQR(new Uint8ClampedArray(data), width, height)?.data, text);
    assert.equal(qrCodePng(text), image);
  }
});
