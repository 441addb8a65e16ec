/** What the console shows of the last request. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { exchangeLines } from '../../../../console/state/exchange.ts';

it('an image in a response is cut, and a text is not', () => {
  const response = { qr_code: 'A'.repeat(2_876), copy_paste: 'B'.repeat(170) };
  const exchange = {
    method: 'GET',
    url: 'http://127.0.0.1:3000/api/v1/pix',
    headers: {},
    body: null,
    status: 200,
    response,
  };
  const text = exchangeLines(exchange, 400)
    .map((line) => line.text)
    .join('\n');
  assert.match(text, /"qr_code": "A{40}… \(2876 characters\)"/);
  assert.match(text, /"copy_paste": "B{170}"/);
});
