import assert from 'node:assert/strict';
import { test } from 'node:test';
import { preferredLocale } from '../../../src/http/negotiation.ts';
import { call, startWire } from './wire.ts';

const cases: readonly (readonly [string | undefined, 'en' | 'pt'])[] = [
  [undefined, 'en'],
  ['', 'en'],
  ['pt', 'pt'],
  ['pt-BR', 'pt'],
  ['PT-br', 'pt'],
  ['pt_BR', 'pt'],
  ['pt_BR, en_US;q=0.8', 'pt'],
  ['en_US, pt_BR', 'en'],
  ['pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7', 'pt'],
  ['en-US,en;q=0.9,pt;q=0.8', 'en'],
  ['en;q=0.5, pt;q=0.6', 'pt'],
  ['pt;q=0.5, en;q=0.6', 'en'],
  ['pt, en', 'pt'],
  ['en, pt', 'en'],
  ['fr, pt;q=0.3', 'pt'],
  ['fr', 'en'],
  ['*', 'en'],
  ['pt;q=0', 'en'],
  ['pt;q=0.2, *;q=0.5', 'en'],
  ['pt;q=much', 'en'],
  ['ptx', 'en'],
  [';;,,q=,', 'en'],
];

test('Portuguese is spoken to those who prefer it, English to all others', () => {
  for (const [header, locale] of cases) {
    assert.equal(preferredLocale(header), locale, String(header));
  }
});

test('an error is worded in the preferred language and says which it is', async (t) => {
  const wire = await startWire(t);
  const path = '/nothing';
  const portuguese = await call(wire, { path, headers: { 'Accept-Language': 'pt-BR,en;q=0.5' } });
  assert.equal(portuguese.json.message, 'Não encontrado.');
  assert.equal(portuguese.headers['content-language'], 'pt-BR');
  const english = await call(wire, { path });
  assert.equal(english.json.message, 'Not found.');
  assert.equal(english.headers['content-language'], 'en');
  for (const { headers } of [portuguese, english]) assert.equal(headers.vary, 'Accept-Language');
});

test('an operation learns the preferred language', async (t) => {
  const wire = await startWire(t);
  await call(wire, { path: '/api/v1/codes/123', headers: { 'Accept-Language': 'pt' } });
  assert.equal(wire.calls[0]?.request.locale, 'pt');
});
